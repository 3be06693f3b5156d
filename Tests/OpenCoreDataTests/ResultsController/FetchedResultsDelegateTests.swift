import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct FetchedResultsDelegateTests {
    // V2
    @Test func changeTypesHaveApplesRawValues() {
        let types: [NSFetchedResultsChangeType] = [.insert, .delete, .move, .update]
        #expect(types.map(\.rawValue) == [1, 2, 3, 4])
    }

    // V2
    @Test func sectionsAreReportedBeforeObjectsBetweenWillAndDid() throws {
        try ResultsFixture.use("a1", "b1", "c1") { fixture in
            fixture.stack.root.delete(try #require(fixture.people["b1"]))
            fixture.stack.root.make("Person", ["name": "d1", "nick": "d"])
            fixture.process()
            #expect(fixture.recorder.calls == ["will", "section", "section", "object", "object", "did"])
            #expect(fixture.recorder.sections.map(\.name) == ["b", "d"] && fixture.recorder.sections.map(\.index) == [1, 2])
            #expect(fixture.recorder.sections.map(\.type) == [.delete, .insert] && fixture.recorder.sections.map(\.count) == [1, 1])
            #expect(fixture.recorder.lines == ["delete 1.0 -", "insert - 2.0"])
            #expect(fixture.recorder.shown == Shown(fixture.controller))
        }
    }

    // V2
    @Test func anUpdateThatChangesNoPlaceIsAnUpdate() throws {
        try ResultsFixture.use("a1", "a2", "a3") { fixture in
            fixture.set("a2", "age", 40)
            fixture.process()
            #expect(fixture.recorder.calls == ["will", "object", "did"] && fixture.recorder.lines == ["update 0.1 0.1"])
            // Another name, and still between the others.
            fixture.set("a2", "name", "a22")
            fixture.process()
            #expect(fixture.recorder.lines == ["update 0.1 0.1"])
        }
    }

    // V2
    @Test func aMoveImpliesAnUpdate() throws {
        try ResultsFixture.use("a1", "a2", "a3", "b1") { fixture in
            fixture.set("a1", "name", "a4")
            fixture.process()
            #expect(fixture.recorder.lines == ["move 0.0 0.2"])
            fixture.set("a2", "nick", "b")
            fixture.process()
            #expect(fixture.recorder.lines == ["move 0.0 1.0"] && fixture.recorder.sections.isEmpty)
            fixture.set("b1", "nick", "c")
            fixture.process()
            #expect(fixture.recorder.lines == ["move 1.1 2.0"] && fixture.recorder.sections.map(\.type) == [.insert])
            #expect(fixture.recorder.shown == Shown(fixture.controller))
        }
    }

    // V2
    @Test func anUpdateBelowAnInsertionSaysBothPlaces() throws {
        try ResultsFixture.use("a2", "a3") { fixture in
            fixture.stack.root.make("Person", ["name": "a1", "nick": "a"])
            fixture.set("a3", "age", 1)
            fixture.process()
            #expect(fixture.recorder.lines == ["insert - 0.0", "update 0.1 0.2"])
        }
    }

    // V2
    @Test func twoThatChangePlacesAreOneMoveAndOneUpdate() throws {
        try ResultsFixture.use("a1", "a2") { fixture in
            fixture.set("a1", "name", "a2")
            fixture.set("a2", "name", "a1")
            fixture.process()
            #expect(fixture.recorder.objects.map(\.type) == [.move, .update])
            #expect(fixture.recorder.shown == Shown(fixture.controller) && fixture.controller.names == ["a1", "a2"])
        }
    }

    // V2: sections that change places are deleted and inserted, and what is in them moves.
    @Test func sectionsThatChangePlacesTakeTheirObjectsAlong() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let first = stack.root.make("Department", ["name": "first", "budget": 1.0])
            let second = stack.root.make("Department", ["name": "second", "budget": 2.0])
            for (name, department) in [("a", first), ("b", first), ("c", second)] {
                stack.root.make("Person", ["name": name, "department": department])
            }
            let controller = stack.root.persons(sort: ["department.budget", "name"], sections: "department.name")
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            stack.root.processPendingChanges()
            first.setValue(3.0, forKey: "budget")
            stack.root.processPendingChanges()
            #expect(controller.sections?.map(\.name) == ["second", "first"] && controller.names == ["c", "a", "b"])
            #expect(Set(recorder.sections.map(\.type)) == [.delete, .insert] && recorder.objects.allSatisfy { $0.type == .move })
            #expect(recorder.shown == Shown(controller))
        }
    }

    // V3
    @Test func aChangeAcrossAKeyPathIsFollowed() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let sales = stack.root.make("Department", ["name": "Sales"]), lab = stack.root.make("Department", ["name": "Lab"])
            stack.root.make("Person", ["name": "Ada", "department": sales])
            stack.root.make("Person", ["name": "Bob", "department": lab])
            try stack.root.save()
            let controller = stack.root.persons("department.name == 'Sales' OR ANY department.employees.age > 60")
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            #expect(controller.names == ["Ada"])
            lab.setValue("Sales", forKey: "name")
            stack.root.processPendingChanges()
            #expect(controller.names == ["Ada", "Bob"] && recorder.lines == ["insert - 0.1"])
            sales.setValue("Old", forKey: "name")
            stack.root.processPendingChanges()
            #expect(controller.names == ["Bob"])
            stack.root.make("Person", ["name": "Cid", "age": 70, "department": sales])
            stack.root.processPendingChanges()
            #expect(controller.names == ["Ada", "Bob", "Cid"] && recorder.shown == Shown(controller))
            // The store would answer by what is saved: the first fetch of another controller looks at the unsaved values too.
            let second = stack.root.persons("department.name == 'Sales'")
            try second.performFetch()
            #expect(second.names == ["Bob"])
            try stack.root.save()
            try second.performFetch()
            #expect(second.names == ["Bob"])
        }
    }

    // V4
    @Test func aDifferenceReplacesTheOtherMethods() throws {
        let stack = TestStack(), recorder = DifferenceRecorder()
        try stack.root.performAndWait { () throws in
            let people = ["a", "b", "c"].map { stack.root.make("Person", ["name": $0]) }
            try stack.root.save()
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.ids = people.map(\.objectID)
            people[0].setValue("d", forKey: "name")
            stack.root.delete(people[1])
            let new = stack.root.make("Person", ["name": "e"])
            stack.root.processPendingChanges()
            #expect(recorder.differences.count == 1 && recorder.others == 0)
            #expect(recorder.ids == [people[2], people[0], new].map(\.objectID) && controller.fetchedObjects == [people[2], people[0], new])
            // What only changed its values is a move to its own place.
            people[2].setValue(99, forKey: "age")
            stack.root.processPendingChanges()
            #expect(Array(recorder.differences[1]).count == 2 && recorder.ids == controller.fetchedObjects?.map(\.objectID))
            stack.root.make("Department")
            stack.root.processPendingChanges()
            #expect(recorder.differences.count == 2)
        }
    }

    // V4
    @Test func withSectionsTheOtherMethodsAreCalled() throws {
        let stack = TestStack(), recorder = DifferenceRecorder()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons(sort: ["nick"], sections: "nick")
            controller.delegate = recorder
            try controller.performFetch()
            stack.root.make("Person", ["nick": "x"])
            stack.root.processPendingChanges()
            #expect(recorder.differences.isEmpty && recorder.others == 2)
        }
    }

    // V4: a delegate without the method is told the other way, from the start and once.
    @Test func aDelegateWithoutDifferencesSeesTheChangeFromItsStart() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            for name in ["a", "b", "c"] {
                stack.root.make("Person", ["name": name])
                stack.root.processPendingChanges()
                #expect(recorder.calls == ["will", "object", "did"] && recorder.shown == Shown(controller))
            }
            #expect(controller.names == ["a", "b", "c"])
        }
    }

    // V2
    @Test func theDelegateIsHandedAnEqualController() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons("age > 1")
            let other = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            let seen = try #require(recorder.lastController)
            #expect(seen == controller && seen != other && seen.hash == controller.hash)
            #expect(seen.fetchedObjects?.count == 1 && seen.delegate === recorder && seen.managedObjectContext === stack.root)
            #expect(seen.fetchRequest.predicate === controller.fetchRequest.predicate)
            #expect(seen.fetchRequest.entityName == "Person" && seen.fetchRequest.sortDescriptors?.count == 1)
            #expect((seen.object(at: IndexPath(row: 0, section: 0)) as? NSManagedObject) === controller.fetchedObjects?[0])
            // A controller that does not say what its results are is handed in itself.
            let plain = NSFetchedResultsController<any NSFetchRequestResult>(
                fetchRequest: seen.fetchRequest, managedObjectContext: stack.root, sectionNameKeyPath: nil, cacheName: nil)
            let second = ResultsRecorder()
            plain.delegate = second
            try plain.performFetch()
            second.shown = Shown(plain)
            stack.root.make("Person", ["name": "Bob"])
            stack.root.processPendingChanges()
            #expect(second.lastController === plain)
        }
    }

    // V1
    @Test func withoutADelegateTheResultsStayAsTheyWereFetched() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            let controller = stack.root.persons()
            try controller.performFetch()
            stack.root.make("Person", ["name": "Bob"])
            stack.root.processPendingChanges()
            #expect(controller.names == ["Ada"])
            var recorder: ResultsRecorder? = ResultsRecorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder = nil
            stack.root.make("Person", ["name": "Cid"])
            stack.root.processPendingChanges()
            #expect(controller.delegate == nil && controller.names == ["Ada", "Bob"])
        }
    }

    // V2: the context does not keep a controller alive, nor do the results keep each other.
    @Test func aControllerIsFreedWhenItsOwnerLetsItGo() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            weak var gone: NSFetchedResultsController<NSManagedObject>?
            try { () throws in
                let controller = stack.root.persons(sort: ["nick"], sections: "nick")
                controller.delegate = recorder
                try controller.performFetch()
                recorder.shown = Shown(controller)
                stack.root.make("Person", ["nick": "a"])
                stack.root.processPendingChanges()
                #expect(recorder.calls.count == 4 && controller.sections?.count == 1)
                gone = controller
            }()
            #expect(gone == nil)
            recorder.forget()
            stack.root.make("Person", ["nick": "b"])
            stack.root.processPendingChanges()
            #expect(recorder.calls.isEmpty)
        }
    }

    // V2: what a delegate changes is told when it has heard everything of what came before.
    @Test func aDelegateMayChangeAndSave() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            var rounds = 0
            recorder.onDidChange = {
                rounds += 1
                guard rounds < 4 else { return }
                stack.root.make("Person", ["name": "made in round \(rounds)"])
                #expect(throws: Never.self) { try stack.root.save() }
            }
            stack.root.make("Person", ["name": "first"])
            stack.root.processPendingChanges()
            #expect(rounds == 4 && controller.names.count == 4 && recorder.shown == Shown(controller))
        }
    }
}
