import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What is left of a context's changes after they were thrown away: nothing, neither shown nor told nor done later.
@Suite struct RollbackTests {
    private let stack = TestStack()
    private var root: NSManagedObjectContext { stack.root }

    private func onRoot<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        try root.performAndWait { try body(root) }
    }

    @Test func aDeletionThatWasTakenBackHasNoRulesToApply() throws {
        try onRoot { root in
            let folder = root.make("Folder")
            let child = root.make("Folder", ["parent": folder])
            try root.save()
            root.delete(folder)
            root.rollback()
            #expect(!root.hasChanges)
            root.processPendingChanges()
            #expect(
                !folder.isDeleted && !child.isDeleted
                    && child.value(forKey: "parent") as? NSManagedObject === folder)
        }
    }

    @Test func whatWasToBeCheckedIsForgottenWithTheChanges() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            root.detectConflicts(for: item)
            root.rollback()
            try stack.overwrite(item.objectID, ["a": .int64(2)])
            root.make("Item", ["key": "other"])
            try root.save()
            #expect(Set(try stack.stored("Item", "key")) == ["k", "other"])
        }
    }

    @Test func nobodyKeepsAnObjectThatWasInsertedAndThrownAway() throws {
        onRoot { root in
            let watch = WeakReferences()
            watch.add(root.make("Item"))
            watch.add(root.make("Item"))
            root.rollback()
            #expect(watch.living == 0)
        }
    }

    @Test func anObjectWhoseChangesWereThrownAwayIsKeptByItsUsersOnly() throws {
        try onRoot { root in
            let watch = WeakReferences()
            var item: NSManagedObject? = root.make("Item", ["key": "k"])
            try root.save()
            item?.setValue(2, forKey: "a")
            root.processPendingChanges()
            watch.add(try #require(item))
            root.rollback()
            #expect(item.map { root.registeredObjects == [$0] } == true)
            item = nil
            #expect(watch.living == 0 && root.registeredObjects.isEmpty)
        }
    }

    @Test func anObjectThatWasDeletedBeforeItWasSavedIsInNoContextAfterIt() throws {
        onRoot { root in
            let told = root.make("Item", ["key": "told"])
            root.processPendingChanges()
            root.delete(told)
            root.rollback()
            #expect(
                told.managedObjectContext == nil && root.registeredObjects.isEmpty
                    && told.value(forKey: "key") as? String == "told")
        }
    }

    @Test func anObjectThatOthersDeletedLeavesWithIt() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k"])
            try root.save()
            root.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, userInfo: [NSDeletedObjectsKey: [item.objectID]]))
            #expect(item.isDeleted && item.managedObjectContext === root)
            root.rollback()
            #expect(!item.isDeleted && item.managedObjectContext == nil && root.registeredObjects.isEmpty)
        }
    }

    @Test func aNewObjectKeepsTheValuesItHadAndIsDeletedNowhere() throws {
        onRoot { root in
            let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
            let item = root.make("Item", ["key": "k", "a": 4])
            root.rollback()
            #expect(
                item.value(forKey: "a") as? Int == 4 && item.managedObjectContext == nil && !item.hasChanges
            )
            #expect(recorder.count == 0)
        }
    }

    @Test func aFaultOfWhichOnlyMembersChangedStays() throws {
        let (person, skill) = try onRoot { root in
            let made = (root.make("Person", ["name": "Ada"]), root.make("Skill"))
            try root.save()
            return (made.0.objectID, made.1.objectID)
        }
        let other = stack.independent()
        other.performAndWait {
            let fault = other.object(with: person)
            fault.mutableSetValue(forKey: "skills").add(other.object(with: skill))
            other.rollback()
            #expect(fault.managedObjectContext === other && !other.hasChanges && !fault.hasChanges)
            #expect(
                fault.objectIDs(forRelationshipNamed: "skills").isEmpty
                    && fault.value(forKey: "name") as? String == "Ada")
        }
    }

    @Test func aFaultThatAChildDeletedIsThereAgain() throws {
        let id = try onRoot { root in
            let item = root.make("Item", ["key": "k"])
            try root.save()
            return item.objectID
        }
        let parent = stack.independent()
        let child = stack.child(of: parent)
        try holding(parent, child) {
            let fault = parent.object(with: id)
            child.delete(child.object(with: id))
            try child.save()
            #expect(fault.isFault && fault.isDeleted)
            parent.rollback()
            #expect(
                !fault.isDeleted && fault.managedObjectContext === parent
                    && fault.value(forKey: "key") as? String == "k")
        }
    }

    @Test func anObjectThatWasSavedAndDeletedBeforeItWasInsertedAgainIsNewLikeAnyOther() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k"])
            try root.save()
            root.delete(item)
            try root.save()
            root.insert(item)
            root.rollback()
            #expect(item.managedObjectContext == nil && root.registeredObjects.isEmpty)
        }
    }

    @Test func observersHearOnlyThatValuesCameBack() throws {
        try onRoot { root in
            let changed = root.make("Item", ["key": "c", "a": 1])
            let deleted = root.make("Item", ["key": "d"])
            try root.save()
            let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
            changed.setValue(2, forKey: "a")
            root.delete(deleted)
            root.make("Item", ["key": "new"])
            root.rollback()
            #expect(recorder.count == 1 && recorder.objects(NSRefreshedObjectsKey) == [changed, deleted])
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                #expect(recorder.objects(key).isEmpty)
            }
        }
    }

    @Test func anEventStartsAnewWithTheValuesThatCameBack() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            item.setValue(2, forKey: "a")
            root.processPendingChanges()
            item.setValue(3, forKey: "a")
            root.rollback()
            #expect(item.changedValuesForCurrentEvent().isEmpty)
            item.setValue(5, forKey: "a")
            #expect(item.changedValuesForCurrentEvent()["a"] as? Int == 1)
        }
    }

    @Test func nothingIsSaidOfPushesThatNobodyHadReadYet() throws {
        let child = stack.child(of: root)
        let item = try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            return item
        }
        let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
        let push = {
            try child.performAndWait {
                child.make("Item", ["key": "new"])
                child.object(with: item.objectID).setValue(2, forKey: "a")
                try child.save()
            }
        }
        try afterPushing(into: root, push) { [root] in
            root.rollback()
            #expect(recorder.count == 1 && recorder.objects(NSRefreshedObjectsKey) == [item])
            #expect(
                recorder.objects(NSInsertedObjectsKey).isEmpty
                    && recorder.objects(NSUpdatedObjectsKey).isEmpty)
            #expect(item.value(forKey: "a") as? Int == 1 && !root.hasChanges)
        }
    }

    @Test func aFaultOfWhatAChildPushedIsInNoContextAfterIt() throws {
        let child = stack.child(of: root)
        let new = child.performAndWait { child.make("Item", ["key": "new"]) }
        let fault = onRoot { root in root.object(with: new.objectID) }
        try afterPushing(into: root, { try child.performAndWait { try child.save() } }) { [root] in
            root.rollback()
            #expect(fault.managedObjectContext == nil && root.registeredObjects.isEmpty)
        }
    }

    // The rules are applied once more where others changed something since they were applied first: to deletions that are unsaved, no others.
    @Test func theRulesOfALaterDeletionAreAppliedToWhatOthersDidMeanwhile() throws {
        let other = stack.independent()
        try holding(root, other) {
            let first = root.make("Folder")
            let second = root.make("Folder")
            let lost = root.make("Folder")
            try root.save()
            root.delete(first)
            root.processPendingChanges()
            root.rollback()
            other.make("Folder", ["title": "late", "parent": other.object(with: second.objectID)])
            root.delete(second)
            root.processPendingChanges()
            try other.save()
            lost.setValue("kept", forKey: "title")
            try root.save()
            #expect(try stack.stored("Folder", "title") == ["kept"])
        }
    }
}
