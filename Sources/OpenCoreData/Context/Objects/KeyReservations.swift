import Foundation
import Synchronization

/// Which IDs new objects of a chain are going to have, by unique key. Two contexts that miss the same key at the same time get one ID for it, so
/// that what both of them insert is one object, and not two that have to be made one later.
///
/// A key is reserved before it is looked up and until what was inserted under its ID can be found: whoever looks it up after that finds it, and
/// whoever looked it up before has the same ID. The lock is this table's own: within it nothing but the tables of
/// claims is asked.
final class KeyReservations: Sendable {
    typealias Place = UniquenessConstraint

    private struct Reservation: Sendable {
        var users = 0
        /// Nil until somebody has looked the key up and found nothing.
        var id: NSManagedObjectID?
    }

    /// The reserved keys of one place.
    private struct Table: Sendable {
        var reservations: [UniqueKey: Reservation] = [:]
        /// How many of them have a hash; kept from when an importer has asked for the first time.
        var hashes: [UInt64: Int]?

        mutating func enter(_ key: UniqueKey, _ place: Place) {
            reservations[key, default: Reservation()].users += 1
            guard hashes != nil, reservations[key]?.users == 1, let hash = RowBlockBuilder.hash(of: key, place) else { return }
            hashes?[hash, default: 0] += 1
        }

        mutating func leave(_ key: UniqueKey, _ place: Place) {
            guard let found = reservations.index(forKey: key) else { return }
            if reservations.values[found].users > 1 {
                reservations.values[found].users -= 1
                return
            }
            reservations.remove(at: found)
            guard hashes != nil, let hash = RowBlockBuilder.hash(of: key, place), let count = hashes?[hash] else { return }
            hashes?[hash] = count > 1 ? count - 1 : nil
        }

        /// Whether a key with one of these hashes is reserved.
        mutating func holds(anyOf more: [UInt64], _ place: Place) -> Bool {
            if reservations.isEmpty { return false }
            let known =
                hashes ?? Dictionary(reservations.keys.lazy.compactMap { RowBlockBuilder.hash(of: $0, place).map { ($0, 1) } }, uniquingKeysWith: +)
            hashes = known
            return more.contains { known[$0] != nil }
        }
    }

    private let places = Mutex<[Place: Table]>([:])
    /// The keys of rows that come in blocks.
    private let claims = Mutex<[Place: [KeyClaim]]>([:])

    /// Before keys are looked up. Each call counts.
    func reserve(_ keys: [UniqueKey], at place: Place) {
        // Where the row of a key is, if it came in a block.
        let inBlocks: [(key: UniqueKey, claim: KeyClaim, primaryKey: Int64)] = places.withLock { places in
            let claims = claims.withLock { $0[place] } ?? []
            var inBlocks: [(UniqueKey, KeyClaim, Int64)] = []
            func reserve(in table: inout Table) {
                for key in keys {
                    table.enter(key, place)
                    guard !claims.isEmpty, table.reservations[key]?.id == nil, let hash = RowBlockBuilder.hash(of: key, place) else { continue }
                    for claim in claims {
                        if let primaryKey = claim.keys.ask(for: hash) { inBlocks.append((key, claim, primaryKey)) }
                    }
                }
            }
            reserve(in: &places[place, default: Table()])
            return inBlocks
        }
        if inBlocks.isEmpty { return }
        // Whoever else asks for one of the keys meanwhile is told the same, and the ID is the same for all who open the block.
        let found = inBlocks.compactMap { key, claim, primaryKey in claim.id(primaryKey, of: key, place).map { (key, $0) } }
        places.withLock { places in
            for (key, id) in found where places[place]?.reservations[key]?.id == nil { places[place]?.reservations[key]?.id = id }
        }
    }

    /// Before the keys of rows that may come in a block are looked up.
    ///
    /// - Returns: false if one of them is another's, or may be.
    func announce(_ hashes: [UInt64], by claim: KeyClaim, at place: Place) -> Bool {
        places.withLock { places in
            claims.withLock { claims in
                var others = claims[place] ?? []
                if !others.contains(where: { $0 === claim }) { claims[place, default: []].append(claim) }
                others.removeAll { $0 === claim }
                guard !others.contains(where: { $0.keys.contains(anyOf: hashes) }), places[place]?.holds(anyOf: hashes, place) != true else {
                    return false
                }
                return claim.keys.announce(hashes)
            }
        }
    }

    /// The rows whose keys were announced come in this block.
    ///
    /// - Parameter spill: where what is too much for the memory waits.
    /// - Returns: false if somebody has asked for one of the keys meanwhile, whether or not its row is there still: then the block may not be used.
    func add(_ block: RowBlock, _ hashes: [UInt64], to claim: KeyClaim, in spill: BlockSpill) -> Bool {
        // Before anybody has to wait for it: it may be written to a file.
        let copy = claim.keys.copy(of: hashes, in: spill)
        return places.withLock { _ in
            guard claim.keys.add(hashes, first: block.keys.lowerBound, copy: copy) else { return false }
            claim.add(block)
            return true
        }
    }

    /// What was inserted by this claim can be found by now, or never will be.
    func release(_ claim: KeyClaim, at place: Place) {
        claims.withLock { claims in
            claims[place]?.removeAll { $0 === claim }
            if claims[place]?.isEmpty == true { claims[place] = nil }
        }
    }

    /// The IDs of reserved keys that were not found, in their order: those in `made`, but where somebody was first with another one. What is made in
    /// vain is a gap in the primary keys.
    func ids(for keys: [UniqueKey], at place: Place, made: [NSManagedObjectID]) -> [NSManagedObjectID] {
        func decide(in table: inout Table) -> [NSManagedObjectID] {
            zip(keys, made).map { key, id in
                func decide(_ reservation: inout Reservation) -> NSManagedObjectID {
                    guard let first = reservation.id else {
                        reservation.id = id
                        return id
                    }
                    // An ID says of which entity its object is: objects of two entities with one key of their common ancestor are two.
                    return first.entity === id.entity ? first : id
                }
                return decide(&table.reservations[key, default: Reservation()])
            }
        }
        return places.withLock { decide(in: &$0[place, default: Table()]) }
    }

    /// What was inserted under the IDs of these keys can be found by now, or never will be.
    func release(_ keys: [UniqueKey], at place: Place) {
        places.withLock { places in
            guard let index = places.index(forKey: place) else { return }
            for key in keys { places.values[index].leave(key, place) }
        }
    }

    /// How many keys are reserved.
    var count: Int { places.withLock { $0.values.reduce(0) { $0 + $1.reservations.count } } }
}

/// The unique keys of the rows that one importer makes in blocks, until they can be found: who looks for one of them meanwhile is given the same ID.
final class KeyClaim: Sendable {
    let keys = BlockKeys()
    private let blocks = Mutex<[RowBlock]>([])

    func add(_ block: RowBlock) { blocks.withLock { $0.append(block) } }

    /// The ID of the row with a primary key if it has this unique key, too. The block is opened.
    func id(_ primaryKey: Int64, of key: UniqueKey, _ constraint: UniquenessConstraint) -> NSManagedObjectID? {
        guard let block = blocks.withLock({ $0.first { $0.keys.contains(primaryKey) } }), let found = block.row(withKey: primaryKey) else {
            return nil
        }
        // Two keys may have one hash.
        return found.value.row.flatMap { constraint.key(of: $0) } == key ? found.key : nil
    }
}

/// The keys that one context has reserved. They are released with it.
// Used on the context's queue, and by whoever lets go of the context last.
final class ReservedKeys {
    private let reservations: KeyReservations
    private var keys: [KeyReservations.Place: [UniqueKey]] = [:]

    init(_ reservations: KeyReservations) { self.reservations = reservations }

    private var claims: [(claim: KeyClaim, place: KeyReservations.Place)] = []

    deinit {
        for (place, keys) in keys { reservations.release(keys, at: place) }
        releaseClaims()
    }

    func holds(_ claim: KeyClaim) -> Bool { claims.contains { $0.claim === claim } }

    func add(_ claim: KeyClaim, at place: KeyReservations.Place) { claims.append((claim, place)) }

    /// What was inserted in blocks was thrown away.
    func releaseClaims() {
        for (claim, place) in claims { reservations.release(claim, at: place) }
        claims = []
    }

    func add(_ more: some Sequence<UniqueKey>, at place: KeyReservations.Place) { keys[place, default: []].append(contentsOf: more) }
}

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
    /// A context keeps what it reserved until it has saved, is reset, or is gone. Throws what reading throws; then nothing is reserved.
    package func findOrReserve(_ entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [Located] {
        checkQueue()
        let reservations = root.keyReservations
        let place = entity.layout.constraints[constraint]
        // First reserved, then looked up: what is pushed in between is found, and what is pushed after that has the ID that is reserved.
        reservations.reserve(keys, at: place)
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

    /// What this context has reserved.
    func reserved(in reservations: KeyReservations) -> ReservedKeys {
        let reserved = reservedKeys ?? ReservedKeys(reservations)
        reservedKeys = reserved
        return reserved
    }

    private func reserve(
        _ keys: [UniqueKey], _ entity: NSEntityDescription, at place: KeyReservations.Place, in reservations: KeyReservations
    ) -> [NSManagedObjectID] {
        guard !keys.isEmpty else { return [] }
        reserved(in: reservations).add(keys, at: place)
        // A store may be asked for primary keys, so not within the table's lock.
        return reservations.ids(for: keys, at: place, made: keys.map { _ in makeID(for: entity) })
    }

    /// How many keys are reserved in the chain.
    package var reservedKeyCount: Int { root.keyReservations.count }
}
