import Foundation

/// One save into several stores: written and checked in all of them before it counts in any.
///
/// Transactions are begun one inside the other, always in the same order, so that two processes that save into the same files can't wait for each
/// other. When all are written, stores that know no transaction write; then the transactions are committed, one right after the other. What can
/// still fail then, a commit or the second of two stores without transactions, leaves a part of the save committed; so does the end of the process
/// between two commits.
final class StoresSave {
    struct Part {
        let store: NSPersistentStore
        var changes: ChangeSet
    }

    private let parts: [Part]
    private var conflicts: [StoreConflict]
    /// What counts, in the order in which it was committed.
    private(set) var committed: [(part: Part, saved: SavedRows)] = []

    /// - Parameters:
    ///   - journaled: which entries of a push journal are settled when the whole save is.
    ///   - conflict: what was found in stores that take no save, and are asked nothing here.
    init(_ parts: [Part], journaled: ClosedRange<UInt64>?, conflict: StoreConflict?) {
        var sorted = parts.sorted { $0.store.placeInTurn < $1.store.placeInTurn }
        // Whoever reads the mark in a store takes all of the save for committed, so it goes with the last that outlives the process.
        func last(_ turn: CommitTurn) -> Int? { sorted.lastIndex { $0.store.commitTurn == turn } }
        if let last = last(.transaction) ?? last(.always) ?? last(.untilRefused) { sorted[last].changes.journaled = journaled }
        self.parts = sorted
        conflicts = conflict.map { [$0] } ?? []
    }

    /// Throws what kept the save, or the rest of it, from being committed: conflicts of all stores at once.
    func run() throws {
        if parts.count == 1 && conflicts.isEmpty {
            committed.append((parts[0], try parts[0].store.save(parts[0].changes)))
            return
        }
        // Of several that may refuse, one that only takes metadata comes first: nothing of an object is written then.
        let refusing = parts.filter { $0.store.commitTurn == .untilRefused }.sorted { $0.changes.isEmpty && !$1.changes.isEmpty }
        try prepare(parts.filter { $0.store.commitTurn != .untilRefused }[...], []) { transactions in
            // These commit in their own turn, which ends before the transactions are committed: those belong to the turn outside of it.
            try self.prepare(refusing[...], []) { writes in
                if let conflict = StoreConflict(joining: self.conflicts) { throw conflict }
                try self.commit(writes)
            }
            try self.commit(transactions)
        }
    }

    /// Prepares part after part, each inside the one before, and then calls `body`.
    private func prepare(
        _ rest: ArraySlice<Part>, _ prepared: [(Part, any PreparedSave)], _ body: ([(Part, any PreparedSave)]) throws -> Void
    ) throws {
        guard let part = rest.first else { return try body(prepared) }
        var isPrepared = false
        do {
            try part.store.prepare(part.changes) { save in
                isPrepared = true
                try prepare(rest.dropFirst(), prepared + [(part, save)], body)
            }
        } catch let conflict as StoreConflict where !isPrepared {
            // The others are asked, too: a merge policy is to see all conflicts together.
            conflicts.append(conflict)
            try prepare(rest.dropFirst(), prepared, body)
        }
    }

    private func commit(_ prepared: [(Part, any PreparedSave)]) throws {
        for (part, save) in prepared { committed.append((part, try save.commit())) }
    }

    /// What `error` means for the save: nothing of it is in a store, or a part is.
    func failure(_ error: any Error) -> any Error {
        var changes = ChangeSet(), computed: [NSManagedObjectID: ComputedRow] = [:]
        for (part, saved) in committed {
            changes.add(part.changes)
            computed.merge(saved.computed) { $1 }
        }
        if changes.isEmpty { return error }
        let written = committed.map(\.part.store)
        let missing = parts.map(\.store).filter { store in !written.contains { $0 === store } }
        return PartlySaved(changes, computed, in: written.map(\.identity), error: .incompleteSave(written, missing: missing, because: error))
    }
}

extension NSPersistentStore {
    /// By what the stores of one save, or of one batch request, are ordered. Two stores of one UUID are copies of one file, in two places.
    var placeInTurn: (Int, String, String) { (commitTurn.rawValue, identifier ?? "", url?.absoluteString ?? "") }
}

/// A part of a save is in its stores, and the rest could not be written. Nobody has to do it again; whoever sends the changes keeps the rest.
package struct PartlySaved: Error {
    /// What is saved, with the versions that it has now.
    package let committed: ChangeSet
    let computed: [NSManagedObjectID: ComputedRow]
    /// 134040, with the reason under `NSUnderlyingErrorKey`.
    package let error: NSError
    /// Of these stores nothing is left to do.
    private let stores: [StoreIdentity]

    fileprivate init(
        _ committed: ChangeSet, _ computed: [NSManagedObjectID: ComputedRow], in stores: [StoreIdentity], error: NSError
    ) {
        self.committed = committed
        self.computed = computed
        self.stores = stores
        self.error = error
    }

    /// Whether the object is of a store that has committed: its change is saved, or a merge policy dropped it for good.
    package func settles(_ id: NSManagedObjectID) -> Bool {
        let identity = id.storeIdentity
        return stores.contains { $0.isSame(as: identity) }
    }
}

extension NSError {
    private static func names(_ stores: [NSPersistentStore]) -> String { stores.map { $0.url?.path ?? $0.identifier ?? "?" }.joined(separator: ", ") }

    /// A batch request is done in some stores, and could not be in others.
    static func incompleteBatch(_ written: [NSPersistentStore], missing: [NSPersistentStore], because error: any Error) -> NSError {
        let cause = error as NSError
        return .coreData(
            .persistentStoreIncompleteSave,
            "The batch request is carried out in \(names(written)) and not in \(names(missing)). Execute it again with those as its affectedStores. "
                + cause.localizedDescription,
            underlying: cause, userInfo: [NSAffectedStoresErrorKey: missing])
    }

    fileprivate static func incompleteSave(_ written: [NSPersistentStore], missing: [NSPersistentStore], because error: any Error) -> NSError {
        let cause = error as NSError
        var info: [String: Any] = [NSAffectedStoresErrorKey: missing]
        info[NSSQLiteErrorDomain] = cause.userInfo[NSSQLiteErrorDomain]
        return .coreData(
            .persistentStoreIncompleteSave,
            "Only part of the save is committed: what belongs to \(names(written)). What belongs to \(names(missing)) is unsaved, and the next save "
                + "writes it. \(cause.localizedDescription)",
            underlying: cause, userInfo: info)
    }
}

extension StoreConflict {
    /// Versions come first: what becomes of the objects decides which keys they claim.
    fileprivate init?(joining found: [StoreConflict]) {
        var versions: [VersionConflict] = [], keys: [KeyConflict] = [], references: [ReferenceConflict] = []
        for conflict in found {
            switch conflict {
            case .versions(let more): versions += more
            case .constraints(let more): keys += more
            case .references(let more): references += more
            }
        }
        if !versions.isEmpty {
            self = .versions(versions)
        } else if !keys.isEmpty {
            self = .constraints(keys)
        } else if !references.isEmpty {
            self = .references(references)
        } else {
            return nil
        }
    }
}

/// Writes down what children push into a context before anybody sees it, so that a push that succeeded survives the process.
package protocol PushRecorder: AnyObject, Sendable {
    /// Runs `body` while no other push is written down: the order of the entries is the order of the pushes.
    func inTurn<T>(_ body: () throws -> T) rethrows -> T
    /// Which of these objects no entry inserts that still counts.
    func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID>
    /// Writes a push, and rows that it leans on and that are not in a store; returns the entry's number, which is higher than those before. Throws
    /// if it can't be written; then there is no entry.
    func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64
    /// These entries (or what they say of certain rows) were thrown away. Returns at once: may be called with locks held.
    func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?)
    /// A save that is about to be written makes others of these objects: what entries that come after it say of them is said of the others, if it is
    /// written. Throws if that can't be written down; then the save must not be made.
    func willCommit(_ turn: PushTurn) throws
    /// What these entries say is in the store, and the store knows it.
    func didCommit(through entry: UInt64)
    /// Objects have turned out to be others. Returns at once: may be called with locks held. It is written down before the next push is.
    func turned(_ turn: PushTurn)
}

/// New objects turned out to be others, which had their unique keys: what entries say of them from then on is said of the others.
package struct PushTurn: Sendable {
    /// The last entry that was part of what was handed on when that was found; nil: whichever is the last.
    package var entry: UInt64?
    package let identities: [NSManagedObjectID: NSManagedObjectID]
    /// What became of the others then: it takes the place of what the entries up to there say of those that are none any more.
    package var changes = ChangeSet()
    /// The others, where they are new and were never pushed.
    package var rows: [NSManagedObjectID: RowSnapshot] = [:]

    package init(_ identities: [NSManagedObjectID: NSManagedObjectID], at entry: UInt64?) {
        self.identities = identities
        self.entry = entry
    }
}

extension Optional<ClosedRange<UInt64>> {
    /// From the first of both to the last of both.
    func joined(_ other: Self) -> Self {
        guard let self else { return other }
        guard let other else { return self }
        return min(self.lowerBound, other.lowerBound)...max(self.upperBound, other.upperBound)
    }
}
