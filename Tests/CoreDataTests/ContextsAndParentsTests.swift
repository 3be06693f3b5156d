import CoreData
import Foundation
import Testing

@Suite struct ContextsAndParentsTests {
    // N1, N2, N3, S2
    @Test func aChildSaveReachesTheParentAndNoFurther() throws {
        let stack = try Stack(), root = stack.root, middle = stack.child(of: root), worker = stack.child(of: middle)
        try worker.performAndWait { () throws in
            worker.make("Person", ["name": "Ada"])
            try worker.save()
            #expect(!worker.hasChanges)
        }
        #expect(!root.performAndWait { root.hasChanges })
        try middle.performAndWait { () throws in
            #expect(middle.hasChanges)
            try middle.save()
            #expect(!middle.hasChanges)
        }
        #expect(root.performAndWait { root.hasChanges })
        #expect(try stack.strings("Person", "name").isEmpty)
        try root.performAndWait { () throws in
            try root.save()
            #expect(!root.hasChanges)
        }
        #expect(try stack.strings("Person", "name") == ["Ada"])
    }

    // N4
    @Test func beforeItsSaveNothingOfAChildIsSeenInTheParent() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let (ada, bob) = try root.performAndWait { () throws in
            let ada = root.make("Person", ["name": "Ada"]), bob = root.make("Person", ["name": "Bob"])
            try root.save()
            return (ada.objectID, bob.objectID)
        }
        try child.performAndWait { () throws in
            child.make("Person", ["name": "Cleo"])
            child.object(with: ada).setValue("Ida", forKey: "name")
            child.delete(child.object(with: bob))
            child.processPendingChanges()
            #expect(try child.names("Person") == ["Cleo", "Ida"])
        }
        try root.performAndWait { () throws in
            #expect(try root.names("Person") == ["Ada", "Bob"])
            #expect(!root.object(with: bob).isDeleted && !root.hasChanges)
        }
    }

    // N6
    @Test func aPushedUpdateReachesAnInstanceThatTheParentHas() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let (ada, id) = try stack.saved("Person", ["name": "Ada", "age": 36])
        try child.performAndWait { () throws in
            child.object(with: id).setValue(37, forKey: "age")
            try child.save()
        }
        root.performAndWait {
            #expect(ada.number("age") == 37)
            #expect(ada.isUpdated && ada.changedValues()["age"] as? Int == 37)
        }
    }

    // N18, N19
    @Test func aChildDeletionReachesTheParentAndLeavesTheRowUntilTheRootSaves() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let (ada, id) = try stack.saved("Person", ["name": "Ada"])
        try child.performAndWait { () throws in
            child.delete(child.object(with: id))
            try child.save()
        }
        root.performAndWait {
            #expect(ada.isDeleted)
            #expect(root.deletedObjects == [ada])
        }
        #expect(try stack.strings("Person", "name") == ["Ada"])
        try root.performAndWait { try root.save() }
        #expect(try stack.strings("Person", "name").isEmpty)
    }

    // N20, N21
    @Test func validationRunsAtEveryLevelAndAFailedChildSaveChangesNothing() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let bad = child.performAndWait { () -> NSManagedObject in
            child.make("Person", ["name": "Ada"])
            let bad = child.make("Person")
            bad.setValue(nil, forKey: "name")
            #expect(child.refusal() == 1570)
            #expect(child.hasChanges && child.insertedObjects.count == 2)
            return bad
        }
        try root.performAndWait { () throws in
            #expect(!root.hasChanges)
            #expect(try root.all("Person").isEmpty)
        }
        let id = try child.performAndWait { () throws in
            bad.setValue("Bob", forKey: "name")
            try child.save()
            return bad.objectID
        }
        root.performAndWait {
            root.object(with: id).setValue(nil, forKey: "name")
            #expect(root.refusal() == 1570)
        }
        #expect(try stack.strings("Person", "name").isEmpty)
    }

    /// An item whose numbers are 1, saved in the context.
    private func item(in context: NSManagedObjectContext) throws -> NSManagedObject {
        try context.performAndWait { () throws in
            let item = context.make("Item", ["a": 1, "b": 1, "c": 1])
            try context.save()
            return item
        }
    }

    // N23, W4
    @Test func inTheParentTheLastWriterWinsByProperty() throws {
        let stack = try Stack(), root = stack.root, first = stack.child(of: root), second = stack.child(of: root)
        let item = try item(in: root), id = root.performAndWait { item.objectID }
        first.performAndWait {
            first.object(with: id).setValue(2, forKey: "a")
            first.object(with: id).setValue(2, forKey: "c")
        }
        second.performAndWait {
            second.object(with: id).setValue(3, forKey: "b")
            second.object(with: id).setValue(3, forKey: "c")
        }
        try first.performAndWait { try first.save() }
        try second.performAndWait { try second.save() }
        try root.performAndWait { () throws in
            #expect(["a", "b", "c"].map { item.number($0) } == [2, 3, 3])
            try root.save()
        }
        #expect(try ["a", "b", "c"].flatMap { try stack.numbers("Item", $0) } == [2, 3, 3])
    }

    // N12
    @Test func aChildDoesNotSeeLaterChangesOfWhatItHasRead() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let (ada, id) = try stack.saved("Person", ["name": "Ada"])
        let mine = child.performAndWait {
            let mine = child.object(with: id)
            #expect(mine.string("name") == "Ada")
            return mine
        }
        root.performAndWait {
            ada.setValue("Ida", forKey: "name")
            root.processPendingChanges()
        }
        #expect(child.performAndWait { mine.string("name") } == "Ada")
        try root.performAndWait { try root.save() }
        child.performAndWait {
            #expect(mine.string("name") == "Ada")
            child.refresh(mine, mergeChanges: false)
            #expect(mine.string("name") == "Ida")
        }
    }

    // N14, F2
    @Test func aFetchInAChildSeesTheUnsavedChangesOfEveryParent() throws {
        let stack = try Stack(), root = stack.root, middle = stack.child(of: root), worker = stack.child(of: middle)
        let ids = try root.performAndWait { () throws in
            let stored = ["A", "B", "C", "D"].map { root.make("Person", ["name": $0]) }
            try root.save()
            stored[0].setValue("A root", forKey: "name")
            root.processPendingChanges()
            return stored.map(\.objectID)
        }
        middle.performAndWait {
            middle.delete(middle.object(with: ids[1]))
            middle.make("Person", ["name": "E middle"])
            middle.processPendingChanges()
        }
        try worker.performAndWait { () throws in
            worker.object(with: ids[2]).setValue("C worker", forKey: "name")
            worker.make("Person", ["name": "F worker"])
            #expect(try worker.names("Person") == ["A root", "C worker", "D", "E middle", "F worker"])
            #expect(try worker.names("Person", "name ENDSWITH 'worker'") == ["C worker", "F worker"])
            #expect(try worker.names("Person", "name == 'C'").isEmpty)
        }
        #expect(try middle.performAndWait { try middle.names("Person") } == ["A root", "C", "D", "E middle"])
        #expect(try root.performAndWait { try root.names("Person") } == ["A root", "B", "C", "D"])
    }
}
