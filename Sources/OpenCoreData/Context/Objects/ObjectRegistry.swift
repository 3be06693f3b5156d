import Synchronization

/// The objects of one context by ID: one instance per ID. Objects with unsaved changes of their own are retained; the others live as long as
/// somebody uses them.
struct ObjectRegistry {
    private var retained = IDTable<NSManagedObject>()
    private let used = UsedObjects()

    /// All objects are retained, changed or not.
    private(set) var retainsAll = false

    /// Retains all objects from now on, or only those with unsaved changes.
    mutating func retainAll(_ retains: Bool) {
        retainsAll = retains
        for object in objects {
            if retains { retain(object) } else if !object.isUnsaved { release(object.objectID) }
        }
    }

    subscript(id: NSManagedObjectID) -> NSManagedObject? {
        if let object = retained[id] { return object }
        return used[id]
    }

    var isEmpty: Bool { retained.isEmpty && used.isEmpty }
    var retainsAny: Bool { !retained.isEmpty }
    /// How many objects there are at most.
    var capacityInUse: Int { retained.count + used.count }
    /// The objects that are retained: at least those with unsaved changes of their own. In the order in which that began.
    var retainedObjects: [NSManagedObject] { retained.values }

    var objects: [NSManagedObject] { retained.isEmpty ? used.objects : retained.values + used.objects }

    /// Which objects incremental stores have been told of.
    var log: RegistrationLog { used.log }

    mutating func add(_ object: NSManagedObject) {
        if retainsAll { retained[object.objectID] = object } else { used.add(object) }
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
            used.add(&objects, unless: retained)
            if RegistrationLog.isNeeded { log.register(objects.lazy.map(\.objectID)) }
        }
    }

    /// Keeps a changed object alive.
    mutating func retain(_ object: NSManagedObject) {
        if retained.updateValue(object, forKey: object.objectID) == nil { used.remove(object) }
        if RegistrationLog.isNeeded { log.register([object.objectID]) }
    }

    /// Lets go of an object that has nothing unsaved any more. If nobody else uses it, it is gone.
    mutating func release(_ id: NSManagedObjectID) {
        guard !retainsAll, var candidate = retained.removeValue(forKey: id) else { return }
        if !isKnownUniquelyReferenced(&candidate) {
            used.add(candidate)
        } else if RegistrationLog.isNeeded {
            log.unregister(id)
        }
    }

    /// Lets go of those of these objects that have nothing unsaved.
    mutating func release(_ ids: [NSManagedObjectID]) {
        for id in ids where retained[id]?.state == .clean { release(id) }
    }

    mutating func remove(_ id: NSManagedObjectID) {
        if retained.removeValue(forKey: id) == nil { used[id].map(used.remove) }
        if RegistrationLog.isNeeded { log.unregister(id) }
    }

    mutating func removeAll() {
        retained = IDTable()
        used.removeAll()
        if RegistrationLog.isNeeded { log.unregisterAll() }
    }
}

/// The objects of one context that nobody but its users keeps alive, by ID.
///
/// An object takes itself out in its `deinit`, on whatever thread that runs. What stands in the table has therefore not been freed, and can't be
/// while the lock is held; whether its end has begun is what `strongReference` tells. Nothing that could be the last to let go of an
/// object happens within the lock, since that object's `deinit` would wait for it.
///
/// An object that stands in a table has it as its `home`, and leaves it before it gets another.
final class UsedObjects: Sendable {
    // An address of an object; used under the lock only.
    private struct Place: @unchecked Sendable {
        let address: UnsafeRawPointer

        init(_ object: NSManagedObject) { address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) }

        var object: NSManagedObject? { strongReference(at: address, as: NSManagedObject.self) }
    }

    private let table = Mutex(IDTable<Place>())
    /// Which objects incremental stores have been told of.
    let log = RegistrationLog()

    subscript(id: NSManagedObjectID) -> NSManagedObject? {
        table.withLock { Unchecked(value: $0[id]?.object) }.value
    }

    var isEmpty: Bool { table.withLock { $0.isEmpty } }
    var count: Int { table.withLock { $0.count } }

    /// All that live.
    var objects: [NSManagedObject] {
        table.withLock { table in
            var result: [NSManagedObject] = []
            result.reserveCapacity(table.count)
            for (_, place) in table {
                if let object = place.object { result.append(object) }
            }
            return Unchecked(value: result)
        }.value
    }

    func add(_ object: NSManagedObject) {
        if let other = object.home, other !== self { other.forget(object) }
        object.home = self
        let place = Place(object), id = object.objectID
        table.withLock { table in _ = table.updateValue(place, forKey: id) }
    }

    /// Makes room for many more.
    func reserve(_ count: Int) { table.withLock { $0.reserveCapacity($0.count + count) } }

    /// Adds many. Where an ID has a living object already, here or among those retained elsewhere, that one stays and takes the other's place in the
    /// array.
    func add(_ objects: inout [NSManagedObject], unless retained: IDTable<NSManagedObject>) {
        let added = Unchecked(value: (objects, retained))
        let known = table.withLock { table in
            var known: [(Int, NSManagedObject)] = []
            let (objects, retained) = added.value
            for (number, object) in objects.enumerated() {
                let id = object.objectID
                if !retained.isEmpty, let other = retained[id] {
                    known.append((number, other))
                } else if table.appendAscending(Place(object), forKey: id) {
                    object.home = self
                } else if let other = table[id]?.object {
                    known.append((number, other))
                } else {
                    object.home = self
                    table[id] = Place(object)
                }
            }
            return Unchecked(value: known)
        }
        for (number, object) in known.value { objects[number] = object }
    }

    /// Takes an object out that lives.
    func remove(_ object: NSManagedObject) {
        guard object.home === self else { return }
        leave(object)
        object.home = nil
    }

    private func leave(_ object: NSManagedObject) {
        let address = Place(object).address, id = object.objectID
        table.withLock { table in _ = table.removeValue(forKey: id) { $0.address == address } }
    }

    /// Called by an object in its `deinit`. A new object may stand under its ID by now.
    func forget(_ object: NSManagedObject) {
        let address = Place(object).address, id = object.objectID
        table.withLock { table in
            let removed = table.removeValue(forKey: id) { $0.address == address }
            if removed != nil, RegistrationLog.isNeeded { log.unregister(id) }
        }
    }

    func removeAll() { table.withLock { $0 = IDTable() } }
}

/// Which objects one context has of stores that are told, and has told them of. As long as the process has no such store, all of this is one
/// look at a flag.
final class RegistrationLog: Sendable {
    private let told = Mutex<Set<NSManagedObjectID>>([])
    /// Of a context that nobody is told about: one that a store is handed itself.
    private let isSilent = Atomic(false)

    @inline(__always)
    static var isNeeded: Bool { hasBegun.load(ordering: .relaxed) }
    private static let hasBegun = Atomic(false)

    /// Called when this process gets the first store that is told.
    static func begin() { hasBegun.store(true, ordering: .relaxed) }

    func silence() { isSilent.store(true, ordering: .relaxed) }

    /// The context has objects with these IDs. New ones that no store knows yet don't count.
    func register(_ ids: some Sequence<NSManagedObjectID>) {
        if isSilent.load(ordering: .relaxed) { return }
        for id in ids {
            let identity = id.storeIdentity
            guard identity.references?.state(of: id.key) != nil, told.withLock({ $0.insert(id).inserted }) else { continue }
            (identity.store as? any RegistrationKeeping)?.note(.registered(id))
        }
    }

    func unregister(_ id: NSManagedObjectID) {
        guard let known = told.withLock({ $0.remove(id) }) else { return }
        (known.storeIdentity.store as? any RegistrationKeeping)?.note(.unregistered(known))
    }

    func unregisterAll() {
        let ids = told.withLock { told in
            defer { told = [] }
            return told
        }
        for id in ids { (id.storeIdentity.store as? any RegistrationKeeping)?.note(.unregistered(id)) }
    }
}

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
        if let known, known.entity === id.entity { return known.type.make(existing: id, in: context) }
        let type = id.entity.objectClass
        known = (id.entity, type)
        return type.make(existing: id, in: context)
    }
}
