import OpenCoreData

/// A class whose name another module of the tests has, too.
final class Twofold: NSManagedObject {}
