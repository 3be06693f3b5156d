/// Actions that are undone together.
final class UndoGroup {
    enum Item {
        case action(UndoAction)
        case group(UndoGroup)
    }

    var items: [Item] = []
    var name = ""
    var isDiscardable = false
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
