// Paths stand in the configuration as they are evaluated: their names are a part of this interface.
@_exported import JSONPaths
