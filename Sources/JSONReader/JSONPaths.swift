// Who reads JSON says by a path what to read: its names are a part of this interface.
@_exported import JSONPaths
