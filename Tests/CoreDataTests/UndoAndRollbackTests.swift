import CoreData
import Foundation
import Testing

/// Undo managers belong to the main actor on Apple's platforms, so the contexts that have one are those of the main queue.
@Suite struct UndoAndRollbackTests {
    /// A main queue's stack with a saved person, `nobody` of 18, and an undo manager.
    @MainActor private func withPerson(_ body: @MainActor (Stack, UndoManager, NSManagedObject) throws -> Void) throws {
        let stack = try Stack(root: .mainQueueConcurrencyType), manager = UndoManager()
        let person = stack.root.make("Person")
        try stack.root.save()
        stack.root.undoManager = manager
        try body(stack, manager, person)
    }

    // U2
    @MainActor @Test func aChangedValueComesBackAndGoesAgain() throws {
        try withPerson { stack, _, ada in
            ada.setValue("Ada", forKey: "name")
            stack.root.undo()
            #expect(ada.string("name") == "nobody" && !ada.hasPersistentChangedValues)
            stack.root.redo()
            #expect(ada.string("name") == "Ada" && ada.isUpdated)
            try stack.root.save()
            #expect(try stack.strings("Person", "name") == ["Ada"])
        }
    }

    // U2, R5
    @MainActor @Test func undoBringsADeletedObjectBackWithItsRelationships() throws {
        try withPerson { stack, manager, ada in
            let root = stack.root
            root.undoManager = nil
            let looms = root.make("Department"), skill = root.make("Skill"), badge = root.make("Badge")
            ada.setValue(looms, forKey: "department")
            ada.setValue(Set([skill]), forKey: "skills")
            ada.setValue(badge, forKey: "badge")
            try root.save()
            root.undoManager = manager
            root.delete(ada)
            root.processPendingChanges()
            #expect(looms.many("employees").isEmpty && badge.one("person") == nil)
            root.undo()
            #expect(!ada.isDeleted)
            #expect(looms.many("employees") == [ada] && ada.many("skills") == [skill] && badge.one("person") == ada)
        }
    }

    // U3
    @MainActor @Test func changesMadeWhileRegistrationIsDisabledAreNotUndone() throws {
        try withPerson { stack, manager, ada in
            ada.setValue("Ada", forKey: "name")
            stack.root.processPendingChanges()
            manager.disableUndoRegistration()
            ada.setValue(50, forKey: "age")
            stack.root.processPendingChanges()
            manager.enableUndoRegistration()
            stack.root.undo()
            #expect(ada.string("name") == "nobody" && ada.number("age") == 50 && ada.isUpdated)
        }
    }

    @MainActor @Test func groupsOfOnesOwnAreUndoneOneAfterTheOther() throws {
        try withPerson { stack, manager, ada in
            manager.groupsByEvent = false
            for (key, value) in [("name", "Ada"), ("nick", "A")] {
                manager.beginUndoGrouping()
                ada.setValue(value, forKey: key)
                stack.root.processPendingChanges()
                manager.endUndoGrouping()
            }
            stack.root.undo()
            #expect(ada.string("name") == "Ada" && ada.string("nick") == nil && manager.canUndo && manager.canRedo)
            stack.root.undo()
            #expect(ada.string("name") == "nobody" && !manager.canUndo)
        }
    }

    @Test func rollbackTakesBackInsertionsChangesAndDeletions() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let looms = root.make("Department"), ada = root.make("Person", ["name": "Ada", "department": looms]), bob = root.make("Person")
            try root.save()
            ada.setValue("Ida", forKey: "name")
            ada.setValue(nil, forKey: "department")
            root.delete(bob)
            root.make("Person")
            root.processPendingChanges()
            root.rollback()
            #expect(!root.hasChanges && !bob.isDeleted && !ada.hasChanges)
            #expect(ada.string("name") == "Ada" && ada.one("department") == looms && looms.many("employees") == [ada])
            #expect(try root.all("Person").count == 2)
        }
    }
}
