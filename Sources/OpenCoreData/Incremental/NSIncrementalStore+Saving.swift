import Foundation
import Synchronization

/// A change set as a save request.
extension NSIncrementalStore {
    /// Checks the changes and gets the references of new objects. When the save is committed, the store is asked to write them.
    func write(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws {
        guard !isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "The store \(identifier ?? "?") was opened read-only; nothing can be saved to it.")
        }
        guard changes.journaled == nil else {
            throw NSError.coreData(
                .persistentStoreSave, "The store \(identifier ?? "?") can't note what it has of a push journal. Turn pushJournaling off.")
        }
        try order.sync { () throws in
            try withContext { context in
                try checkVersions(changes, context)
                try checkConstraints(changes)
                context.chain.withLock { context.level.pending = changes }
                let inserted = changes.ids(.inserted).sorted { $0.key < $1.key }
                try obtainReferences(for: inserted, context)
                try body(UnwrittenSave { [self] in try execute(changes, inserted: inserted, context) })
            }
        }
    }

    private func execute(_ changes: ChangeSet, inserted: [NSManagedObjectID], _ context: NSManagedObjectContext) throws -> SavedRows {
        // Before the objects: metadata that fails fails the save before any object is written.
        if hasUnsavedMetadata {
            let generation = metadataGeneration
            _ = try execute(NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), with: context)
            didSaveMetadata(generation)
        }
        if changes.isEmpty { return SavedRows() }
        let temporary = inserted.filter(\.isTemporaryID)
        // To the store they are permanent, as their references are.
        for id in temporary { id.makePermanent() }
        do {
            let request = try request(changes, inserted: inserted, context)
            _ = try withExtendedLifetime(request) { try execute(request, with: context) }
        } catch {
            for id in temporary { id.makeTemporary() }
            throw error
        }
        references.noteStored(inserted.lazy.map(\.key))
        references.noteDeleted(changes.ids(.deleted).lazy.map(\.key))
        return savedRows(changes, context)
    }

    private func request(_ changes: ChangeSet, inserted: [NSManagedObjectID], _ context: NSManagedObjectContext) throws -> NSSaveChangesRequest {
        var updated = Set(changes.ids(.updated).map { context.object(with: $0) })
        let deleted = Set(changes.ids(.deleted).map { context.object(with: $0) }), new = Set(inserted.map { context.object(with: $0) })
        for object in deleted where object.row == nil { object.isFaulted = true }
        for key in changes.changedToManys {
            guard changes[key.owner]?.kind != .deleted else { continue }
            let object = context.object(with: key.owner)
            if object.state == .clean {
                try object.realise()
                guard object.state == .clean else { continue }
                object.state = .updated
                updated.insert(object)
            }
            object.changedToManys.insert(key.toMany)
        }
        return NSSaveChangesRequest(
            inserted: new, updated: updated, deleted: deleted, locked: Set(changes.watched.keys.map { context.object(with: $0) }))
    }

    /// The versions that the saved objects have now.
    private func savedRows(_ changes: ChangeSet, _ context: NSManagedObjectContext) -> SavedRows {
        var saved = SavedRows()
        changes.forEach { id, change in
            if change.kind == .deleted { return }
            // The save is done and can't fail any more: where the store does not tell, the version is counted up.
            let told = try? node(of: id, context)?.version
            saved.versions[id] = told.map { Int64(bitPattern: $0) } ?? RowSnapshot.version(after: change.base?.version ?? 0)
        }
        return saved
    }

    // MARK: Conflicts

    private func checkVersions(_ changes: ChangeSet, _ context: NSManagedObjectContext) throws {
        var conflicts: [StoreConflict.VersionConflict] = []
        func check(_ id: NSManagedObjectID, _ base: RowSnapshot) throws {
            let node = try node(of: id, context)
            if let node, Int64(bitPattern: node.version) == base.version { return }
            conflicts.append(StoreConflict.VersionConflict(id: id, stored: try node.map { try row(of: id, $0, context) }))
        }
        try changes.forEach { id, change in
            if change.kind != .inserted, let base = change.base { try check(id, base) }
        }
        for (id, base) in changes.watched { try check(id, base) }
        if !conflicts.isEmpty { throw StoreConflict.versions(conflicts) }
    }

    private func checkConstraints(_ changes: ChangeSet) throws {
        let conflicts = try KeyClaims(changes).conflicts { try owners(of: $1, $0.declarer, constraint: $0.number) }
        if !conflicts.isEmpty { throw StoreConflict.constraints(conflicts) }
    }

    // MARK: References

    /// For objects that get permanent IDs before they are saved.
    func obtainedReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {
        try order.sync { () throws in
            try withContext { context in
                var changes = ChangeSet()
                for (id, row) in rows { changes.set(id, PendingRow(kind: .inserted, row: row)) }
                let pending = changes
                context.chain.withLock { context.level.pending = pending }
                try obtainReferences(for: rows.map(\.id).sorted { $0.key < $1.key }, context)
            }
        }
    }

    /// Asks what the store calls these new objects, which are inserted in the context. Those that it was asked about before keep what they have.
    private func obtainReferences(for ids: [NSManagedObjectID], _ context: NSManagedObjectContext) throws {
        let asked = try ids.filter { id in
            switch references.state(of: id.key) {
            case .stored?, .missing?, .reserved?: return false
            case .deleted?:
                guard references.rebind(id.key) else {
                    throw refused("\(id) can't be written again: the store has given its reference to another object.")
                }
                return false
            case nil: return true
            }
        }
        if asked.isEmpty { return }
        let objects = asked.map { context.object(with: $0) }
        obtaining = ObtainedReferences(asked, among: ids)
        var isObtained = false
        defer {
            if !isObtained { references.release(obtaining?.given ?? []) }
            obtaining = nil
        }
        let told = try obtainPermanentIDs(for: objects)
        guard told.count == asked.count else { throw refused("It returned \(told.count) IDs for \(asked.count) objects.") }
        let given = Set(obtaining?.given ?? [])
        for (id, new) in zip(asked, told) {
            guard new.storeIdentity === identity else { throw refused("It returned \(new), which is an ID of another store.") }
            guard new.entity === id.entity else { throw refused("It returned \(new) for an object of the entity \(id.entity.name ?? "?").") }
            if new.key == id.key { continue }
            throw refused(
                given.contains(new.key)
                    ? "Its IDs are not in the order of the objects. Make one for each object with newObjectID(for:referenceObject:), in their order."
                    : "The reference of \(new) already stands for another object; a new object needs one of its own.")
        }
        isObtained = true
    }

    private func refused(_ why: String) -> NSError {
        .coreData(.persistentStoreOperation, "obtainPermanentIDs(for:) of the store \(Swift.type(of: self)) gave no usable IDs. \(why)")
    }
}

extension ChangeSet {
    /// The to-manys that these changes change: those that are kept apart, and those of changed objects whose members name them by a foreign key.
    var changedToManys: Set<RelationshipKey> {
        var result = Set(pairs.all.keys).union(orders.keys)
        forEach { _, change in
            guard let row = change.row ?? change.base else { return }
            for slot in row.layout.toOneSlots {
                let before = change.kind == .inserted ? nil : change.base?[slot].objectID
                let after = change.kind == .deleted ? nil : change.row?[slot].objectID
                guard before != after, let inverse = row.layout.relationship(atSlot: slot)?.inverseRelationship, inverse.isToMany else { continue }
                for owner in [before, after].compactMap({ $0 }) where self[owner] != nil {
                    if let number = owner.layout.toManyNumber(inverse) { result.insert(RelationshipKey(owner: owner, toMany: number)) }
                }
            }
        }
        return result
    }
}

/// The keys that new objects have already, while a store is asked what it calls them: the IDs that it makes meanwhile get them, by entity, in the
/// order of the objects.
struct ObtainedReferences {
    private var waiting: [Int: ArraySlice<Int64>]
    private let all: Set<Int64>
    /// The keys that have been given out.
    private(set) var given: [Int64] = []

    /// - Parameter all: with those that were asked about before.
    init(_ ids: [NSManagedObjectID], among all: [NSManagedObjectID]) {
        self.all = Set(all.lazy.map(\.key))
        waiting = Dictionary(grouping: ids) { $0.entity.number }.mapValues { $0.map(\.key)[...] }
    }

    /// Whether the key is that of one of the new objects.
    func isAsked(_ key: Int64) -> Bool { all.contains(key) }

    mutating func next(for entity: NSEntityDescription) -> Int64? {
        guard let key = waiting[entity.number]?.popFirst() else { return nil }
        given.append(key)
        return key
    }
}

/// Telling a store which of its objects contexts have.
extension NSIncrementalStore {
    /// Notes that a context has or lost an object; may be called from anywhere, also while an object is being freed. The store is told in its turn,
    /// before it is asked anything that is asked later.
    package func note(_ registration: Registration) {
        let isFirst = registrations.withLock { noted in
            noted.append(registration)
            return noted.count == 1
        }
        guard isFirst else { return }
        order.async { [weak self] in self?.tellRegistrations() }
    }

    /// In `order`.
    private func tellRegistrations() {
        let noted = registrations.withLock { noted in
            defer { noted = [] }
            return noted
        }
        // One call for as many as come after each other.
        var registered: [NSManagedObjectID] = [], unregistered: [NSManagedObjectID] = []
        func tell() {
            if !registered.isEmpty { managedObjectContextDidRegisterObjects(with: registered) }
            if !unregistered.isEmpty { managedObjectContextDidUnregisterObjects(with: unregistered) }
            registered = []
            unregistered = []
        }
        for registration in noted {
            switch registration {
            case .registered(let id):
                if !unregistered.isEmpty { tell() }
                registered.append(id)
            case .unregistered(let id):
                if !registered.isEmpty { tell() }
                unregistered.append(id)
            }
        }
        tell()
    }
}
