import Synchronization

extension NSManagedObjectModel {
    private static let named = Mutex<[String: NSManagedObjectModel]>([:])

    /// Makes a model known as the one of that name, for `NSPersistentContainer(name:)`: what a compiled model in the program's bundle is on Apple's
    /// platforms. Another that was known by the name before is forgotten; containers that were made with it keep it.
    public static func register(_ model: NSManagedObjectModel, named name: String) { named.withLock { $0[name] = model } }

    /// The model that was registered under a name.
    static func registered(_ name: String) -> NSManagedObjectModel? { named.withLock { $0[name] } }
}
