import Foundation

/// Saving: one level toward the store, all or nothing.
extension NSManagedObjectContext {
    /// See `save()`.
    final func saveLevel() throws {
        checkQueue()
        guard try prepareToSave() else { return try saveMetadata() }
        let changes = try Self.beginSaving([self])[0]
        let saved: SaveOutcome
        do {
            saved = try handOver(changes)
        } catch {
            takeBack(changes, after: error)
            letGoOfPushedObjects()
            guard let partly = error as? PartlySaved else { throw error }
            finishPart(partly.outcome(of: changes))
            throw partly.error
        }
        decided = []
        let objects = objectsOfAllChanges
        let spent = chain.withLock {
            defer { if parent == nil { didSave(turning: saved.identities, of: changes) } }
            return level.didSave()
        }
        withExtendedLifetime(spent) {}
        undoRecorder?.didSave()
        finish(saved, objects)
    }

    /// Has changed metadata of the stores written, where this context is the one that writes.
    func saveMetadata() throws {
        if parent == nil { try endOfChain?.saveMetadata() }
    }

    /// Everything before the hand-over. Returns whether there is anything to save.
    func prepareToSave() throws -> Bool {
        readInbox()
        try propagateDeletions()
        try propagateDeletionsAgain()
        guard hasUnsavedChanges else {
            dropDiscarded()
            return false
        }
        try callWillSave()
        tell(.willSave)
        registerEventForUndo()
        tellOfChanges()
        publish()
        try validateUntilStable()
        registerEventForUndo()
        return true
    }

    /// Whether objects that the registry does not retain may have changes: those of rows that children pushed, or that were imported.
    private var mayChangeUnretained: Bool { hasPushedChanges || hasImportedRows }

    /// What was saved, after the merge policy had its say.
    struct SaveOutcome {
        var changes: ChangeSet
        /// Objects whose changes were dropped: they show what the store has.
        var refreshed: [NSManagedObjectID] = []
        /// New objects that turned out to be others, which have their unique keys.
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        /// Objects that got other values than this context saved, or lost their identity to another one.
        var settled: Set<NSManagedObjectID> = []
        /// Rows of other objects, with values that the store computed anew.
        var computed: [NSManagedObjectID: ComputedRow] = [:]
        /// Objects that have other values than this context saved, because the store computed them.
        var recomputed: Set<NSManagedObjectID> = []
        /// Whether the merge policy was asked.
        var isSettled = false
    }

    /// L17: changes made in `willSave()` are saved too, and make another round, until nothing changes any more.
    func callWillSave() throws {
        publish()
        var next =
            objectsOfAllChanges?.all ?? (mayChangeUnretained ? registry.objects : registry.retainedObjects).filter { $0.hasHooks && $0.isUnsaved }
        for _ in 0..<100 {
            for object in next where object.hasHooks { object.willSave() }
            next = unpublished
            if next.isEmpty { return }
            publish()
        }
        throw NSError.coreData(
            .coreData, "willSave() of \(next.first.map { "\($0.objectID)" } ?? "an object") keeps changing objects; stopped after 100 rounds.")
    }

    /// Validation may replace values (L30); what it changed is validated too.
    func validateUntilStable() throws {
        for _ in 0..<100 {
            let before = publicationCount
            try validate()
            // Reading a to-many publishes what was changed before.
            if unpublished.isEmpty && publicationCount == before { return }
            publish()
        }
        throw NSError.coreData(.coreData, "Validation keeps changing objects; stopped after 100 rounds. Nothing was saved.")
    }

    /// Starts saving what is pending in these contexts of one chain, which have been validated. What children pushed meanwhile is validated as
    /// well: it may be what forbids a deletion.
    static func beginSaving(_ contexts: [NSManagedObjectContext]) throws -> [ChangeSet] {
        guard let chain = contexts.first?.chain else { return [] }
        func begin() -> [ChangeSet] { contexts.map { $0.level.beginSaving() } }
        for _ in 0..<20 {
            let begun = chain.withLock { contexts.allSatisfy { !$0.hasUncheckedPushes && $0.level.inbox.isEmpty } ? begin() : nil }
            if let begun { return begun }
            for context in contexts {
                context.readInbox()
                guard context.hasUncheckedPushes else { continue }
                context.tellOfChanges()
                context.publish()
                try context.validateUntilStable()
                context.registerEventForUndo()
            }
        }
        // Children that always push before validation is through must not keep this context from ever saving.
        return chain.withLock(begin)
    }

    private func validate() throws {
        hasUncheckedPushes = false
        let changes = chain.withLock { level.pending }
        var errors: [NSError] = []
        // Rows without an instance that children pushed were checked when they were saved there, and the model's rules about one value hold of it whoever
        // changes the others. What others may have pushed since can break the rest: delete rules, counts of members, and what a class asks of several values
        // together, for which a row becomes an object.
        let pushed = hasPushedChanges && !hasImportedRows ? changes.entities.values.filter { !$0.isEmpty && $0.entity.validatesItself } : []
        let counts = MemberCounts(touchedBy: [changes], includingNewOwners: hasPushedChanges)
        // Nobody has changed anything of what a child pushed.
        let isAsPushed = pushed.isEmpty && objectsOfAllChanges != nil
        if registry.isEmpty && !hasImportedRows && !changes.mayBeDenied && counts.keys.isEmpty && pushed.isEmpty { return }
        func check(_ id: NSManagedObjectID, _ change: PendingRow, _ object: NSManagedObject?) throws {
            do {
                if let object, !object.isFaulted {
                    switch change.kind {
                    case .inserted: try object.validateForInsert()
                    case .updated: try object.validateForUpdate()
                    case .deleted: try object.validateForDelete()
                    }
                } else if change.kind == .deleted {
                    try RowValidation.checkDeletion(of: id, context: self, object: nil)
                } else if let row = change.row {
                    // The members of others are counted below.
                    let countsMembers = change.kind == .inserted && !id.layout.countedToManys.isEmpty
                    try RowValidation.check(row, id: id, object: nil, memberCount: countsMembers ? { try self.loadMembers(id, $0) } : nil)
                }
            } catch {
                try RowValidation.collect(error, into: &errors)
            }
        }
        if hasImportedRows {
            for part in changes.entities.values {
                let validatesItself = part.entity.validatesItself
                // What is in blocks was checked as it was written.
                for (id, change) in part.loose { try check(id, change, try registry[id] ?? (validatesItself ? object(for: id, change) : nil)) }
            }
        } else {
            for object in isAsPushed ? [] : hasPushedChanges ? registry.objects : registry.retainedObjects {
                try changes[object.objectID].map { try check(object.objectID, $0, object) }
            }
            for part in pushed {
                for (id, change) in part.rows where registry[id] == nil { try check(id, change, object(for: id, change)) }
            }
            // A pushed deletion may be one that objects of this level forbid.
            let asked = Set(pushed.map(\.entity.number))
            for (id, change) in changes.deletionsThatMayBeDenied where registry[id] == nil && !asked.contains(id.layout.number) {
                try check(id, change, nil)
            }
        }
        if errors.isEmpty { try counts.check(in: self) }
        try RowValidation.throwAny(errors)
    }

    /// An object of what is pending for a row, for its class to validate; nil where no value of a deleted one is known.
    private func object(for id: NSManagedObjectID, _ change: PendingRow) throws -> NSManagedObject? {
        guard let row = try change.row ?? channel(to: "validate").rows(for: [id])[id] else { return nil }
        return materialise(FetchedRow(id: id, row: row), asFault: true)
    }

    private func loadMembers(_ owner: NSManagedObjectID, _ number: Int) throws -> Int {
        try loadMembers(RelationshipKey(owner: owner, toMany: number)).count
    }

    /// The objects take their new state; hooks and notifications follow.
    ///
    /// - Parameter objectsOfSave: those of everything that was handed on, where they are known.
    func finish(_ outcome: SaveOutcome, _ objectsOfSave: PushedObjects? = nil) {
        // Objects that turned out to be others are those from now on.
        let turned = outcome.identities.keys.compactMap { registry[$0] }
        followReplacements()
        let isCurrent = objectsOfSave === pushedObjects
        propagationStamp = nil
        var inserted: [NSManagedObject] = [], updated: [NSManagedObject] = [], deleted: [NSManagedObject] = [], merged: [NSManagedObject] = []
        updated = turned.filter { $0.context === self }
        func land(_ object: NSManagedObject, _ change: PendingRow) {
            if change.kind == .deleted { return deleted.append(object) }
            if let row = change.row, object.row !== row {
                object.row = row
                object.ownsRow = false
            }
            if outcome.settled.contains(object.objectID) { merged.append(object) }
            if object.state == .inserted { inserted.append(object) } else if object.state == .updated { updated.append(object) }
            object.becomeClean()
        }
        let all = outcome.isSettled || !outcome.recomputed.isEmpty || !isCurrent ? nil : objectsOfSave
        if let all {
            for object in all.all where object.state == .inserted || object.state == .updated {
                if object.state == .inserted { inserted.append(object) } else { updated.append(object) }
                object.becomeClean()
            }
        } else if !mayChangeUnretained && !outcome.isSettled {
            for object in registry.retainedObjects { outcome.changes[object.objectID].map { land(object, $0) } }
        } else if outcome.changes.rowCount < registry.capacityInUse {
            outcome.changes.forEachUnsealed { id, change in registry[id].map { land($0, change) } }
        } else {
            for object in registry.objects { outcome.changes[object.objectID].map { land(object, $0) } }
        }
        hasPushedChanges = false
        hasImportedRows = false
        // Before any code of the program's runs: it may save again.
        show(outcome.computed)
        for object in merged { object.callAwake(.mergePolicy) }
        for id in outcome.refreshed {
            if let object = registry[id] {
                object.becomeClean()
                object.turnIntoFault()
            }
            registry.release(id)
        }
        for object in inserted where object.hasHooks { object.didSave() }
        for object in updated where object.hasHooks { object.didSave() }
        for object in deleted {
            if object.hasHooks { object.didSave() }
            registry.remove(object.objectID)
            object.detach()
        }
        dropDiscarded()
        if RegistrationLog.isNeeded { registry.log.register(inserted.map(\.objectID)) }
        let clean = registry.retainsAny ? (inserted + updated).map(\.objectID) : []
        // Whoever looks for what was inserted finds it in the channel from now on.
        reservedKeys = nil
        let computed = outcome.recomputed.union(outcome.computed.keys), shown = computed.compactMap { registry[$0] }.filter { !$0.isFaulted }
        tell(
            .didSave(
                SavedObjects(
                    outcome, inserted: inserted, updated: updated, deleted: deleted, computed: computed.subtracting(shown.map(\.objectID)),
                    all: all)))
        // Apart from what hooks and observers have changed meanwhile, which is told in its own time.
        var refreshed = ContextEvents()
        for object in shown where registry[object.objectID] === object && object.state == .clean { refreshed.refreshed[object.objectID] = object }
        if !refreshed.isEmpty { tell(.didChange(ObjectChanges(refreshed))) }
        (inserted, updated) = ([], [])
        // Nobody keeps them any more but those who use them.
        registry.release(clean)
        if objectsOfAllChanges == nil { letGoOfPushedObjects() }
    }

    /// Objects that were not saved show what a store computed for them.
    private func show(_ computed: [NSManagedObjectID: ComputedRow]) {
        for (id, computed) in computed {
            guard let object = registry[id], object.state == .clean, let row = object.row else { continue }
            let now = computed.laid(over: row)
            if now === row { continue }
            if object.isFaulted {
                object.row = now
            } else {
                object.becomeClean(on: now)
                object.ownsRow = false
            }
        }
    }

    func dropDiscarded() {
        for object in discarded where object.state == .deleted {
            registry.remove(object.objectID)
            object.detach()
        }
        discarded = []
    }

    // MARK: Permanent IDs

    /// Ends the temporary state of these objects' IDs before they are saved. Costs no transaction: the keys were reserved at insertion. An incremental
    /// store is asked for its references; throws what it throws.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkQueue()
        let temporary = objects.filter { $0.objectID.isTemporaryID }
        for object in temporary {
            if object.objectID.storeIdentity.uuid == nil {
                guard let store = endOfChain?.store(for: object.entity) else {
                    throw NSError.coreData(.persistentStoreSave, "No store that can be written keeps entity \(object.entity.name ?? "?").")
                }
                object.objectID.bind(to: store.identity)
            }
        }
        let named = temporary.filter { $0.objectID.storeIdentity.references != nil }
        // A row that goes to another thread must not change any more.
        if !named.isEmpty { try endOfChain?.obtainReferences(for: named.map { ($0.objectID, $0.row?.copy()) }) }
        for object in temporary { object.objectID.makePermanent() }
    }
}

extension NSManagedObject {
    /// Whether its class may have something to say when it is saved.
    var hasHooks: Bool { Swift.type(of: self) != NSManagedObject.self }

    /// Nothing is unsaved any more.
    func becomeClean() {
        state = .clean
        base = row
        ownsRow = false
        if let extras {
            extras.changed = SlotSet()
            extras.changedToManys = SlotSet()
        }
        isPublished = true
    }
}
