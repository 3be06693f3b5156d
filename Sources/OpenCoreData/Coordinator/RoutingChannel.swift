/// A channel that takes requests apart by stores and keeps the rows that came by.
package protocol RoutingChannel: StoresChannel {
    var persistentStores: [NSPersistentStore] { get }
    /// The store that an ID belongs to; nil for an ID of another stack.
    func ownStore(of id: NSManagedObjectID) -> NSPersistentStore?
    /// What answers for a store; nil: the store is not asked.
    func reader(of store: NSPersistentStore) -> (any StoreReading)?
    var rowCache: RowCache { get }
    /// Runs what asks the stores; more than once where they change meanwhile.
    func asking<T>(_ body: () throws -> T) throws -> T
}
