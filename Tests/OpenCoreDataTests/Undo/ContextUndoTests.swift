import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ContextUndoTests {
    /// A stack with a saved person, `nobody` of 18, and an undo manager.
    private func withPerson(_ body: (TestStack, NSManagedObjectContext, Person) throws -> Void) throws {
        let stack = TestStack(), context = stack.root
        try context.performAndWait { () throws in
            let person = Person(context: context)
            try context.save()
            context.undoManager = UndoManager()
            try body(stack, context, person)
        }
    }

    // U1
    @Test func thereIsNoUndoManagerAtFirst() {
        #expect(TestStack().root.undoManager == nil)
    }

    // U2
    @Test func eachProcessedEventIsAGroup() throws {
        try withPerson { (_, context, ada) throws in
            ada.name = "Ada"
            ada.age = 30
            context.processPendingChanges()
            ada.age = 40
            context.processPendingChanges()
            context.undo()
            #expect(ada.name == "Ada" && ada.age == 30)
            context.undo()
            #expect(ada.name == "nobody" && ada.age == 18 && context.undoManager?.canUndo == false)
        }
    }

    // U2
    @Test func undoOfAnInsertionTakesTheObjectAwayAndRedoBringsTheSameOneBack() throws {
        try withPerson { (_, context, _) throws in
            let ida = Person(context: context)
            ida.name = "Ida"
            let id = ida.objectID
            context.undo()
            #expect(ida.isDeleted && !context.hasChanges)
            #expect(try context.names("Person") == ["nobody"])
            context.redo()
            #expect(ida.isInserted && ida.name == "Ida" && context.object(with: id) === ida)
            try context.save()
            #expect(try context.names("Person") == ["Ida", "nobody"])
        }
    }

    // U2
    @Test func undoAfterASaveWritesTheDeletedObjectAgain() throws {
        try withPerson { (stack, context, ada) throws in
            let skill = context.make("Skill")
            ada.skills = [skill]
            try context.save()
            let id = ada.objectID
            context.delete(ada)
            try context.save()
            #expect(ada.managedObjectContext == nil)
            context.undo()
            #expect(ada.isInserted && ada.managedObjectContext === context && ada.objectID == id && ada.skills == [skill])
            try context.save()
            let fresh = stack.independent()
            try fresh.performAndWait { () throws in
                let again = try #require(fresh.all("Person").first)
                #expect(again.objectID == id && again.objectIDs(forRelationshipNamed: "skills") == [skill.objectID])
            }
            context.redo()
            #expect(ada.isDeleted)
            try context.save()
            #expect(try stack.stored("Person", "name").isEmpty)
        }
    }

    // U2
    @Test func undoAfterASaveDeletesTheInsertedObject() throws {
        try withPerson { (stack, context, _) throws in
            let ida = Person(context: context)
            try context.save()
            context.undo()
            #expect(ida.isDeleted && context.hasChanges)
            try context.save()
            #expect(try stack.stored("Person", "name").count == 1)
        }
    }

    // U2
    @Test func anOrderComesBack() throws {
        try withPerson { (_, context, _) throws in
            let list = context.make("Playlist"), tracks = (0..<4).map { _ in context.make("Track") }
            list.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            try context.save()
            list.mutableOrderedSetValue(forKey: "tracks").removeObject(at: 1)
            try context.save()
            list.setValue(NSOrderedSet(array: [tracks[3], tracks[0]]), forKey: "tracks")
            try context.save()
            context.undo()
            #expect(list.objectIDs(forRelationshipNamed: "tracks") == [0, 2, 3].map { tracks[$0].objectID })
            context.undo()
            #expect(list.objectIDs(forRelationshipNamed: "tracks") == tracks.map(\.objectID))
        }
    }

    // U2
    @Test func undoTouchesNothingThatTheEventDidNot() throws {
        try withPerson { (stack, context, ada) throws in
            ada.name = "Ada"
            context.processPendingChanges()
            let worker = stack.child(of: context)
            try worker.performAndWait { () throws in
                (worker.object(with: ada.objectID) as? Person)?.age = 77
                try worker.save()
            }
            context.undo()
            #expect(ada.name == "nobody" && ada.age == 77 && ada.isUpdated)
            try context.save()
            #expect(try stack.stored("Person", "age") == [Int64(77)])
        }
    }

    // U2
    @Test func undoOfAnInsertionLetsGoOfWhatAChildRelatedToIt() throws {
        try withPerson { (stack, context, ada) throws in
            let looms = Department(context: context)
            context.processPendingChanges()
            let worker = stack.child(of: context)
            try worker.performAndWait { () throws in
                let person = worker.object(with: ada.objectID) as? Person
                person?.department = worker.object(with: looms.objectID) as? Department
                try worker.save()
            }
            #expect(ada.department == looms)
            context.undo()
            #expect(ada.department == nil)
            try context.save()
            #expect(try stack.stored("Department", "name").isEmpty)
        }
    }

    // U4
    @Test(arguments: [true, false]) func rollbackAndResetForgetWhatCouldBeUndone(_ isRollback: Bool) throws {
        try withPerson { (stack, context, ada) throws in
            ada.name = "Ada"
            context.processPendingChanges()
            ada.age = 50
            context.undo()
            #expect(context.undoManager?.canUndo == true && context.undoManager?.canRedo == true)
            if isRollback { context.rollback() } else { context.reset() }
            #expect(context.undoManager?.canUndo == false && context.undoManager?.canRedo == false)
            context.undo()
            context.redo()
            #expect(!context.hasChanges)
            #expect(try stack.stored("Person", "name") == ["nobody"])
        }
    }

    // U4
    @Test func rollbackWorksWithoutAnUndoManager() throws {
        try withPerson { (_, context, ada) throws in
            context.undoManager = nil
            ada.name = "Ada"
            context.undo()
            #expect(ada.name == "Ada")
            context.rollback()
            #expect(ada.name == "nobody")
        }
    }

    // U5
    @Test func redoOfAnInsertionCallsAwakeFromInsertAgainAndKeepsTheValues() throws {
        let stack = TestStack(HookedObject.model()), context = stack.root
        try context.performAndWait { () throws in
            context.undoManager = UndoManager()
            let object = HookedObject(context: context)
            object.stamp = nil
            object.name = "named"
            context.undo()
            object.forgetCalls()
            context.redo()
            #expect(object.calls == ["awakeFromInsert(named)"])
            #expect(object.stamp == nil && object.name == "named")
            try context.save()
            #expect(try stack.stored("Hooked", "name") == ["named"])
        }
    }

    // U2, T1
    @Test func undoPostsWhatItChanged() throws {
        try withPerson { (_, context, ada) throws in
            ada.name = "Ada"
            context.processPendingChanges()
            let ida = Person(context: context)
            context.processPendingChanges()
            let recorder = NotificationRecorder(context, .NSManagedObjectContextObjectsDidChange)
            context.undo()
            #expect(recorder.objects(NSDeletedObjectsKey) == [ida])
            context.redo()
            #expect(recorder.objects(NSInsertedObjectsKey) == [ida])
            context.undo()
            context.undo()
            #expect(recorder.objects(NSUpdatedObjectsKey) == [ada] && recorder.count == 4)
        }
    }

    // U2
    @Test func aGroupOfOnesOwnTakesInWhatIsChangedInIt() throws {
        try withPerson { (_, context, ada) throws in
            let manager = try #require(context.undoManager)
            ada.age = 20
            manager.beginUndoGrouping()
            ada.name = "Ada"
            context.processPendingChanges()
            ada.nick = "A"
            manager.endUndoGrouping()
            manager.undo()
            #expect(ada.name == "nobody" && ada.nick == nil && ada.age == 20)
            manager.undo()
            #expect(ada.age == 18)
        }
    }

    // U2
    @Test func aDeletionThatCascadesComesBackAsAWhole() throws {
        try withPerson { (stack, context, _) throws in
            let top = context.make("Folder", ["title": "top"]), middle = context.make("Folder", ["title": "middle", "parent": top])
            let leaf = context.make("Folder", ["title": "leaf", "parent": middle])
            try context.save()
            context.delete(top)
            context.processPendingChanges()
            #expect(leaf.isDeleted)
            context.undo()
            #expect(!context.hasChanges && !leaf.isDeleted && middle.value(forKey: "parent") as? NSManagedObject == top)
            context.redo()
            try context.save()
            #expect(try stack.stored("Folder", "title").isEmpty)
        }
    }

    // U2
    @Test func theManagerDoesNotKeepItsContextAlive() throws {
        let manager = UndoManager()
        weak var gone: NSManagedObjectContext?
        do {
            let stack = TestStack()
            gone = stack.root
            stack.root.performAndWait {
                stack.root.undoManager = manager
                _ = Person(context: stack.root)
                stack.root.processPendingChanges()
                #expect(manager.canUndo)
            }
        }
        #expect(gone == nil && !manager.canUndo)
        manager.undo()
    }
}
