import Foundation

/// Records actions that take changes back, in groups, and performs them.
///
/// Groups nest; what is undone and redone is a group of the outermost level. With `groupsByEvent` (the default) that group is made by itself: on
/// the main queue it ends with the turn of the queue, elsewhere when a context processes its pending changes or at `undo()`.
///
/// A manager belongs to whoever uses it, on one queue: for the manager of a context that is the context's queue.
/// That it is used there only is not checked.
// Like a context's other state it is used on one queue only, which the language can't see.
open class UndoManager: NSObject, @unchecked Sendable {
    private enum Phase {
        case recording
        case undoing
        case redoing
    }

    private struct Participant {
        weak var value: (any UndoParticipant)?
    }

    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// Outermost first.
    private var openGroups: [UndoGroup] = []
    private var phase = Phase.recording
    private var disableCount = 0
    private var participants: [Participant] = []
    private var eventCount = 0

    public override init() { super.init() }

    // MARK: Registering

    /// Whether actions are recorded.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Records nothing until `enableUndoRegistration()` has been called as often.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Ends one `disableUndoRegistration()`. Traps without one.
    open func enableUndoRegistration() {
        if disableCount == 0 { Violation.misuse("enableUndoRegistration() without a disableUndoRegistration() before it") }
        disableCount -= 1
    }

    /// Records how to take a change back. The target is not kept alive; if it is gone by then, nothing is done. Anything newly recorded
    /// outside of `undo()` and `redo()` makes what could be redone obsolete. Traps where no group is open and none is made by itself.
    open func registerUndo<TargetType: AnyObject>(withTarget target: TargetType, handler: @escaping (TargetType) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        openGroupOfEvent()
        guard let group = openGroups.last else { Violation.misuse("registerUndo(withTarget:handler:) outside of a group, with groupsByEvent off") }
        if phase == .recording { redoStack = [] }
        group.items.append(.action(UndoAction(target: target) { target in handler(unsafeDowncast(target, to: TargetType.self)) }))
    }

    /// Forgets everything that can be undone and redone, and records again even where that was disabled. Groups that are open stay open.
    open func removeAllActions() {
        forgetActions()
        disableCount = 0
    }

    /// Forgets the actions of one target.
    open func removeAllActions(withTarget target: Any) {
        let target = target as AnyObject
        for group in openGroups { group.removeActions(of: target) }
        undoStack.removeAll { isEmpty($0, without: target) }
        redoStack.removeAll { isEmpty($0, without: target) }
    }

    private func isEmpty(_ group: UndoGroup, without target: AnyObject) -> Bool {
        group.removeActions(of: target)
        return group.items.isEmpty
    }

    /// Forgets everything that can be undone and redone.
    func forgetActions() {
        undoStack = []
        redoStack = []
        for group in openGroups { group.items = [] }
    }

    // MARK: Groups

    /// Whether a group is made by itself for each event. Default true.
    open var groupsByEvent = true
    /// How many groups can be undone; the oldest are forgotten first. 0 (the default): any number.
    open var levelsOfUndo = 0 {
        didSet { limit() }
    }

    /// How many groups are open, one in the other.
    open var groupingLevel: Int { openGroups.count }

    /// Opens a group inside of the one that is open.
    open func beginUndoGrouping() {
        checkpoint()
        // Where events have no end of their own, a group is outermost that nobody put into another.
        if MainQueueMark.queue.isCurrent { openGroupOfEvent() }
        open(UndoGroup())
    }

    /// Closes the innermost group. An empty one is forgotten. Traps if none is open.
    open func endUndoGrouping() {
        if openGroups.isEmpty { Violation.misuse("endUndoGrouping() without a beginUndoGrouping() before it") }
        checkpoint()
        close()
    }

    private func openGroupOfEvent() {
        guard groupsByEvent, phase == .recording, openGroups.isEmpty else { return }
        open(UndoGroup(isAutomatic: true))
        guard MainQueueMark.queue.isCurrent else { return }
        eventCount += 1
        DispatchQueue.main.async { [weak self, event = eventCount] in
            guard let self, self.eventCount == event, self.isOnlyEventOpen else { return }
            self.endUndoGrouping()
        }
    }

    private var isOnlyEventOpen: Bool { openGroups.count == 1 && openGroups[0].isAutomatic }

    private func open(_ group: UndoGroup) {
        openGroups.append(group)
        if openGroups.count > 1 || !group.isAutomatic { post(.NSUndoManagerDidOpenUndoGroup) }
    }

    private func close() {
        guard let group = openGroups.last else { return }
        let info = [NSUndoManagerGroupIsDiscardableKey: group.isDiscardable]
        post(.NSUndoManagerWillCloseUndoGroup, info)
        openGroups.removeLast()
        if !group.items.isEmpty {
            if let outer = openGroups.last {
                outer.items.append(.group(group))
                if outer.name.isEmpty { outer.name = group.name }
            } else if phase == .undoing {
                redoStack.append(group)
            } else {
                undoStack.append(group)
                limit()
            }
        }
        post(.NSUndoManagerDidCloseUndoGroup, info)
    }

    private func limit() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
        redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    // MARK: Undoing

    /// Whether `undo()` is performing actions: what they register can be redone.
    open var isUndoing: Bool { phase == .undoing }
    /// Whether `redo()` is performing actions: what they register can be undone again.
    open var isRedoing: Bool { phase == .redoing }

    /// How many groups can be undone.
    open var undoCount: Int { undoStack.count }
    /// How many groups can be redone.
    open var redoCount: Int { redoStack.count }

    /// Whether there is anything to undo, what is not registered yet included.
    open var canUndo: Bool {
        undoStack.contains { $0.isAlive } || openGroups.contains { $0.isAlive } || hasUnregisteredChanges
    }

    /// Whether there is anything to redo.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return !hasUnregisteredChanges && redoStack.contains { $0.isAlive }
    }

    /// Closes the group of the event, if it is open, and undoes the last group. Traps if other groups are open.
    open func undo() {
        checkpoint()
        if openGroups.count > 1 || openGroups.first?.isAutomatic == false {
            Violation.misuse("undo() while groups are open; call endUndoGrouping() first, or undoNestedGroup()")
        }
        if !openGroups.isEmpty { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the last closed group, also one inside of the group that is open. Does nothing if there is none.
    open func undoNestedGroup() {
        checkpoint()
        guard phase == .recording else { Violation.misuse("undo from inside of undo() or redo()") }
        let group: UndoGroup
        if let outer = openGroups.last {
            guard case .group(let inner)? = outer.items.last else { return }
            outer.items.removeLast()
            group = inner
        } else {
            guard let last = Self.popLastAlive(&undoStack) else { return }
            group = last
        }
        post(.NSUndoManagerWillUndoChange)
        perform(group, as: .undoing)
        post(.NSUndoManagerDidUndoChange)
    }

    /// Takes the last undo back. Does nothing if there is none.
    open func redo() {
        checkpoint()
        guard phase == .recording else { Violation.misuse("redo from inside of undo() or redo()") }
        guard let group = Self.popLastAlive(&redoStack) else { return }
        post(.NSUndoManagerWillRedoChange)
        perform(group, as: .redoing)
        post(.NSUndoManagerDidRedoChange)
    }

    private static func popLastAlive(_ stack: inout [UndoGroup]) -> UndoGroup? {
        while let group = stack.popLast() {
            if group.isAlive { return group }
        }
        return nil
    }

    /// Performs the actions, the last first; what they register becomes one group of the other direction.
    private func perform(_ group: UndoGroup, as phase: Phase) {
        let outer = openGroups
        openGroups = []
        self.phase = phase
        let inverse = UndoGroup()
        inverse.name = group.name
        inverse.userInfo = group.userInfo
        inverse.isDiscardable = group.isDiscardable
        open(inverse)
        perform(group)
        while !openGroups.isEmpty { endUndoGrouping() }
        self.phase = .recording
        openGroups = outer
    }

    private func perform(_ group: UndoGroup) {
        for item in group.items.reversed() {
            switch item {
            case .action(let action): if let target = action.target { action.perform(target) }
            case .group(let inner): perform(inner)
            }
        }
    }

    // MARK: Names

    /// What the next undo takes back, in words; empty if that was not said.
    open var undoActionName: String { undoStack.last?.name ?? "" }
    /// What the next redo does, in words; empty if that was not said.
    open var redoActionName: String { redoStack.last?.name ?? "" }

    /// Says in words what the open group does. With `groupsByEvent` and none open, the event's.
    open func setActionName(_ actionName: String) {
        openGroupOfEvent()
        openGroups.last?.name = actionName
    }

    /// "Undo" with the action name of the last group, or alone if that has none. In English.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// "Redo" with the action name of the last undone group, or alone if that has none. In English.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
    /// "Undo" and the name; "Undo" alone for an empty one. Override it to translate.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Undo" : "Undo \(actionName)" }
    /// "Redo" and the name; "Redo" alone for an empty one. Override it to translate.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String { actionName.isEmpty ? "Redo" : "Redo \(actionName)" }

    /// Says of the open group that it may be forgotten without asking, as when it only changed a selection.
    open func setActionIsDiscardable(_ discardable: Bool) {
        openGroupOfEvent()
        openGroups.last?.isDiscardable = discardable
    }

    /// Whether the group to undo next was marked with `setActionIsDiscardable(_:)`; false if there is none.
    open var undoActionIsDiscardable: Bool { undoStack.last?.isDiscardable ?? false }
    /// Whether the group to redo next was marked with `setActionIsDiscardable(_:)`; false if there is none.
    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    // MARK: Values

    /// What a value of a group is found by.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The key as text.
        public let rawValue: String
        /// A key of this text.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Keeps a value with the open group, and so with what is undone and redone: nil takes it back. With `groupsByEvent` and none open, with the event's.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
        openGroupOfEvent()
        openGroups.last?.userInfo[key] = info
    }

    /// A value of the group to undo next; nil if it was given none.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoStack.last?.userInfo[key] }
    /// A value of the group to redo next; nil if it was given none.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }

    /// The modes of the run loop whose turn ends an event. Kept, and without effect: an event ends with the turn of the main queue.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    // MARK: Contexts

    func join(_ participant: any UndoParticipant) {
        participants.removeAll { $0.value == nil }
        participants.append(Participant(value: participant))
    }

    func leave(_ participant: any UndoParticipant) {
        removeAllActions(withTarget: participant)
        participants.removeAll { $0.value == nil || $0.value === participant }
    }

    private var hasUnregisteredChanges: Bool { participants.contains { $0.value?.hasUnregisteredChanges ?? false } }

    private func checkpoint() {
        post(.NSUndoManagerCheckpoint)
        for participant in participants { participant.value?.registerChanges() }
    }

    /// Records what one event of a context did: in the group that is open, which ends if it is only the event's, or else in a group of its own.
    func registerEvent<TargetType: AnyObject>(of target: TargetType, handler: @escaping (TargetType) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if openGroups.isEmpty { open(UndoGroup(isAutomatic: true)) }
        registerUndo(withTarget: target, handler: handler)
        if isOnlyEventOpen { close() }
    }

    private func post(_ name: Notification.Name, _ info: [String: Any] = [:]) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }
}

extension Notification.Name {
    /// Posted before a group is opened or closed and where `canRedo` is asked: who has changes to register does it now.
    public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
    /// Posted before a group is undone; the object is the manager, as with all of these.
    public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
    /// Posted after a group was undone, when `isUndoing` is false again.
    public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
    /// Posted before a group is redone.
    public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
    /// Posted after a group was redone, when `isRedoing` is false again.
    public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
    /// Posted after a group was opened; not for the outermost group that is made by itself for an event.
    public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// Posted before the innermost group closes, that of an event included; see `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
    /// Posted after a group was closed, also where it was empty and is forgotten; see `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
}

/// `userInfo` key of the notifications about closing a group: whether the group may be discarded (`Bool`).
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
