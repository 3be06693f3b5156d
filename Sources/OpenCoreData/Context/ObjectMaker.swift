/// Makes objects for IDs, many at a time: objects of one entity mostly come after each other, and finding an entity's class is dearer than
/// making an object of it.
struct ObjectMaker {
    private let context: NSManagedObjectContext
    private var count = 0
    private var known: (entity: NSEntityDescription, type: NSManagedObject.Type)?

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// A fault for an object that is not registered.
    mutating func make(_ id: NSManagedObjectID) -> NSManagedObject {
        // An object takes 80 or 96 bytes, or more with properties of its class's own.
        if count & 511 == 511 { HeapRoom.make(48 << 10) }
        count += 1
        if let known, known.entity === id.entity { return known.type.init(existing: id, in: context) }
        let type = id.entity.objectClass
        known = (id.entity, type)
        return type.init(existing: id, in: context)
    }
}
