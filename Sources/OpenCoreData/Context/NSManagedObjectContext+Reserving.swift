import Foundation

/// Looking objects up by key before making them, so that contexts of one chain that do so at the same time make one object for a key. On the
/// context's queue.
extension NSManagedObjectContext {
    /// Where the object of a key is, or will be.
    package struct Located {
        package let id: NSManagedObjectID
        /// Its current row, unsaved or stored. Nil: there is none, and a new one is to be inserted under `id` with `insertRow(_:_:set:)`. Another
        /// context may insert under it, too: `set` says what this one means to say about the object, and nothing else is changed then.
        package let row: RowSnapshot?
    }

    /// Finds the objects with these keys, for the constraint of that number, and reserves IDs for those that there are none of. In the order of
    /// the keys.
    ///
    /// Every context of the chain that misses a key gets the same ID for it, the same instance, until what was inserted under it can be found.
    /// A context holds what it reserved until it has saved, is reset, or is gone. Throws what reading throws; then nothing is reserved.
    package func findOrReserve(_ entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [Located] {
        checkQueue()
        let reservations = root.keyReservations
        let place = KeyReservations.Place(entity, constraint: constraint)
        // First held, then looked up: what is pushed in between is found, and what is pushed after that has the ID that is held.
        reservations.hold(keys, at: place)
        let matches: [UniqueKey: FetchedRow], rows: [NSManagedObjectID: RowSnapshot]
        do {
            matches = try find(entity, constraint: constraint, keys: keys)
            let unread = matches.values.filter { $0.row == nil }.map(\.id)
            rows = unread.isEmpty ? [:] : try currentRows(unread)
        } catch {
            reservations.release(keys, at: place)
            throw error
        }
        if matches.isEmpty { return reserve(keys, entity, at: place, in: reservations).map { Located(id: $0, row: nil) } }
        var found: [UniqueKey] = [], missing: [UniqueKey] = []
        let there = keys.map { key in
            if let match = matches[key], let row = match.row ?? rows[match.id] {
                found.append(key)
                return Optional(Located(id: match.id, row: row))
            }
            missing.append(key)
            return nil
        }
        reservations.release(found, at: place)
        var reserved = reserve(missing, entity, at: place, in: reservations).makeIterator()
        return there.map { $0 ?? Located(id: reserved.next() ?? makeID(for: entity), row: nil) }
    }

    private func reserve(
        _ keys: [UniqueKey], _ entity: NSEntityDescription, at place: KeyReservations.Place, in reservations: KeyReservations
    ) -> [NSManagedObjectID] {
        guard !keys.isEmpty else { return [] }
        let held = heldKeys ?? HeldKeys(reservations)
        held.add(keys, at: place)
        heldKeys = held
        // A store may be asked for primary keys, so not within the table's lock.
        return reservations.ids(for: keys, at: place, made: keys.map { _ in makeID(for: entity) })
    }

    /// How many keys are reserved in the chain.
    package var reservedKeyCount: Int { root.keyReservations.count }
}
