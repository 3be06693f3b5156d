// So that `import CoreData` compiles on Linux and means the same names.
@_exported import OpenCoreData
