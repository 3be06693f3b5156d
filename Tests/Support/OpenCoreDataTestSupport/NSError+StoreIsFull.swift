import Foundation
import OpenCoreData

extension NSError {
    /// The disk is full, as a store says that SQLite said so.
    public static var storeIsFull: NSError {
        NSError(domain: NSCocoaErrorDomain, code: 134030, userInfo: [NSUnderlyingErrorKey: NSError(domain: NSSQLiteErrorDomain, code: 13)])
    }
}
