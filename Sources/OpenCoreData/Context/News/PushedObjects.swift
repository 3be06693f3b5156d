/// The objects of what children pushed, made before the context tells of it: a few at a time, so that a large push does not hold the main queue.
///
/// They are kept until the context saves, where nothing but this push is unsaved: the notification of the save is about the same objects.
// Used on the context's queue only.
final class PushedObjects {
    /// How many of the pushes of which the context has not told these are, from the first one on.
    let pushCount: Int
    /// The level's count of changes when it had these alone, as one child pushed them; nil if there were others.
    private let stamp: UInt64?
    /// Whether the context has told of them.
    var areTold = false
    private(set) var inserted: Set<NSManagedObject> = []
    private(set) var updated: Set<NSManagedObject> = []
    private(set) var insertedIDs: Set<NSManagedObjectID> = []
    private(set) var updatedIDs: Set<NSManagedObjectID> = []
    /// All of them, in the order in which they were made, which is that of memory.
    private(set) var all: [NSManagedObject] = []
    private var portions: ArraySlice<Portion>

    /// Rows of one entity, from a place on.
    private struct Portion {
        let rows: () -> IDTable<PendingRow>
        var place = 0
    }

    /// - Parameter stamp: nil where the changes are not all that is unsaved.
    init(of pushes: [ChangeSet], stamp: UInt64?) {
        pushCount = pushes.count
        self.stamp = stamp
        // Those of a block are made when their turn comes.
        portions =
            pushes.flatMap { push in
                push.entities.values.flatMap { part in
                    [Portion { part.loose }] + part.blocks.map { block in Portion { block.rows } }
                }
            }[...]
        reserve(pushes.reduce(0) { $0 + $1.insertedCount }, pushes.reduce(0) { $0 + $1.updatedCount })
    }

    private func reserve(_ insertions: Int, _ updates: Int) {
        inserted.reserveCapacity(insertions)
        insertedIDs.reserveCapacity(insertions)
        updated.reserveCapacity(updates)
        updatedIDs.reserveCapacity(updates)
        all.reserveCapacity(insertions + updates)
    }

    var isComplete: Bool { portions.isEmpty }

    /// Whether they are those of all that is unsaved in a level; of what it saves, while it does.
    func areAll(of level: ContextLevel) -> Bool {
        guard isComplete, let stamp else { return false }
        return stamp == (level.saving == nil ? level.changeCount : level.stampOfSave)
    }

    /// Makes the next objects.
    ///
    /// - Parameter make: gives the objects of these IDs.
    func makeNext(_ count: Int, _ make: ([NSManagedObjectID]) -> [NSManagedObject]) {
        var rest = max(1, count)
        while rest > 0, let portion = portions.first {
            let rows = portion.rows(), places = portion.place..<min(portion.place + rest, rows.placeCount)
            for kind in [ChangeKind.inserted, .updated] {
                let ids = rows.keys(in: places) { $0.kind == kind }
                if !ids.isEmpty { add(make(ids), ids, kind) }
            }
            rest -= places.count
            if places.upperBound == rows.placeCount { portions.removeFirst() } else { portions[portions.startIndex].place = places.upperBound }
        }
        // A slice keeps what was taken from it.
        if portions.isEmpty { portions = [] }
    }

    private func add(_ objects: [NSManagedObject], _ ids: [NSManagedObjectID], _ kind: ChangeKind) {
        all += objects
        if kind == .inserted {
            inserted.formUnion(objects)
            insertedIDs.formUnion(ids)
        } else {
            updated.formUnion(objects)
            updatedIDs.formUnion(ids)
        }
    }

    /// Lets go of some objects; of the sets first, one after the other.
    ///
    /// - Returns: whether there are more.
    func letGo(of count: Int) -> Bool {
        if !inserted.isEmpty {
            inserted = []
        } else if !updated.isEmpty {
            updated = []
        } else if !insertedIDs.isEmpty {
            insertedIDs = []
        } else if !updatedIDs.isEmpty {
            updatedIDs = []
        } else {
            all.removeLast(min(count, all.count))
        }
        return !all.isEmpty
    }
}

extension NSManagedObjectContext {
    /// Has the context hear in its turn of what a child pushed, and tell of it.
    func hearOfPushes() {
        queue.inTurns { [self] in
            if makePushedObjects() { return true }
            // A fetch may have read the inbox meanwhile, and then nobody has heard of it yet; or all of it was told.
            if !events.pushed.isEmpty { tellOfChanges() }
            return false
        }
    }

    /// Runs a block in its turn, and ends the event. If there is a large push to tell of, that is done before.
    ///
    /// - Parameter done: called at the end of the event.
    func inTurn(_ block: @escaping () -> Void, then done: @escaping () -> Void = {}) {
        var isOver = false
        queue.inTurns { [self] in
            if makePushedObjects() { return true }
            if !isOver {
                if hasUntoldObjects { tellOfChanges() }
                block()
                isOver = true
                // What came meanwhile.
                if makePushedObjects() {
                    publish()
                    return true
                }
            }
            processPendingChanges()
            done()
            return false
        }
    }

    /// Whether the objects of a large push are made and not told.
    var hasUntoldObjects: Bool { pushedObjects?.areTold == false }

    /// Makes objects of a large push. What is pushed at once to a context of the main queue may be more than one turn of that queue has time for.
    ///
    /// - Returns: whether there are more to make, in another turn.
    private func makePushedObjects() -> Bool {
        if !hasUntoldObjects {
            readInbox()
            if !events.pushed.isEmpty { beginMakingPushedObjects() }
        }
        guard let pushed = pushedObjects, !pushed.areTold else { return false }
        pushed.makeNext(objectsInATurn) { makeObjects($0).all }
        return !pushed.isComplete
    }

    /// What is gone since objects of a large push were made is not told as new.
    func readDeletionsOfUntoldObjects() {
        if hasUntoldObjects, chain.withLock({ level.inbox.contains { $0.deletedCount > 0 } }) { readInbox() }
    }

    private func beginMakingPushedObjects() {
        letGoOfPushedObjects()
        let pushes = events.pushed
        guard materializesNotificationObjects, concurrencyType == .mainQueueConcurrencyType,
            pushes.contains(where: { $0.insertedCount + $0.updatedCount > objectsInATurn })
        else { return }
        let stamp: UInt64? = chain.withLock {
            pushes.count == 1 && level.pending.deletedCount == 0 && level.stampOfOnlyPush == level.changeCount ? level.changeCount : nil
        }
        pushedObjects = PushedObjects(of: pushes, stamp: stamp)
    }

    /// Those of what is unsaved, or being saved, where they are known.
    var objectsOfAllChanges: PushedObjects? {
        pushedObjects.flatMap { pushed in chain.withLock { pushed.areAll(of: level) } ? pushed : nil }
    }

    /// They are needed no more. There are as many to free as there were to make.
    func letGoOfPushedObjects() {
        guard let pushed = pushedObjects else { return }
        pushedObjects = nil
        let count = objectsInATurn
        queue.aside { pushed.letGo(of: count) }
    }
}
