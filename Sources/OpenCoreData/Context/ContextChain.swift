import Synchronization

/// What the contexts of one chain (a root and all its descendants) share: one lock over what each of them has published. It is held for
/// dictionary work only, never while calling out.
final class ContextChain: Sendable {
    /// For levels that belong to no context.
    static let scratch = ContextChain()

    private let lock = Mutex(())
    /// Counts the changes of what is published. A row that was read at one count is the current one as long as it stays.
    private let count = Atomic<UInt64>(1)
    private let pinned = Mutex<ContextPin?>(nil)
    private let hasPin = Atomic<Bool>(false)
    /// Those of the contexts of the chain, under the lock. Some may be gone.
    private let levels = Unlocked<[WeakLevel]>([])
    /// How often new objects have turned out to be others.
    private let replacements = Atomic<Int>(0)
    /// Whether anything was deleted or thrown away, which somebody may still refer to.
    private let dangles = Atomic<Bool>(false)

    private struct WeakLevel {
        weak var level: ContextLevel?
    }

    // What `lock` guards.
    private final class Unlocked<T>: @unchecked Sendable {
        var value: T

        init(_ value: T) { self.value = value }
    }

    var replacementCount: Int { replacements.load(ordering: .acquiring) }
    var hasReplacements: Bool { replacementCount > 0 }

    var mayDangle: Bool { dangles.load(ordering: .acquiring) }
    func noteDiscard() { dangles.store(true, ordering: .releasing) }

    /// A context has joined the chain. Within the lock.
    func add(_ level: ContextLevel) {
        if levels.value.count == levels.value.capacity { levels.value.removeAll { $0.level == nil } }
        levels.value.append(WeakLevel(level: level))
    }

    /// These objects turned out to be others: their IDs lead there from now on, and what any level says of them is said of the others. Contexts bring
    /// their instances to it at their next turn. Within the lock.
    func replace(_ identities: [NSManagedObjectID: NSManagedObjectID]) {
        if identities.isEmpty { return }
        for (id, other) in identities { id.become(other) }
        for level in levels.value.compactMap(\.level) { level.follow() }
        replacements.add(1, ordering: .releasing)
        noteChange()
    }

    /// Called with every change of a level, within the lock.
    func noteChange() { count.add(1, ordering: .releasing) }

    /// What the root is pinned to; nil: it reads from the coordinator.
    var pin: ContextPin? { hasBeenPinned ? pinned.withLock { $0 } : nil }

    /// Whether the root was ever pinned: then a row that was fetched may be one of another state than that which is read from now.
    var hasBeenPinned: Bool { hasPin.load(ordering: .acquiring) }

    /// Where reads end from now on. Called without the lock.
    func setPin(_ pin: ContextPin?) {
        let before = pinned.withLock { pinned in
            defer { pinned = pin }
            return pinned
        }
        hasPin.store(true, ordering: .releasing)
        noteChange()
        // Letting go of a state closes connections: not under the lock.
        withExtendedLifetime(before) {}
    }

    /// Differs from an earlier one if anything has changed since, in a level of this chain or in the rows of its coordinator.
    func stamp(with rows: RowCache?) -> UInt64 {
        count.load(ordering: .acquiring) &+ (rows?.changeCount ?? 0)
    }

    func withLock<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        // The state under the lock lives in `ContextLevel`s; the lock itself guards nothing of its own.
        let outcome: Result<T, E> = lock.withLock { _ in
            do throws(E) { return Unchecked(value: Result<T, E>.success(try body())) } catch {
                return Unchecked(value: Result<T, E>.failure(error))
            }
        }.value
        return try outcome.get()
    }
}

/// What one context has published: its unsaved changes as rows. Children read it and push into it from their own queues, under the
/// chain's lock, without running anything on the context's queue.
// Every access is made within `ContextChain.withLock`.
final class ContextLevel: @unchecked Sendable {
    /// The chain that this level belongs to; set anew when the context gets its parent.
    unowned var chain: ContextChain {
        didSet { chain.withLock { chain.add(self) } }
    }
    /// Unsaved changes.
    var pending = ChangeSet() { didSet { noteChange() } }
    /// What a save in progress is writing; changes that come meanwhile go to `pending`.
    var saving: ChangeSet? {
        didSet {
            saveCount &+= 1
            noteChange()
        }
    }
    /// Grows whenever changes of this level may have come to be told by the channel only.
    private(set) var saveCount: UInt64 = 0
    /// How many of the chain's changes are this level's.
    private(set) var changeCount: UInt64 = 0
    /// What `changeCount` was when the save in progress began.
    private(set) var stampOfSave: UInt64?
    /// What it was when a push had come into a level where nothing was unsaved.
    private(set) var stampOfOnlyPush: UInt64?
    /// What others had changed when the first deletion was pushed that is pending; nil: none is.
    var deletionStamp: UInt64?
    /// Pushed change sets which this context's own objects have not seen yet.
    var inbox: [ChangeSet] = []
    /// Where pushes that are not on disk yet are written down, if they are: told of those that are thrown away.
    var pushRecorder: (any PushRecorder)?
    /// Whether pushes into this level are written down before they come in.
    var recordsPushes = false
    /// Tells levels apart, also those that are gone.
    let number = ContextLevel.numbers.add(1, ordering: .relaxed).newValue
    private static let numbers = Atomic<UInt64>(0)
    /// Where what this level ever had came from.
    private var origin = Origin.nowhere
    private var isMerging = false
    /// Indexes of unique keys over `pending` and `saving`, made when first asked for.
    private var keyIndexes: [UniquenessConstraint: KeyIndex] = [:]

    init(chain: ContextChain) { self.chain = chain }

    private enum Origin: Equatable {
        case nowhere
        /// The level of this number.
        case one(UInt64)
        case several
    }

    /// Whether all that this level ever had came from the level of this number, or none did.
    func hasAll(from number: UInt64) -> Bool { origin == .nowhere || origin == .one(number) }

    /// Something comes from the level of this number.
    func note(from number: UInt64) { origin = hasAll(from: number) ? .one(number) : .several }

    private func noteChange() {
        changeCount &+= 1
        chain.noteChange()
    }

    /// Objects of which something is unsaved here that was said of others which turned out to be they, and which was not laid over their values yet.
    private var moved: Set<NSManagedObjectID> = []

    func hasMoved(_ id: NSManagedObjectID) -> Bool { moved.contains(id) }

    func takeMoved() -> Set<NSManagedObjectID> {
        defer { moved = [] }
        return moved
    }

    /// Objects that turned out to be others are called by the others' identities.
    func follow() {
        func current(_ changes: ChangeSet, over earlier: ChangeSet?) -> ChangeSet? {
            changes.namesReplacedObjects ? changes.current { earlier?[$0]?.row } : nil
        }
        if let changes = saving.flatMap({ current($0, over: nil) }) { saving = changes }
        if let changes = current(pending, over: saving) {
            for id in pending.ids(.updated) + pending.ids(.deleted) where id.successor != nil { moved.insert(id.current) }
            pending = changes
        }
        inbox = inbox.map { current($0, over: nil) ?? $0 }
        keyIndexes = [:]
    }

    /// What this level says about a row.
    func change(of id: NSManagedObjectID) -> PendingRow? {
        pending[id] ?? saving?[id]
    }

    var hasChanges: Bool { !pending.isEmpty || saving != nil }

    /// Records a change, composed with what was pending for the row.
    ///
    /// - Returns: whether anything is left of it.
    @discardableResult
    func record(_ id: NSManagedObjectID, _ change: PendingRow) -> Bool {
        if !isMerging { origin = .several }
        let before = keyIndexes.isEmpty ? nil : self.change(of: id)
        let now = PendingRow.compose(pending[id], change, isSaving: saving?[id] != nil)
        if change.kind == .deleted { chain.noteDiscard() }
        pending.set(id, now)
        updateIndexes(id, before: before)
        return now != nil
    }

    /// New rows, and what they list.
    func insert(_ block: RowBlock) {
        insertRows(of: block)
        pending.pairs.add(block)
    }

    private func insertRows(of block: RowBlock) {
        guard block.isSealed else {
            for (id, change) in block.rows { record(id, change) }
            return
        }
        if !isMerging { origin = .several }
        pending.add(block)
        for constraint in block.layout.constraints where keyIndexes[constraint] != nil { keyIndexes[constraint]?.add(block) }
    }

    /// Forgets the to-manys of an object that never was.
    ///
    /// - Parameter others: whether others forget that they were related to it; not where that may have to be brought back.
    func forgetRelationships(of id: NSManagedObjectID, at others: Bool = false) {
        pending.pairs.loosen { $0.mayPair(id) }
        for (number, relationship) in id.layout.toManys.enumerated() {
            let key = RelationshipKey(owner: id, toMany: number)
            pending.orders[key] = nil
            guard let changes = pending.pairs.removeValue(forKey: key), others else { continue }
            for other in changes.added {
                guard let back = relationship.key(of: other) else { continue }
                pending.pairs.change(back) { $0.forgetAddition(of: id) }
            }
        }
    }

    /// Takes back what is pending of an object's to-manys, at their other ends, too.
    func withdrawRelationships(of id: NSManagedObjectID) {
        pending.pairs.loosen { $0.mayPair(id) }
        for (number, relationship) in id.layout.toManys.enumerated() {
            let key = RelationshipKey(owner: id, toMany: number)
            pending.orders[key] = nil
            guard let changes = pending.pairs.removeValue(forKey: key) else { continue }
            for other in changes.added.union(changes.removed) {
                guard let back = relationship.key(of: other) else { continue }
                pending.pairs.change(back) { $0.forget(id) }
            }
        }
    }

    /// Replaces or forgets what is pending for a row.
    func replace(_ id: NSManagedObjectID, with change: PendingRow?) {
        origin = .several
        let before = keyIndexes.isEmpty ? nil : self.change(of: id)
        if change == nil || change?.kind == .deleted { chain.noteDiscard() }
        pending.set(id, change)
        updateIndexes(id, before: before)
    }

    /// Takes over a pushed change set.
    func merge(_ pushed: ChangeSet) {
        let journaled = pending.journaled.joined(pushed.journaled), isAdmitted = pushed.isAdmitted && (pending.isEmpty || pending.isAdmitted)
        isMerging = true
        let isOnly = !hasChanges
        defer {
            isMerging = false
            if isAdmitted { pending.isAdmitted = true }
            comesFrom(journaled)
            stampOfOnlyPush = isOnly ? changeCount : nil
        }
        if pending.isEmpty && saving == nil && keyIndexes.isEmpty {
            if pushed.deletedCount > 0 { chain.noteDiscard() }
            pending = pushed
            return
        }
        if !pending.orders.isEmpty { leaveOrders(pushed) }
        var cancelled: [NSManagedObjectID] = []
        for part in pushed.entities.values {
            for (id, change) in part.loose {
                if !record(id, change) { cancelled.append(id) }
            }
            for block in part.blocks { insertRows(of: block) }
        }
        // Some of what the rows list may have been taken back.
        for block in pushed.pairs.blocks { pending.pairs.add(block) }
        for (key, changes) in pushed.pairs.loose {
            pending.pairs.change(key) { $0.apply(changes) }
        }
        for (key, order) in pushed.orders { pending.orders[key] = order }
        if !cancelled.isEmpty { forgetAllMentions(of: Set(cancelled)) }
    }

    /// A new member stands last, as its sender shows it, and not where an older order has it.
    private func leaveOrders(_ pushed: ChangeSet) {
        var orders = pending.orders
        orders.loseNewcomers(of: pushed) { id, change in
            guard let mine = pending[id] else { return change.base }
            return mine.kind == .deleted ? nil : mine.row
        } wasMember: { id, key in
            pending.pairs[key]?.removed.contains(id) != true
        }
        pending.orders = orders
    }

    /// Which entries what is pending comes from. Where they cancelled out nobody will ever commit them: then they are thrown away.
    private func comesFrom(_ journaled: ClosedRange<UInt64>?) {
        if let journaled, pending.isEmpty {
            pushRecorder?.forget(journaled, only: nil)
            pending.journaled = nil
        } else if pending.journaled != journaled {
            pending.journaled = journaled
        }
    }

    /// Takes objects that never were out of the to-manys that others added them to meanwhile.
    private func forgetAllMentions(of ids: Set<NSManagedObjectID>) {
        for id in ids { forgetRelationships(of: id) }
        for key in pending.pairs.loose.keys { pending.pairs.change(key) { $0.added.subtract(ids) } }
        for key in pending.orders.keys { pending.orders[key]?.removeAll { ids.contains($0) } }
    }

    /// Starts a save: what is pending is being written from now on.
    func beginSaving() -> ChangeSet {
        let changes = pending
        stampOfSave = changeCount
        saving = changes
        pending = ChangeSet()
        deletionStamp = nil
        return changes
    }

    /// The save succeeded.
    ///
    /// - Returns: what is not needed any more, to be let go of without the lock: there may be a million keys in it.
    @discardableResult
    func didSave() -> Spent {
        let spent = Spent(changes: saving, keyIndexes: keyIndexes)
        saving = nil
        stampOfSave = nil
        keyIndexes = [:]
        return spent
    }

    /// What a level knew of a save.
    struct Spent {
        fileprivate let changes: ChangeSet?
        fileprivate let keyIndexes: [UniquenessConstraint: KeyIndex]
    }

    /// The save failed: what came meanwhile lies on top of what was being written.
    func didNotSave() {
        guard let changes = saving else { return }
        let later = pending
        saving = nil
        pending = changes
        keyIndexes = [:]
        // Whatever it was: the rules are applied once more.
        if changes.deletedCount > 0 { deletionStamp = 0 }
        merge(later)
        // Somebody else's save may have made others of them meanwhile.
        if chain.hasReplacements { follow() }
    }

    func discard() {
        if !pending.isEmpty { chain.noteDiscard() }
        if let journaled = pending.journaled { pushRecorder?.forget(journaled, only: nil) }
        pending = ChangeSet()
        deletionStamp = nil
        inbox = []
        keyIndexes = [:]
    }

    /// What was pushed of these rows is not to come back after a crash.
    func forgetPushes(of ids: [NSManagedObjectID]) {
        if let journaled = pending.journaled, !ids.isEmpty { pushRecorder?.forget(journaled, only: Set(ids)) }
    }

    // MARK: Unique keys

    /// Which pending object has this key.
    func owner(of key: UniqueKey, _ constraint: UniquenessConstraint) -> NSManagedObjectID? {
        if keyIndexes[constraint] == nil {
            var index = KeyIndex(constraint)
            for layer in [saving, pending].compactMap({ $0 }) {
                for part in constraint.declarer.withDescendants.compactMap({ layer.entities[$0.number] }) {
                    for (id, change) in part.loose { index.update(id, to: change) }
                    for block in part.blocks { index.add(block) }
                }
            }
            keyIndexes[constraint] = index
        }
        while let block = keyIndexes[constraint]?.takeBlock(of: key) {
            for (id, _) in block.rows {
                if let now = change(of: id) { keyIndexes[constraint]?.update(id, to: now) }
            }
        }
        return keyIndexes[constraint]?.owners[key]
    }

    private func updateIndexes(_ id: NSManagedObjectID, before: PendingRow?) {
        guard !keyIndexes.isEmpty else { return }
        for constraint in id.layout.constraints {
            guard let index = keyIndexes.index(forKey: constraint) else { continue }
            if let before { keyIndexes.values[index].forget(id, before) }
            if let now = change(of: id) { keyIndexes.values[index].update(id, to: now) }
        }
    }
}

extension PendingRow {
    /// What two changes of a row amount to. Nil: nothing is left of them.
    ///
    /// - Parameter isSaving: an earlier change of the row is being written just now, so that an insert can't simply be forgotten.
    static func compose(_ earlier: PendingRow?, _ later: PendingRow, isSaving: Bool) -> PendingRow? {
        guard let earlier else { return later }
        switch (earlier.kind, later.kind) {
        case (.inserted, .deleted): return isSaving ? later : nil
        case (.inserted, _):
            // Which values were set on purpose is what decides where the object turns out to be one that is there already.
            var changed = earlier.changed
            changed.formUnion(later.changed)
            return PendingRow(kind: .inserted, row: later.row ?? earlier.row, changed: changed)
        case (.updated, .deleted): return PendingRow(kind: .deleted, row: later.row ?? earlier.row, base: earlier.base ?? later.base)
        case (.updated, _):
            var changed = earlier.changed
            changed.formUnion(later.changed)
            return PendingRow(kind: .updated, row: later.row ?? earlier.row, changed: changed, base: earlier.base ?? later.base)
        case (.deleted, .inserted):
            let slots = later.row.map { SlotSet(0..<$0.count) } ?? SlotSet()
            return PendingRow(kind: .updated, row: later.row, changed: slots, base: earlier.base)
        case (.deleted, _): return earlier
        }
    }
}
