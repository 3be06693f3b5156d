import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct NestedSavingTests {
    // N5, R1
    @Test func aPushedObjectKeepsItsIDAndItsRelationships() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let department = child.make("Department", ["name": "Looms"])
            let ada = child.make("Person", ["name": "Ada", "department": department]), bob = child.make("Person", ["name": "Bob", "manager": ada])
            let skill = child.make("Skill", ["name": "weaving", "people": Set([ada, bob])])
            let list = child.make("Playlist")
            let tracks = ["c", "a", "b"].map { child.make("Track", ["title": $0]) }
            list.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            try child.save()

            let pushed = try #require(stack.root.existingObject(with: ada.objectID) as? Person)
            #expect(pushed.objectID == ada.objectID)
            #expect(pushed.name == "Ada")
            #expect(pushed.department?.objectID == department.objectID)
            #expect(Set(pushed.department?.employees.map(\.name) ?? []) == ["Ada"])
            #expect(pushed.reports.map(\.name) == ["Bob"])
            #expect(pushed.skills.map(\.objectID) == [skill.objectID])
            let people = stack.root.object(with: skill.objectID).value(forKey: "people") as? Set<NSManagedObject>
            #expect(Set((people ?? []).map(\.objectID)) == [ada.objectID, bob.objectID])
            let order = stack.root.object(with: list.objectID).value(forKey: "tracks") as? NSOrderedSet
            #expect(order?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["c", "a", "b"])
        }
    }

    // N6, A6
    @Test func transientValuesArePushedToo() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let ada = child.make("Person", ["name": "Ada", "note": "from the child"])
            try child.save()
            #expect(stack.root.object(with: ada.objectID).value(forKey: "note") as? String == "from the child")
            ada.setValue("again", forKey: "note")
            try child.save()
            #expect(stack.root.object(with: ada.objectID).value(forKey: "note") as? String == "again")
        }
    }

    // N19
    @Test func whatWasInsertedAndDeletedInAChildLeavesNoTraceInTheParent() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let skill = child.make("Skill", ["name": "weaving"])
            let person = child.make("Person", ["skills": Set([skill])])
            child.processPendingChanges()
            child.delete(person)
            child.delete(skill)
            try child.save()
            #expect(!child.hasChanges && !stack.root.hasChanges)
            #expect(child.registeredObjects.isEmpty)
            #expect(person.managedObjectContext == nil)
            #expect(try stack.root.all("Person").isEmpty)
        }
    }

    // N19
    @Test func deletingWhatIsUnsavedInTheParentRemovesItThere() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            child.delete(child.object(with: ada.objectID))
            try child.save()
            #expect(!stack.root.hasChanges)
            #expect(try stack.root.all("Person").isEmpty)
            #expect(try stack.requests { try stack.root.save() }.isEmpty)
            #expect(ada.managedObjectContext == nil)
        }
    }

    // N20
    @Test func anImportedRowIsValidatedWithoutAnInstance() throws {
        let stack = TestStack()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let id = try child.makeID(for: #require(stack.coordinator.managedObjectModel.entitiesByName["Person"]))
            let row = RowSnapshot.make(id.entity.layout)
            stack.root.insertRow(id, row, set: SlotSet())
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 1570)
            #expect(stack.root.registeredObjects.isEmpty)
        }
    }

    // N23, N37
    @Test func aChildSaveOverwritesOnlyWhatTheChildChanged() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item", ["a": 1, "b": 1])
            try stack.root.save()
            let mine = child.object(with: item.objectID)
            mine.setValue(2, forKey: "a")
            item.setValue(5, forKey: "b")
            try stack.root.save()
            #expect(mine.value(forKey: "b") as? Int == 1)
            try child.save()
            #expect(item.value(forKey: "a") as? Int == 2 && item.value(forKey: "b") as? Int == 5)
            try stack.root.save()
            #expect(try stack.stored("Item", "a") == [2] && stack.stored("Item", "b") == [5])
        }
    }

    // N23
    @Test func unpublishedEditsOfTheParentSurviveAPushOfOtherProperties() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item", ["a": 1, "b": 1])
            try stack.root.save()
            let mine = child.object(with: item.objectID)
            mine.setValue(2, forKey: "a")
            item.setValue(7, forKey: "b")
            try child.save()
            try stack.root.save()
            #expect(try stack.stored("Item", "a") == [2] && stack.stored("Item", "b") == [7])
        }
    }

    // N26
    @Test func aChildLetsGoOfItsObjectsAfterItsSave() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            for number in 0..<10 { child.make("Person", ["name": "\(number)"]) }
            try child.save()
            #expect(child.registeredObjects.isEmpty)
        }
    }

    // N27, GB9
    @Test func anObjectMadeOutsideOfAContextKeepsItsValuesOnTheWayToTheStore() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let entities = stack.coordinator.managedObjectModel.entitiesByName
        let person = try #require(entities["Person"]), department = try #require(entities["Department"])
        try holding(stack.root, child) { () throws in
            let ada = Person(entity: person, insertInto: nil), looms = Department(entity: department, insertInto: nil)
            ada.name = "Ada"
            ada.age = 36
            looms.name = "Looms"
            ada.department = looms
            child.insert(looms)
            child.insert(ada)
            try child.save()
            try stack.root.save()
            #expect(try stack.stored("Person", "name") == ["Ada"] && stack.stored("Person", "age") == [36])
            let found = try #require(stack.independent().performAndWait { try stack.root.all("Department").first } as? Department)
            #expect(found.employees.map(\.name) == ["Ada"])
        }
    }

    // N36
    @Test func aPushOfUpdatesLoadsNothingAndMakesNoInstance() throws {
        let stack = TestStack()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        let ids = try holding(stack.root) { () throws in
            let items = (0..<20).map { stack.root.make("Item", ["a": $0]) }
            try stack.root.save()
            return items.map(\.objectID)
        }
        try holding(stack.root, child) { () throws in
            for id in ids { child.object(with: id).setValue(100, forKey: "a") }
            #expect(try stack.requests { try child.save() }.isEmpty)
            #expect(stack.root.registeredObjects.isEmpty)
            #expect(stack.root.unsavedRowCount == 20)
            try stack.root.save()
        }
        #expect(try Set(stack.stored("Item", "a")) == [100])
    }

    // N33, N34, W5
    @Test func savingThroughAChainOfThreeLevelsWithPerform() async throws {
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main"), root = stack.root
        let workers = (0..<4).map { stack.child(of: main, name: "worker \($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask {
                    for round in 0..<5 {
                        try await worker.perform { () throws -> Void in
                            for number in 0..<10 { worker.make("Item", ["a": round * 10 + number]) }
                            try worker.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await main.perform { () throws -> Void in try main.save() }
        try await root.perform { () throws -> Void in try root.save() }
        #expect(stack.store.rowCount == 200)
    }

    // N35
    @Test func rollbackAndResetOfAChildDoNotTouchTheParent() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            stack.root.processPendingChanges()
            child.object(with: ada.objectID).setValue("Ida", forKey: "name")
            child.make("Person")
            child.rollback()
            #expect(!child.hasChanges)
            #expect(try child.names("Person") == ["Ada"])
            child.delete(child.object(with: ada.objectID))
            child.reset()
            #expect(!child.hasChanges)
            #expect(ada.isInserted && stack.root.insertedObjects == [ada])
        }
    }

    // N35, W3
    @Test func discardingAChildDiscardsItsEdits() throws {
        let stack = TestStack()
        var child: NSManagedObjectContext? = stack.child(of: stack.root)
        weak let gone = child
        child?.performAndWait { _ = child?.make("Person") }
        child = nil
        #expect(gone == nil)
        #expect(try stack.root.performAndWait { try stack.root.all("Person").isEmpty && !stack.root.hasChanges })
    }

    // N20: what the parent changed first and has not published yet was first.
    @Test func aPushGoesOverWhatTheParentHadSetBefore() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            let own = child.object(with: item.objectID)
            own.setValue(9, forKey: "a")
            item.setValue(2, forKey: "a")
            item.setValue(3, forKey: "b")
            try child.save()
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [9, 3])
            // At once: whoever holds the parent's queue need not wait for it.
            try stack.root.save()
            #expect(try stack.stored("Item", "a") == [9])
        }
    }

    // N17, R2: siblings hear of what the parent made of a push, too.
    @Test func aSiblingFollowsWhatTheParentDidToOthersForAPush() throws {
        let stack = TestStack()
        let main = stack.child(of: stack.root, name: "main")
        let first = stack.child(of: main, name: "first"), second = stack.child(of: main, name: "second")
        second.automaticallyMergesChangesFromParent = true
        try holding(stack.root, main, first, second) { () throws in
            let people = (0..<2).map { main.make("Person", ["name": "\($0)"]) }, badge = main.make("Badge")
            try main.save()
            let mine = first.object(with: badge.objectID)
            #expect(mine.value(forKey: "person") == nil)
            second.object(with: people[1].objectID).setValue(second.object(with: badge.objectID), forKey: "badge")
            try second.save()
            first.object(with: people[0].objectID).setValue(mine, forKey: "badge")
            try first.save()
            second.processPendingChanges()
            #expect(second.object(with: people[1].objectID).value(forKey: "badge") == nil)
        }
    }

    // N17, T2: whoever holds the parent's queue sees and hears of a push at once.
    @Test func aPushFromTheParentsQueueIsToldBeforeTheSaveReturns() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
        try holding(stack.root, child) { () throws in
            child.make("Item", ["key": "k"])
            try child.save()
            #expect(recorder.count == 1 && stack.root.insertedObjects.count == 1)
        }
    }
}
