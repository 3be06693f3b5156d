// Who is told of runs knows what they are told in: its names are a part of this interface.
@_exported import SyncReports
