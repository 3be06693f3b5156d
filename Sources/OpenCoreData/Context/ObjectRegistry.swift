/// The objects of one context by ID: one instance per ID. Objects with unsaved changes of their own are held; the others live as long as
/// somebody uses them.
struct ObjectRegistry {
    private var held = IDTable<NSManagedObject>()
    private let used = UsedObjects()

    /// All objects are held, changed or not.
    private(set) var retainsAll = false

    /// Holds all objects from now on, or only those with unsaved changes.
    mutating func retainAll(_ retains: Bool) {
        retainsAll = retains
        for object in objects {
            if retains { hold(object) } else if !object.hasChanges { release(object.objectID) }
        }
    }

    subscript(id: NSManagedObjectID) -> NSManagedObject? {
        if let object = held[id] { return object }
        return used[id]
    }

    var isEmpty: Bool { held.isEmpty && used.isEmpty }
    /// How many objects there are at most.
    var capacityInUse: Int { held.count + used.count }
    /// The objects that are held: at least those with unsaved changes of their own. In the order in which they were first held.
    var heldObjects: [NSManagedObject] { held.values }

    var objects: [NSManagedObject] { held.isEmpty ? used.objects : held.values + used.objects }

    /// Which objects incremental stores have been told of.
    var log: RegistrationLog { used.log }

    mutating func add(_ object: NSManagedObject) {
        if retainsAll { held[object.objectID] = object } else { used.add(object) }
        if RegistrationLog.isNeeded { log.register([object.objectID]) }
    }

    /// Makes room for many new objects.
    func reserve(_ count: Int) {
        if !retainsAll { used.reserve(count) }
    }

    /// Adds many new objects. Where one is known already, it takes the other's place in the array.
    mutating func add(_ objects: inout [NSManagedObject]) {
        if retainsAll {
            for (number, object) in objects.enumerated() {
                if let known = self[object.objectID] { objects[number] = known } else { add(object) }
            }
        } else {
            used.add(&objects, unless: held)
            if RegistrationLog.isNeeded { log.register(objects.lazy.map(\.objectID)) }
        }
    }

    /// Keeps a changed object alive.
    mutating func hold(_ object: NSManagedObject) {
        if held.updateValue(object, forKey: object.objectID) == nil { used.remove(object) }
        if RegistrationLog.isNeeded { log.register([object.objectID]) }
    }

    /// Lets go of an object that has nothing unsaved any more. If nobody else uses it, it is gone.
    mutating func release(_ id: NSManagedObjectID) {
        guard !retainsAll, var candidate = held.removeValue(forKey: id) else { return }
        if !isKnownUniquelyReferenced(&candidate) {
            used.add(candidate)
        } else if RegistrationLog.isNeeded {
            log.unregister(id)
        }
    }

    /// Lets go of those of these objects that have nothing unsaved.
    mutating func release(_ ids: [NSManagedObjectID]) {
        for id in ids where held[id]?.state == .clean { release(id) }
    }

    mutating func remove(_ id: NSManagedObjectID) {
        if held.removeValue(forKey: id) == nil { used[id].map(used.remove) }
        if RegistrationLog.isNeeded { log.unregister(id) }
    }

    mutating func removeAll() {
        held = IDTable()
        used.removeAll()
        if RegistrationLog.isNeeded { log.unregisterAll() }
    }
}
