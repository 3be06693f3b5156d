import Synchronization

/// Which IDs new objects of a chain are going to have, by unique key. Two contexts that miss the same key at the same time get one ID for it, so
/// that what both of them insert is one object, and not two that have to be made one later.
///
/// A key is held before it is looked up and until what was inserted under its ID can be found: whoever looks it up after that finds it, and
/// whoever looked it up before holds the same ID. The lock is this table's own, and nothing is called within it.
final class KeyReservations: Sendable {
    /// The constraint that a key belongs to.
    struct Place: Hashable, Sendable {
        /// The entity that declares it.
        let entity: ObjectIdentifier
        let constraint: Int

        init(_ entity: NSEntityDescription, constraint: Int) {
            self.entity = ObjectIdentifier(entity.declaring(constraint))
            self.constraint = constraint
        }
    }

    private struct Reservation: Sendable {
        var holders = 0
        /// Nil until somebody has looked the key up and found nothing.
        var id: NSManagedObjectID?
    }

    private let places = Mutex<[Place: [UniqueKey: Reservation]]>([:])

    /// Before keys are looked up. Each call counts.
    func hold(_ keys: [UniqueKey], at place: Place) {
        places.withLock { places in
            func hold(in table: inout [UniqueKey: Reservation]) {
                for key in keys { table[key, default: Reservation()].holders += 1 }
            }
            hold(in: &places[place, default: [:]])
        }
    }

    /// The IDs of held keys that were not found, in their order: those in `made`, but where somebody was first with another one. What is made in
    /// vain is a gap in the primary keys.
    func ids(for keys: [UniqueKey], at place: Place, made: [NSManagedObjectID]) -> [NSManagedObjectID] {
        func decide(in table: inout [UniqueKey: Reservation]) -> [NSManagedObjectID] {
            zip(keys, made).map { key, id in
                func decide(_ reservation: inout Reservation) -> NSManagedObjectID {
                    guard let first = reservation.id else {
                        reservation.id = id
                        return id
                    }
                    // An ID says of which entity its object is: objects of two entities with one key of their common ancestor are two.
                    return first.entity === id.entity ? first : id
                }
                return decide(&table[key, default: Reservation()])
            }
        }
        return places.withLock { decide(in: &$0[place, default: [:]]) }
    }

    /// What was inserted under the IDs of these keys can be found by now, or never will be.
    func release(_ keys: [UniqueKey], at place: Place) {
        places.withLock { places in
            guard let index = places.index(forKey: place) else { return }
            for key in keys {
                guard let found = places.values[index].index(forKey: key) else { continue }
                if places.values[index].values[found].holders > 1 {
                    places.values[index].values[found].holders -= 1
                } else {
                    places.values[index].remove(at: found)
                }
            }
        }
    }

    /// How many keys are held.
    var count: Int { places.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}

/// The keys that one context holds. They are released with it.
// Used on the context's queue, and by whoever lets go of the context last.
final class HeldKeys {
    private let reservations: KeyReservations
    private var keys: [KeyReservations.Place: [UniqueKey]] = [:]

    init(_ reservations: KeyReservations) { self.reservations = reservations }

    deinit {
        for (place, keys) in keys { reservations.release(keys, at: place) }
    }

    func add(_ more: some Sequence<UniqueKey>, at place: KeyReservations.Place) { keys[place, default: []].append(contentsOf: more) }
}
