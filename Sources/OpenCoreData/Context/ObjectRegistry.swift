/// The objects of one context by ID: one instance per ID. Objects with unsaved changes of their own are held; the others live as long as
/// somebody uses them.
struct ObjectRegistry {
    /// A class, so that a table of them can grow and be read without copying weak references, which costs more than an allocation.
    private final class WeakObject {
        weak var object: NSManagedObject?

        init(_ object: NSManagedObject) { self.object = object }
    }

    private var held: [NSManagedObjectID: NSManagedObject] = [:]
    private var used: [NSManagedObjectID: WeakObject] = [:]
    private var sweepAt = 1024

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
        if !held.isEmpty, let object = held[id] { return object }
        return used.isEmpty ? nil : used[id]?.object
    }

    var isEmpty: Bool { held.isEmpty && used.isEmpty }
    /// How many objects there are at most.
    var capacityInUse: Int { held.count + used.count }
    /// The objects that are held: at least those with unsaved changes of their own.
    var heldObjects: Dictionary<NSManagedObjectID, NSManagedObject>.Values { held.values }

    var objects: [NSManagedObject] {
        var result = Array(held.values)
        for reference in used.values { reference.object.map { result.append($0) } }
        return result
    }

    mutating func add(_ object: NSManagedObject) {
        if retainsAll {
            held[object.objectID] = object
        } else {
            used[object.objectID] = WeakObject(object)
            if used.count > sweepAt { sweep() }
        }
    }

    /// Keeps a changed object alive.
    mutating func hold(_ object: NSManagedObject) {
        guard held.updateValue(object, forKey: object.objectID) == nil, !used.isEmpty else { return }
        used[object.objectID] = nil
    }

    /// Lets go of an object that has nothing unsaved any more. If nobody else uses it, it is gone.
    mutating func release(_ id: NSManagedObjectID) {
        guard !retainsAll, var candidate = held.removeValue(forKey: id) else { return }
        if !isKnownUniquelyReferenced(&candidate) { used[id] = WeakObject(candidate) }
        if used.count > sweepAt { sweep() }
    }

    /// Lets go of those of these objects that have nothing unsaved.
    mutating func release(_ ids: [NSManagedObjectID]) {
        for id in ids where held[id]?.state == .clean { release(id) }
    }

    mutating func remove(_ id: NSManagedObjectID) {
        if held.removeValue(forKey: id) == nil { used[id] = nil }
    }

    mutating func removeAll() {
        held = [:]
        used = [:]
    }

    /// Makes room for objects that are about to come.
    mutating func reserve(_ count: Int) {
        guard count > 256 else { return }
        if used.count + count > sweepAt { sweep() }
        used.reserveCapacity(used.count + count)
        sweepAt = max(sweepAt, used.count + count)
    }

    /// Forgets which objects have gone.
    private mutating func sweep() {
        used = used.filter { $0.value.object != nil }
        sweepAt = max(1024, used.count * 2)
    }
}
