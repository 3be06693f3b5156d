import Synchronization

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

    /// Adds many. Where an ID has a living object already, here or among those held elsewhere, that one stays and takes the other's place in the
    /// array.
    func add(_ objects: inout [NSManagedObject], unless held: IDTable<NSManagedObject>) {
        let added = Unchecked(value: (objects, held))
        let known = table.withLock { table in
            var known: [(Int, NSManagedObject)] = []
            let (objects, held) = added.value
            for (number, object) in objects.enumerated() {
                let id = object.objectID
                if !held.isEmpty, let other = held[id] {
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
