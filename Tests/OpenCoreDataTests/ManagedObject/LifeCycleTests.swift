import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct LifeCycleTests {
    private func hooked(_ body: (TestStack, HookedObject) throws -> Void) throws {
        let stack = TestStack(HookedObject.model())
        try stack.root.performAndWait { try body(stack, HookedObject(context: stack.root)) }
    }

    // L1
    @Test func thereAreThreeWaysToInsert() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let person = try #require(NSEntityDescription.insertNewObject(forEntityName: "Person", into: stack.root) as? Person)
            let second = Person(entity: person.entity, insertInto: stack.root), third = Engineer(context: stack.root)
            #expect(stack.root.insertedObjects == [person, second, third])
            #expect(third.entity.name == "Engineer" && third.managedObjectContext === stack.root)
        }
    }

    // L2
    @Test func defaultsAreSetBeforeAwakeFromInsertWhichIsCalledOnce() throws {
        try hooked { (stack, object) throws in
            try stack.root.save()
            #expect(object.calls.filter { $0.hasPrefix("awake") } == ["awakeFromInsert(new)"])
        }
    }

    // N22, GB12, GB38
    @Test func awakeFromInsertIsNotCalledAgainWhereTheInsertIsPushed() throws {
        let stack = TestStack(HookedObject.model())
        let middle = stack.child(of: stack.root), worker = stack.child(of: middle)
        try holding(stack.root, middle, worker) { () throws in
            let object = HookedObject(context: worker)
            object.stamp = "the worker's"
            object.name = "named"
            try worker.save()
            try middle.save()
            for context in [middle, stack.root] {
                let pushed = try #require(context.existingObject(with: object.objectID) as? HookedObject)
                #expect(!pushed.calls.contains { $0.hasPrefix("awakeFromInsert") })
                #expect(pushed.name == "named")
            }
            try stack.root.save()
            #expect(try stack.stored("Hooked", "stamp") == ["the worker's"])
        }
    }

    // L3
    @Test func aNewObjectIsInsertedUntilItIsSaved() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            #expect(ada.isInserted && !ada.isUpdated && !ada.isDeleted && ada.hasChanges && ada.objectID.isTemporaryID)
            try stack.root.save()
            #expect(!ada.isInserted && !ada.isUpdated && !ada.isDeleted && !ada.hasChanges && !ada.objectID.isTemporaryID)
        }
    }

    // L4, L5, L6, L8
    @Test func changedAndCommittedValues() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            ada.name = "Ada"
            try stack.root.save()
            #expect(ada.changedValues().isEmpty && !ada.isUpdated)
            ada.name = "Ida"
            ada.nick = "I"
            #expect(ada.isUpdated && ada.hasPersistentChangedValues)
            #expect(ada.changedValues() as? [String: String] == ["name": "Ida", "nick": "I"])
            #expect(ada.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Ada"])
            #expect(Set(ada.committedValues(forKeys: nil).keys) == ["name", "age", "nick", "department", "manager", "badge", "reports", "skills"])
            try stack.root.save()
            #expect(ada.changedValues().isEmpty && !ada.isUpdated)
            #expect(ada.committedValues(forKeys: ["name"]) as? [String: String] == ["name": "Ida"])
        }
    }

    // L5
    @Test func changedValuesFireNoFault() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let id = try saved(Person(context: stack.root))
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let fault = stack.root.object(with: id)
            let requests = stack.requests { #expect(fault.changedValues().isEmpty) }
            #expect(requests.isEmpty && fault.isFault)
        }
    }

    private func saved(_ object: NSManagedObject) throws -> NSManagedObjectID {
        try object.managedObjectContext?.save()
        return object.objectID
    }

    // L8
    @Test func aValueSetAndSetBackIsNoPersistentChange() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            ada.name = "Ada"
            try stack.root.save()
            ada.name = "Ida"
            ada.name = "Ada"
            #expect(ada.hasChanges && !ada.hasPersistentChangedValues && ada.changedValues().isEmpty)
            ada.note = "only here"
            #expect(ada.hasChanges && !ada.hasPersistentChangedValues)
        }
    }

    // L9
    @Test func primitiveValuesBypassTracking() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root), looms = Department(context: stack.root)
            ada.setPrimitiveValue("Ada", forKey: "name")
            try stack.root.save()
            #expect(try stack.stored("Person", "name") == ["Ada"])
            ada.setPrimitiveValue("Ida", forKey: "name")
            ada.setPrimitiveValue(looms, forKey: "department")
            #expect(ada.name == "Ida" && ada.primitiveValue(forKey: "name") as? String == "Ida")
            #expect(ada.changedValues().isEmpty && !ada.isUpdated && !stack.root.hasChanges)
            #expect(!looms.isUpdated)
        }
    }

    // L10
    @Test func lookingUpByID() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let id = try saved(Person(context: stack.root))
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            #expect(stack.root.registeredObject(for: id) == nil)
            let requests = stack.requests { #expect(stack.root.object(with: id).isFault) }
            #expect(requests.isEmpty)
            let object = try stack.root.existingObject(with: id)
            #expect(!object.isFault && stack.root.registeredObject(for: id) === object)
            stack.root.delete(object)
            try stack.root.save()
            let error = #expect(throws: NSError.self) { try stack.root.existingObject(with: id) }
            #expect(error?.code == 133000)
        }
    }

    // L10, L24
    @Test func aFaultWhoseRowIsGoneReadsAsDeleted() throws {
        let stack = TestStack()
        let other = stack.independent()
        try holding(stack.root, other) { () throws in
            let ada = Person(context: stack.root)
            try stack.root.save()
            let fault = try #require(other.object(with: ada.objectID) as? Person)
            stack.root.delete(ada)
            try stack.root.save()
            #expect(fault.nick == nil && fault.isDeleted)
        }
    }

    // L10, L24, E2
    @Test func aFaultWhoseRowIsGoneStopsTheProgramWhereThatIsAsked() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let other = stack.independent()
            try holding(stack.root, other) { () throws in
                other.shouldDeleteInaccessibleFaults = false
                let ada = Person(context: stack.root)
                try stack.root.save()
                let fault = other.object(with: ada.objectID)
                stack.root.delete(ada)
                try stack.root.save()
                _ = fault.value(forKey: "name")
            }
        }.trap(says: "could not fulfil a fault for")
    }

    // L12
    @Test func aFaultFiresOnceAndAwakeFromFetchDirtiesNothing() throws {
        try hooked { (stack, object) throws in
            object.name = "one"
            let id = try saved(object)
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let again = try #require(stack.root.object(with: id) as? HookedObject)
            let requests = stack.requests {
                #expect(again.name == "one")
                #expect(again.stamp == "fetched")
            }
            #expect(requests.map(\.kind) == ["rows(1)"])
            #expect(again.calls == ["awakeFromFetch"])
            #expect(!stack.root.hasChanges && !again.hasChanges && again.changedValues().isEmpty)
        }
    }

    // L17
    @Test func changesMadeInWillSaveAreSavedAndMakeAnotherRound() throws {
        try hooked { (stack, object) throws in
            object.onWillSave = { object in
                if object.stamp != "saved" { object.stamp = "saved" }
            }
            object.forgetCalls()
            try stack.root.save()
            #expect(object.calls == ["willSave", "willSave", "didSave"])
            #expect(try stack.stored("Hooked", "stamp") == ["saved"])
        }
    }

    // L17
    @Test func willSaveThatNeverSettlesIsAnError() throws {
        try hooked { (stack, object) throws in
            object.onWillSave = { $0.stamp = UUID().uuidString }
            #expect(throws: NSError.self) { try stack.root.save() }
            #expect(stack.root.hasChanges && stack.store.rowCount == 0)
        }
    }

    // L18
    @Test func settersInDidSaveDirtyTheContextAgain() throws {
        try hooked { (stack, object) throws in
            object.onDidSave = { $0.stamp = "after" }
            try stack.root.save()
            #expect(stack.root.hasChanges && object.isUpdated && object.changedValues()["stamp"] as? String == "after")
            object.onDidSave = nil
            try stack.root.save()
            #expect(!stack.root.hasChanges)
            #expect(try stack.stored("Hooked", "stamp") == ["after"])
        }
    }

    // L18, L19, L20
    @Test func aDeletedObjectIsToldAndLeavesItsContext() throws {
        try hooked { (stack, object) throws in
            try stack.root.save()
            object.forgetCalls()
            stack.root.delete(object)
            stack.root.delete(object)
            #expect(object.isDeleted && object.managedObjectContext === stack.root)
            try stack.root.save()
            #expect(object.calls == ["prepareForDeletion", "prepareForDeletion", "willSave", "didSave"])
            #expect(object.managedObjectContext == nil && !object.isDeleted)
        }
    }

    // L21
    @Test func rollbackRestoresEverythingWithoutFetching() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = Department(context: stack.root), ada = Person(context: stack.root), bob = Person(context: stack.root)
            ada.name = "Ada"
            ada.department = looms
            try stack.root.save()
            #expect(looms.employees == [ada])
            ada.name = "Ida"
            ada.department = nil
            stack.root.delete(bob)
            let new = Person(context: stack.root)
            stack.root.processPendingChanges()
            #expect(stack.requests { stack.root.rollback() }.isEmpty)
            #expect(!stack.root.hasChanges && !bob.isDeleted && !ada.hasChanges && new.managedObjectContext == nil)
            #expect(ada.name == "Ada" && ada.department == looms && looms.employees == [ada])
            #expect(try stack.root.all("Person").count == 2)
        }
    }

    // L21
    @Test func aDeletedFaultIsThereAgainAfterRollback() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let id = try saved(Person(context: stack.root))
            stack.root.reset()
            let fault = stack.root.object(with: id)
            stack.root.delete(fault)
            stack.root.rollback()
            #expect(!fault.isDeleted && fault.managedObjectContext === stack.root && fault.value(forKey: "name") as? String == "nobody")
        }
    }

    // L23
    @Test func aContextKeepsOnlyWhatIsUnsaved() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for _ in 0..<5 { _ = Person(context: stack.root) }
            #expect(stack.root.registeredObjects.count == 5)
            try stack.root.save()
            #expect(stack.root.registeredObjects.isEmpty)
        }
    }

    // L32
    @Test func relationshipFaults() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = Department(context: stack.root), ada = Person(context: stack.root)
            ada.department = looms
            let id = try saved(looms)
            stack.root.reset()
            let again = try #require(stack.root.existingObject(with: id) as? Department)
            #expect(again.hasFault(forRelationshipNamed: "employees") && again.faultingState == 0)
            #expect(again.objectIDs(forRelationshipNamed: "employees") == [ada.objectID])
            #expect(!again.hasFault(forRelationshipNamed: "employees"))
            #expect(stack.root.registeredObject(for: ada.objectID) == nil)
        }
    }
}
