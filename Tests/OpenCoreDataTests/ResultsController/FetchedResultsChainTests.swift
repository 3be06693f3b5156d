import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite(.timeLimit(.minutes(60))) struct FetchedResultsChainTests {
    // GB4, M10: what a child pushes is followed by ID. No object is made, and the store is not asked.
    @Test func aPushIsFollowedWithoutObjectsAndWithoutTheStore() throws {
        let stack = TestStack(), recorder = DifferenceRecorder()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            for number in 0..<50 { stack.root.make("Person", ["name": "p\(100 + number)"]) }
            try stack.root.save()
            stack.root.reset()
            let controller = stack.root.persons("age < 60")
            controller.delegate = recorder
            try controller.performFetch()
            let people = try child.all("Person", sort: "name")
            recorder.ids = people.map(\.objectID)
            people[0].setValue("z", forKey: "name")
            people[1].setValue(80, forKey: "age")
            people[2].setValue(1, forKey: "age")
            child.delete(people[3])
            child.make("Person", ["name": "a"])
            // What the deletion's rules have to know is read before.
            child.processPendingChanges()
            let requests = try stack.requests { try child.save() }
            #expect(requests.map(\.kind) == [] && stack.root.registeredObjects.isEmpty)
            #expect(recorder.differences.count == 1)
            #expect(recorder.ids == (try stack.root.all("Person", "age < 60", sort: "name")).map(\.objectID))
        }
    }

    // M10, GB4: what is told by ID alone is followed, though its object is a fault or was never made.
    @Test func aChangeElsewhereThatIsToldByIDIsFollowed() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        let writer = stack.independent()
        try holding(stack.root, writer) { () throws in
            let people = ["a", "b", "c"].map { writer.make("Person", ["name": $0]) }
            try writer.save()
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            let fault = try #require(controller.fetchedObjects?[0])
            #expect(fault.isFault)
            people[0].setValue("d", forKey: "name")
            people[1].setValue(90, forKey: "age")
            writer.delete(people[2])
            let new = writer.make("Person", ["name": "0"])
            try writer.save()
            let ids = Set((people + [new]).map(\.objectID))
            stack.root.tellOfRefreshed(ids)
            #expect(recorder.shown == Shown(controller) && controller.fetchedObjects?.map(\.objectID) == [new, people[1], people[0]].map(\.objectID))
            #expect(recorder.objects.map(\.type) == [.delete, .insert, .move, .update] && fault.isFault)
        }
    }

    // GB21, N28
    @Test func sectionsAreRightWhileIDsAreTemporaryAndAfterwards() throws {
        let stack = TestStack(), recorder = ResultsRecorder(), childRecorder = ResultsRecorder()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let ofRoot = stack.root.persons(sort: ["nick", "name"], sections: "nick")
            let ofChild = child.persons(sort: ["nick", "name"], sections: "nick")
            for (controller, recorder) in [(ofRoot, recorder), (ofChild, childRecorder)] {
                controller.delegate = recorder
                try controller.performFetch()
            }
            let people = [("a", "x"), ("b", "y"), ("c", "x")].map { child.make("Person", ["name": $0.0, "nick": $0.1]) }
            child.processPendingChanges()
            func sections(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
                (controller.sections ?? []).map { section in
                    "\(section.name): " + (section.objects ?? []).map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }.joined()
                }
            }
            let expected = ["x: ac", "y: b"]
            #expect(people.allSatisfy { $0.objectID.isTemporaryID } && sections(ofChild) == expected && sections(ofRoot).isEmpty)
            try child.save()
            #expect(people.allSatisfy { $0.objectID.isTemporaryID } && sections(ofChild) == expected && sections(ofRoot) == expected)
            try stack.root.save()
            #expect(people.allSatisfy { !$0.objectID.isTemporaryID } && sections(ofChild) == expected && sections(ofRoot) == expected)
            #expect(ofChild.indexPath(forObject: people[2]) == IndexPath(row: 1, section: 0))
            try ofChild.performFetch()
            #expect(sections(ofChild) == expected && childRecorder.shown == Shown(ofChild) && recorder.shown == Shown(ofRoot))
            people[1].setValue("x", forKey: "nick")
            try child.save()
            #expect(sections(ofChild) == ["x: abc"] && sections(ofRoot) == ["x: abc"] && recorder.shown == Shown(ofRoot))
        }
    }

    // GB23: a worker saves while its parent, which has a controller, is busy; the controller follows when the parent has time.
    @Test func aWorkerSavesWhileTheControllersContextIsBusy() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        let main = stack.child(of: stack.root, name: "main"), worker = stack.child(of: main, name: "worker")
        let controller = main.performAndWait { main.persons(sort: ["nick", "name"], sections: "nick") }
        try main.performAndWait { () throws in
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            let saved = DispatchSemaphore(value: 0)
            worker.perform {
                for number in 0..<100 { worker.make("Person", ["name": "\(number)", "nick": "\(number % 7)"]) }
                #expect(throws: Never.self) { try worker.save() }
                saved.signal()
            }
            // The main context's queue is held here until the worker is through.
            saved.wait()
            #expect(recorder.calls.isEmpty)
        }
        main.performAndWait {
            #expect(controller.fetchedObjects?.count == 100 && controller.sections?.count == 7 && recorder.shown == Shown(controller))
        }
    }

    // GB23: a controller in a child fetches, and its delegate saves, while the parent's queue is busy.
    @Test func aControllerFetchesWhileItsParentsQueueIsBusy() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        let child = stack.child(of: stack.root)
        stack.root.performAndWait {
            stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            let done = DispatchSemaphore(value: 0)
            child.perform {
                let controller = child.persons()
                controller.delegate = recorder
                #expect(throws: Never.self) { try controller.performFetch() }
                recorder.shown = Shown(controller)
                recorder.onDidChange = { #expect(throws: Never.self) { try child.save() } }
                child.make("Person", ["name": "Bob"])
                child.processPendingChanges()
                #expect(controller.names == ["Ada", "Bob"] && recorder.shown == Shown(controller) && !child.hasChanges)
                done.signal()
            }
            done.wait()
        }
    }

    // GB28: while the root is busy adding the store, a controller fails at once instead of hanging; then it works.
    @MainActor @Test func aControllerOnTheMainQueueDoesNotHangWhileTheRootAddsItsStore() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let root = NSManagedObjectContext(.privateQueueConcurrencyType), main = NSManagedObjectContext(.mainQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        main.parent = root
        let begun = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        root.enqueue {
            begun.signal()
            goOn.wait()
            coordinator.add(InMemoryStore(entities: coordinator.managedObjectModel.entities))
        }
        begun.wait()
        let controller = main.persons()
        let error = #expect(throws: NSError.self) { try controller.performFetch() }
        #expect(error?.code == 134060)
        goOn.signal()
        root.performAndWait {}
        main.make("Person", ["name": "Ada"])
        try controller.performFetch()
        #expect(controller.names == ["Ada"])
    }

    // C16, V2: on the main queue, changes are reported at the end of the turn.
    @MainActor @Test func aMainQueueContextReportsAtTheEndOfItsTurn() async throws {
        let stack = TestStack(root: .mainQueueConcurrencyType), recorder = ResultsRecorder()
        let controller = stack.root.persons()
        controller.delegate = recorder
        try controller.performFetch()
        recorder.shown = Shown(controller)
        stack.root.make("Person", ["name": "Ada"])
        stack.root.make("Person", ["name": "Bob"])
        #expect(recorder.calls.isEmpty)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(recorder.lines == ["insert - 0.0", "insert - 0.1"] && recorder.shown == Shown(controller))
    }

    // N35, V3: a push that the parent threw away again leaves the results.
    @Test func aPushThatIsRolledBackLeavesTheResults() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            child.make("Person", ["name": "Ada"])
            try child.save()
            #expect(recorder.lines == ["insert - 0.0"])
            stack.root.rollback()
            #expect(controller.fetchedObjects?.isEmpty == true && recorder.lines == ["delete 0.0 -"])
        }
    }
}
