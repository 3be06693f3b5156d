/// The objects of one context by ID: one instance per ID. Objects with unsaved changes are held; the others live as long as somebody uses them.
struct ObjectRegistry {
    private enum Entry {
        case held(NSManagedObject)
        case weak(WeakObject)
    }

    private struct WeakObject {
        weak var object: NSManagedObject?
    }

    private var entries: [NSManagedObjectID: Entry] = [:]
    private var sweepAt = 1024

    /// All objects are held, changed or not.
    private(set) var retainsAll = false

    /// Holds all objects from now on, or only those with unsaved changes.
    mutating func retainAll(_ retains: Bool) {
        retainsAll = retains
        for object in objects {
            if retains { hold(object) } else if !object.hasChanges { entries[object.objectID] = .weak(WeakObject(object: object)) }
        }
    }

    subscript(id: NSManagedObjectID) -> NSManagedObject? {
        switch entries[id] {
        case .held(let object)?: object
        case .weak(let reference)?: reference.object
        case nil: nil
        }
    }

    var isEmpty: Bool { entries.isEmpty }
    var capacityInUse: Int { entries.count }

    var objects: [NSManagedObject] {
        entries.values.compactMap { entry in
            switch entry {
            case .held(let object): object
            case .weak(let reference): reference.object
            }
        }
    }

    mutating func add(_ object: NSManagedObject, held: Bool) {
        entries[object.objectID] = held || retainsAll ? .held(object) : .weak(WeakObject(object: object))
        if entries.count > sweepAt { sweep() }
    }

    /// Keeps a changed object alive.
    mutating func hold(_ object: NSManagedObject) { entries[object.objectID] = .held(object) }

    /// Lets go of an object that has nothing unsaved any more. If nobody else uses it, it is gone.
    mutating func release(_ id: NSManagedObjectID) {
        guard !retainsAll, case .held(let object)? = entries.removeValue(forKey: id) else { return }
        var candidate: NSManagedObject? = object
        _ = consume object
        if !isKnownUniquelyReferenced(&candidate) {
            entries[id] = .weak(WeakObject(object: candidate))
        }
    }

    mutating func remove(_ id: NSManagedObjectID) { entries[id] = nil }
    mutating func removeAll() { entries = [:] }

    private mutating func sweep() {
        entries = entries.filter { _, entry in
            if case .weak(let reference) = entry { return reference.object != nil }
            return true
        }
        sweepAt = max(1024, entries.count * 2)
    }
}
