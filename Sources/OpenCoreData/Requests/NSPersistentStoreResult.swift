import Foundation

/// What executing a request yields.
open class NSPersistentStoreResult: NSObject {}
