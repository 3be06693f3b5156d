import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct UndoManagerTests {
    /// A number whose changes can be taken back.
    private final class Counter {
        let manager: OpenCoreData.UndoManager
        private(set) var value = 0

        init(_ manager: OpenCoreData.UndoManager) { self.manager = manager }

        func set(_ new: Int) {
            let old = value
            value = new
            manager.registerUndo(withTarget: self) { $0.set(old) }
        }

        /// A change in a group of its own.
        func step(_ new: Int, name: String = "") {
            manager.beginUndoGrouping()
            set(new)
            if !name.isEmpty { manager.setActionName(name) }
            manager.endUndoGrouping()
        }
    }

    // U2
    @Test func aGroupIsUndoneAsAWholeAndRedoneAsAWhole() {
        let manager = UndoManager(), counter = Counter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        counter.set(2)
        manager.endUndoGrouping()
        counter.step(3)
        #expect(manager.undoCount == 2 && manager.redoCount == 0)
        manager.undo()
        #expect(counter.value == 2)
        manager.undo()
        #expect(counter.value == 0 && !manager.canUndo && manager.canRedo)
        manager.redo()
        #expect(counter.value == 2)
        manager.redo()
        #expect(counter.value == 3 && manager.canUndo && !manager.canRedo)
    }

    // U2
    @Test func aNewActionMakesWhatCouldBeRedoneObsolete() {
        let manager = UndoManager(), counter = Counter(manager)
        counter.step(1)
        manager.undo()
        counter.step(2)
        #expect(!manager.canRedo)
        manager.redo()
        #expect(counter.value == 2)
    }

    // U2
    @Test func whatIsGoingOnIsTold() {
        let manager = UndoManager()
        var seen: [String] = []
        final class Target {}
        let target = Target()
        func register() {
            manager.registerUndo(withTarget: target) { _ in
                seen.append("\(manager.isUndoing) \(manager.isRedoing)")
                register()
            }
        }
        manager.beginUndoGrouping()
        register()
        manager.endUndoGrouping()
        manager.undo()
        manager.redo()
        #expect(seen == ["true false", "false true"] && !manager.isUndoing && !manager.isRedoing)
    }

    // U2
    @Test func groupsNestAndTheInnerOneCanBeUndoneAlone() {
        let manager = UndoManager(), counter = Counter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        counter.step(2)
        #expect(manager.groupingLevel == 1)
        manager.undoNestedGroup()
        #expect(counter.value == 1)
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0)
        manager.undo()
        #expect(counter.value == 0)
    }

    // U2
    @Test func emptyGroupsAreForgotten() {
        let manager = UndoManager()
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        manager.endUndoGrouping()
        #expect(!manager.canUndo)
    }

    // U2
    @Test func theOldestGroupsAreForgottenBeyondTheLimit() {
        let manager = UndoManager(), counter = Counter(manager)
        manager.levelsOfUndo = 2
        for number in 1...4 { counter.step(number) }
        for _ in 0..<4 { manager.undo() }
        #expect(counter.value == 2)
        counter.step(5)
        counter.step(6)
        manager.levelsOfUndo = 1
        #expect(manager.undoCount == 1)
    }

    // U3
    @Test func nothingIsRegisteredWhileThatIsDisabled() {
        let manager = UndoManager(), counter = Counter(manager)
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.set(1)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
        counter.step(2)
        manager.undo()
        #expect(counter.value == 1)
    }

    // U4
    @Test func actionsCanBeForgottenAllOrThoseOfOneTarget() {
        let manager = UndoManager(), first = Counter(manager), second = Counter(manager)
        first.step(1)
        manager.beginUndoGrouping()
        first.set(2)
        second.set(2)
        manager.endUndoGrouping()
        manager.removeAllActions(withTarget: first)
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(first.value == 2 && second.value == 0)
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
    }

    // U2
    @Test func anActionWhoseTargetIsGoneDoesNothing() {
        let manager = UndoManager(), kept = Counter(manager)
        kept.step(1)
        do { Counter(manager).step(1) }
        manager.undo()
        #expect(kept.value == 0)
    }

    // U2
    @Test func theNamesOfTheNextUndoAndRedo() {
        let manager = UndoManager(), counter = Counter(manager)
        #expect(manager.undoMenuItemTitle == "Undo" && manager.undoActionName.isEmpty)
        counter.step(1, name: "Count")
        #expect(manager.undoActionName == "Count" && manager.redoActionName.isEmpty)
        #expect(manager.undoMenuItemTitle == "Undo Count")
        manager.undo()
        #expect(manager.redoActionName == "Count" && manager.undoActionName.isEmpty && manager.redoMenuItemTitle == "Redo Count")
    }

    // U2
    @Test func whetherAnActionMayBeDiscardedIsKept() {
        let manager = UndoManager(), counter = Counter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        manager.setActionIsDiscardable(true)
        manager.endUndoGrouping()
        #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
        manager.undo()
        #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
    }

    // U2
    @Test func groupsAndUndoPostNotifications() {
        let manager = UndoManager(), counter = Counter(manager)
        let names: [Notification.Name] = [
            .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange,
            .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
        ]
        let log = Log()
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { log.add($0.name.rawValue) }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        counter.step(1)
        let group = ["DidOpenUndoGroup", "WillCloseUndoGroup", "DidCloseUndoGroup"]
        #expect(log.take() == group)
        manager.undo()
        #expect(log.take() == ["WillUndoChange"] + group + ["DidUndoChange"])
        manager.redo()
        #expect(log.take() == ["WillRedoChange"] + group + ["DidRedoChange"])
    }

    /// Names of notifications, without what they have in common.
    // Notifications are posted on the thread of the test.
    private final class Log: @unchecked Sendable {
        private var names: [String] = []

        func add(_ name: String) {
            names.append(name.replacingOccurrences(of: "NSUndoManager", with: "").replacingOccurrences(of: "Notification", with: ""))
        }

        func take() -> [String] {
            defer { names = [] }
            return names
        }
    }

    // U2
    @MainActor @Test func onTheMainQueueAGroupIsOpenUntilTheTurnEnds() async {
        let manager = UndoManager(), counter = Counter(manager)
        counter.set(1)
        counter.set(2)
        #expect(manager.groupingLevel == 1 && manager.canUndo)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(manager.groupingLevel == 0)
        counter.set(3)
        manager.undo()
        #expect(counter.value == 2)
        manager.undo()
        #expect(counter.value == 0)
    }

    // U2
    @Test func elsewhereUndoEndsTheGroupOfTheEvent() {
        let manager = UndoManager(), counter = Counter(manager)
        counter.set(1)
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
    }

    // U2, E2
    @Test func registeringOutsideOfAGroupStopsTheProgramWhereNoneIsMade() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.registerUndo(withTarget: manager) { _ in }
        }.trap(says: "outside of a group")
    }

    // U2, E2
    @Test func undoWithOpenGroupsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let manager = UndoManager()
            manager.beginUndoGrouping()
            manager.undo()
        }.trap(says: "undo() while groups are open")
    }

    // U2, E2
    @Test func endingWhatWasNotBegunStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            UndoManager().endUndoGrouping()
        }.trap(says: "endUndoGrouping() without")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            UndoManager().enableUndoRegistration()
        }.trap(says: "enableUndoRegistration() without")
    }

    // U2
    @Test func valuesStayWithTheirGroupInBothDirections() {
        let manager = UndoManager(), target = NSObject(), key = UndoManager.UserInfoKey(rawValue: "cursor")
        manager.groupsByEvent = false
        func turn() { manager.registerUndo(withTarget: target) { _ in turn() } }
        func act(_ place: Int) {
            manager.beginUndoGrouping()
            turn()
            manager.setActionUserInfoValue(place, forKey: key)
            manager.endUndoGrouping()
        }
        act(1)
        act(2)
        #expect(manager.undoActionUserInfoValue(forKey: key) as? Int == 2 && manager.redoActionUserInfoValue(forKey: key) == nil)
        manager.undo()
        #expect(manager.undoActionUserInfoValue(forKey: key) as? Int == 1 && manager.redoActionUserInfoValue(forKey: key) as? Int == 2)
        manager.redo()
        #expect(manager.undoActionUserInfoValue(forKey: key) as? Int == 2)
        #expect(manager.undoActionUserInfoValue(forKey: UndoManager.UserInfoKey(rawValue: "other")) == nil)
        #expect(manager.runLoopModes == [.default])
    }
}
