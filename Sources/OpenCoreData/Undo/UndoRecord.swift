/// What one event did in a context, as much of it as is needed to take it back.
///
/// It says what things were, property by property. Taken back, it touches nothing else: what others changed meanwhile stays.
struct UndoRecord {
    /// Whether a pair of a to-many is pending, and how.
    enum PairState {
        case none
        case added
        case removed
    }

    struct PairChange {
        let id: NSManagedObjectID
        let before: PairState
        let after: PairState
        /// Whether it was a member before: a pair may be added and removed again.
        let wasMember: Bool
        /// Whether it is one after.
        let isMember: Bool
    }

    /// What is known of a pair beside what is pending.
    struct Membership {
        let was: Bool
        var becomes: Bool?
    }

    struct ObjectChange {
        let id: NSManagedObjectID
        /// Kept where the object came or went, so that it is the same one that comes back.
        let object: NSManagedObject?
        let before: ObjectMoment
        let existedAfter: Bool
        /// Which values to restore.
        let slots: SlotSet
        /// Which to-manys were changed.
        let toManys: SlotSet
        /// Whether to-manys count as changed that did not, or the other way round.
        let hasNewFlags: Bool
        /// The members of a deleted object's to-manys that are kept as pairs; by number.
        let pairs: [Int: [NSManagedObjectID]]

        var isChange: Bool { before.exists != existedAfter || !slots.isEmpty || hasNewFlags }
    }

    struct OrderChange {
        /// What was pending before.
        let before: [NSManagedObjectID]?
        /// The order that was seen before.
        let order: [NSManagedObjectID]
        /// What was pending after.
        let after: [NSManagedObjectID]?
    }

    /// While nothing was saved since, what was pending can be restored exactly.
    let epoch: Int
    /// Records from before a rollback or reset take nothing back any more.
    let generation: Int
    var objects: [ObjectChange] = []
    var pairs: [RelationshipKey: [PairChange]] = [:]
    var orders: [RelationshipKey: OrderChange] = [:]

    /// Whether there is nothing to take back: to-manys that were touched are as they were.
    var isEmpty: Bool { pairs.isEmpty && orders.isEmpty && !objects.contains { $0.isChange } }
}

/// An object at one moment. Its row is shared from then on.
struct ObjectMoment {
    let state: ObjectState
    let row: RowSnapshot?
    let base: RowSnapshot?
    let changed: SlotSet
    let changedToManys: SlotSet

    init(_ object: NSManagedObject) {
        state = object.state
        row = object.row
        base = object.base
        changed = object.changed
        changedToManys = object.changedToManys
        // The next change copies the row instead of writing into this one.
        object.ownsRow = false
    }

    var exists: Bool { state != .deleted && state != .detached }
}

extension PairChanges {
    func state(of id: NSManagedObjectID) -> UndoRecord.PairState {
        added.contains(id) ? .added : removed.contains(id) ? .removed : .none
    }

    /// What is different in a later state.
    ///
    /// - Parameter known: what else is known of the pairs.
    func changes(to later: PairChanges, known: [NSManagedObjectID: UndoRecord.Membership]) -> [UndoRecord.PairChange] {
        added.union(removed).union(later.added).union(later.removed).compactMap { id in
            let before = state(of: id), after = later.state(of: id)
            if before == after { return nil }
            let wasMember = before == .added || (before == .none && known[id]?.was ?? (after == .removed))
            let isMember = after == .added || (after == .none && known[id]?.becomes ?? false)
            return UndoRecord.PairChange(id: id, before: before, after: after, wasMember: wasMember, isMember: isMember)
        }
    }

    mutating func set(_ id: NSManagedObjectID, to state: UndoRecord.PairState) {
        switch state {
        case .none:
            added.remove(id)
            removed.remove(id)
        case .added: add(id)
        case .removed: remove(id)
        }
    }
}

/// Actions that are undone together.
final class UndoGroup {
    enum Item {
        case action(UndoAction)
        case group(UndoGroup)
    }

    var items: [Item] = []
    var name = ""
    var isDiscardable = false
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]
    /// Opened by the manager itself for the event, not by `beginUndoGrouping()`.
    let isAutomatic: Bool

    init(isAutomatic: Bool = false) { self.isAutomatic = isAutomatic }

    /// Forgets the actions of one target, and groups that have nothing left.
    func removeActions(of target: AnyObject) {
        items.removeAll { item in
            switch item {
            case .action(let action): return action.target === target || action.target == nil
            case .group(let group):
                group.removeActions(of: target)
                return group.items.isEmpty
            }
        }
    }

    /// Whether a target of any action still lives: an action without its target does nothing.
    var isAlive: Bool {
        items.contains { item in
            switch item {
            case .action(let action): action.target != nil
            case .group(let group): group.isAlive
            }
        }
    }
}

/// One registered action. Its target is not kept alive.
struct UndoAction {
    weak var target: AnyObject?
    let perform: (AnyObject) -> Void
}

/// Somebody who registers what he undoes late, at the end of an event: a context. The manager asks before it opens or closes a group.
protocol UndoParticipant: AnyObject {
    /// Whether there are changes that will be registered.
    var hasUnregisteredChanges: Bool { get }
    /// Registers them now.
    func registerChanges()
}
