import Foundation

/// Stores of one's own.
extension NSPersistentStoreCoordinator {
    /// Makes a subclass of `NSIncrementalStore` or `NSAtomicStore` the class of stores of a type, in the whole process; nil takes it back. Traps for another class, and
    /// for the types that the library itself knows.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        StoreTypes.checkIsFree(storeType)
        guard let storeClass else { return StoreTypes.register(nil, for: storeType) }
        switch storeClass {
        case let type as NSIncrementalStore.Type: StoreTypes.register(type.registration, for: storeType)
        case let type as NSAtomicStore.Type: StoreTypes.register(type.registration, for: storeType)
        default:
            Violation.misuse(
                "\(storeClass) can't be the class of the store type \(storeType): it is not a subclass of NSIncrementalStore or NSAtomicStore")
        }
    }

    /// As above, with the Swift spelling of store types.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }

    /// The store types that can be added, the library's own and the registered ones; each value holds the class, as a pointer.
    public class var registeredStoreTypes: [String: NSValue] {
        StoreTypes.all.mapValues { storeClass in
            var pointer = unsafeBitCast(storeClass.type, to: UnsafeRawPointer.self)
            return NSValue(bytes: &pointer, objCType: "#")
        }
    }
}
