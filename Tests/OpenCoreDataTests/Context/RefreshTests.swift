import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Values that are read again, with what was changed here on top or without it.
@Suite struct RefreshTests {
    private let stack = TestStack()
    private var root: NSManagedObjectContext { stack.root }

    private func onRoot<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        try root.performAndWait { try body(root) }
    }

    private func item(_ a: Int = 1) throws -> NSManagedObjectID {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": a])
            try root.save()
            return item.objectID
        }
    }

    private func a(_ object: NSManagedObject) -> Int? { object.value(forKey: "a") as? Int }

    // MARK: Without merging

    @Test(arguments: [true, false]) func aNewObjectIsLeftAsItIs(mergingChanges: Bool) throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 3])
            root.processPendingChanges()
            root.refresh(item, mergeChanges: mergingChanges)
            #expect(item.isInserted && !item.isFault && a(item) == 3)
            try root.save()
            #expect(try stack.stored("Item", "a") == [3])
        }
    }

    @Test func nothingIsUnsavedOfARefreshedObject() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            for isPublished in [true, false] {
                item.setValue(2, forKey: "a")
                if isPublished { root.processPendingChanges() }
                let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
                root.refresh(item, mergeChanges: false)
                #expect(!item.isUpdated && !root.hasChanges && item.isFault && a(item) == 1)
                root.processPendingChanges()
                #expect(
                    recorder.count == 1 && recorder.objects(NSRefreshedObjectsKey) == [item]
                        && recorder.objects(NSUpdatedObjectsKey).isEmpty)
            }
            item.setValue(3, forKey: "a")
            root.refresh(item, mergeChanges: false)
            item.setValue(4, forKey: "a")
            try root.save()
            #expect(try stack.stored("Item", "a") == [4])
        }
    }

    @Test func nobodyKeepsARefreshedObject() throws {
        try onRoot { root in
            let watch = WeakReferences()
            var item: NSManagedObject? = root.make("Item", ["key": "k"])
            try root.save()
            item?.setValue(2, forKey: "a")
            watch.add(try #require(item))
            root.processPendingChanges()
            item.map { root.refresh($0, mergeChanges: false) }
            root.processPendingChanges()
            item = nil
            #expect(watch.living == 0 && root.registeredObjects.isEmpty)
        }
    }

    @Test func membersThatWereLoadedBeforeAreReadAgain() throws {
        try onRoot { root in
            let department = root.make("Department")
            let person = root.make("Person")
            try root.save()
            person.setValue(department, forKey: "department")
            #expect(department.objectIDs(forRelationshipNamed: "employees") == [person.objectID])
            root.refresh(person, mergeChanges: false)
            #expect(
                department.objectIDs(forRelationshipNamed: "employees").isEmpty
                    && person.value(forKey: "department") == nil)
        }
    }

    @Test func bothSidesOfAOneToOneAreWhatTheyWere() throws {
        try onRoot { root in
            let person = root.make("Person")
            let badges = [root.make("Badge", ["number": 1]), root.make("Badge", ["number": 2])]
            person.setValue(badges[0], forKey: "badge")
            try root.save()
            person.setValue(badges[1], forKey: "badge")
            root.refresh(person, mergeChanges: false)
            #expect(person.value(forKey: "badge") as? NSManagedObject === badges[0])
            #expect(badges.map { $0.value(forKey: "person") as? NSManagedObject } == [person, nil])
        }
    }

    @Test func aReferenceThatComesBackToADeletedObjectIsEmptiedOnceMore() throws {
        try onRoot { root in
            let department = root.make("Department")
            let person = root.make("Person", ["department": department])
            try root.save()
            person.setValue(nil, forKey: "department")
            #expect(department.objectIDs(forRelationshipNamed: "employees").isEmpty)
            root.delete(department)
            root.processPendingChanges()
            root.refresh(person, mergeChanges: false)
            #expect(person.value(forKey: "department") as? NSManagedObject === department)
            root.processPendingChanges()
            #expect(person.value(forKey: "department") == nil && person.isUpdated)
        }
    }

    @Test(arguments: [true, false]) func membersThatWereFetchedAheadAreReadAgain(allObjects: Bool)
        throws
    {
        let (department, person) = try onRoot { root in
            let department = root.make("Department")
            let person = root.make("Person", ["department": department])
            try root.save()
            return (department.objectID, person.objectID)
        }
        let other = stack.independent()
        try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.relationshipKeyPathsForPrefetching = ["employees"]
            let found = try #require(try other.fetch(request).first)
            #expect(
                found.objectID == department
                    && found.objectIDs(forRelationshipNamed: "employees") == [person])
            // The answer is remembered for all contexts.
            let key = RelationshipKey(owner: department, toMany: 0)
            _ = try stack.coordinator.prefetch([key], remembering: [key])
            try stack.overwrite(person, ["department": .null])
            if allObjects { other.refreshAllObjects() } else { other.refresh(found, mergeChanges: false) }
            #expect(found.objectIDs(forRelationshipNamed: "employees").isEmpty)
        }
    }

    // MARK: With merging

    @Test func aPushThatWaitsIsAmongWhatIsMerged() throws {
        let child = stack.child(of: root)
        let id = try item()
        let here = try onRoot { root in try root.existingObject(with: id) }
        let push = {
            try child.performAndWait {
                child.object(with: id).setValue(2, forKey: "a")
                try child.save()
            }
        }
        try afterPushing(into: root, push) { [root] in
            root.refresh(here, mergeChanges: true)
            #expect(here.isUpdated && here.value(forKey: "a") as? Int == 2)
        }
    }

    @Test func membersAreReadAgainWithTheValues() throws {
        let other = stack.independent()
        try holding(root, other) {
            let department = root.make("Department", ["name": "Looms"])
            try root.save()
            #expect(department.objectIDs(forRelationshipNamed: "employees").isEmpty)
            let person = other.make("Person", ["department": other.object(with: department.objectID)])
            try other.save()
            root.refresh(department, mergeChanges: true)
            #expect(department.objectIDs(forRelationshipNamed: "employees") == [person.objectID])
        }
    }

    @Test func aDeletedObjectKeepsTheValuesItWasDeletedWith() throws {
        let id = try item()
        let other = stack.independent()
        try holding(root, other) {
            let item = try root.existingObject(with: id)
            root.delete(item)
            try other.existingObject(with: id).setValue(2, forKey: "a")
            try other.save()
            root.refresh(item, mergeChanges: true)
            #expect(item.isDeleted && a(item) == 1)
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.code == CocoaError.Code.managedObjectMerge.rawValue)
        }
    }

    @Test func aFaultStaysOneAndReadsWhatIsThereWhenItIsAsked() throws {
        let id = try item()
        let other = stack.independent()
        try other.performAndWait {
            let fault = other.object(with: id)
            other.refresh(fault, mergeChanges: true)
            #expect(fault.isFault)
            try stack.overwrite(id, ["a": .int64(7)])
            stack.coordinator.rowCache.removeAll()
            #expect(a(fault) == 7)
        }
    }

    /// A witness with a name of its own, which it gave itself when its values came, and which is stored as another.
    private func named(_ body: (NSManagedObjectContext, SnapshotWitness, RowCache) throws -> Void)
        throws
    {
        let stack = TestStack(SnapshotWitness.model())
        let other = stack.independent()
        try holding(stack.root, other) {
            let made = stack.root.make("Witness", ["name": "stored"])
            try stack.root.save()
            let object = try #require(other.object(with: made.objectID) as? SnapshotWitness)
            object.mark = "own"
            #expect(object.number == 0 && object.name == "own")
            try body(other, object, stack.coordinator.rowCache)
        }
    }

    @Test func theRowThatAllShareIsNotWrittenToByAHook() throws {
        try named { context, object, cache in
            context.refresh(object, mergeChanges: true)
            #expect(object.name == "own" && cache[object.objectID]?["name"] == .string("stored"))
        }
    }

    @Test func norIsTheRowThatARollbackBringsBack() throws {
        try named { context, object, cache in
            object.mark = nil
            context.refresh(object, mergeChanges: false)
            object.number = 5
            object.mark = "own"
            context.rollback()
            #expect(object.name == "own" && object.number == 0 && cache[object.objectID]?["name"] == .string("stored"))
        }
    }

    @Test func aRowThatCameByAMergeIsNotWrittenTo() throws {
        let stack = TestStack(HookedObject.model())
        let other = stack.independent()
        try holding(stack.root, other) {
            let made = stack.root.make("Hooked", ["name": "stored"])
            try stack.root.save()
            let object = other.object(with: made.objectID)
            object.setValue("changed", forKey: "name")
            other.refresh(object, mergeChanges: false)
            // `awakeFromFetch` sets it, so the object has a row of its own.
            #expect(object.value(forKey: "stamp") as? String == "fetched")
            made.setValue("again", forKey: "name")
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextDidSave)
            try stack.root.save()
            other.mergeChanges(fromContextDidSave: try #require(recorder.notifications.last))
            object.setValue("last", forKey: "name")
            #expect(stack.coordinator.rowCache[made.objectID]?["name"] == .string("again"))
        }
    }

    @Test func transientValuesOfAChangedObjectStay() throws {
        try onRoot { root in
            let person = try #require(root.make("Person", ["note": "noted"]) as? Person)
            try root.save()
            person.nick = "Ada"
            root.refresh(person, mergeChanges: true)
            #expect(person.note == "noted" && person.nick == "Ada" && person.name == "nobody")
        }
    }

    @Test func whatIsPushedRightAfterItTakesNothingBack() throws {
        let child = stack.child(of: root)
        let id = try item()
        try onRoot { root in
            let item = try root.existingObject(with: id)
            item.setValue(2, forKey: "a")
            root.processPendingChanges()
            root.refresh(item, mergeChanges: true)
            try elsewhere {
                try child.performAndWait {
                    child.object(with: id).setValue(5, forKey: "b")
                    try child.save()
                }
            }
            try root.save()
            #expect(try ["a", "b"].flatMap { try stack.stored("Item", $0) } == [2, 5])
        }
    }

    @Test func aFaultIsNotMadeOneAgain() throws {
        let stack = TestStack(SnapshotWitness.model())
        let other = stack.independent()
        try holding(stack.root, other) {
            let made = stack.root.make("Witness")
            try stack.root.save()
            let fault = try #require(other.object(with: made.objectID) as? SnapshotWitness)
            other.refresh(fault, mergeChanges: true)
            #expect(fault.isFault && fault.faultings == 0 && fault.snapshots == [.refresh])
        }
    }

    // MARK: All objects

    @Test func allKeepTheirChangesAndAreToldThatTheirValuesCameBack() throws {
        let stack = TestStack(SnapshotWitness.model())
        try stack.root.performAndWait { () throws in
            let changed = try #require(stack.root.make("Witness", ["name": "c"]) as? SnapshotWitness)
            let clean = try #require(stack.root.make("Witness", ["name": "n"]) as? SnapshotWitness)
            try stack.root.save()
            changed.number = 4
            changed.note = "noted"
            #expect((changed.value(forKey: "others") as? [NSManagedObject])?.count == 1)
            stack.root.make("Witness")
            stack.root.refreshAllObjects()
            #expect(
                changed.snapshots == [.refresh] && changed.faultings == 0 && changed.number == 4
                    && changed.note == "noted")
            #expect(clean.snapshots.isEmpty && clean.faultings == 1 && clean.isFault)
            #expect((changed.value(forKey: "others") as? [NSManagedObject])?.count == 2)
        }
    }

    @Test func pushesThatWaitAreAmongWhatAllKeep() throws {
        let stack = TestStack(SnapshotWitness.model())
        let child = stack.child(of: stack.root)
        let here = try stack.root.performAndWait { () throws in
            let made = try #require(stack.root.make("Witness") as? SnapshotWitness)
            try stack.root.save()
            return made
        }
        let push = {
            try child.performAndWait {
                child.object(with: here.objectID).setValue(2, forKey: "number")
                try child.save()
            }
        }
        try afterPushing(into: stack.root, push) {
            stack.root.refreshAllObjects()
            #expect(here.snapshots == [.refresh] && here.faultings == 0 && here.number == 2)
        }
    }

    // A change without an object starts from what is stored by now, so it conflicts with nothing.
    @Test func whatAChildPushedIsMovedOntoTheCurrentValues() throws {
        let id = try item()
        let parent = stack.independent()
        let child = stack.child(of: parent)
        let other = stack.independent()
        try holding(parent, child, other) {
            child.object(with: id).setValue(2, forKey: "a")
            try child.save()
            #expect(parent.registeredObjects.isEmpty)
            other.object(with: id).setValue(3, forKey: "b")
            try other.save()
            parent.refreshAllObjects()
            try parent.save()
            #expect(try ["a", "b"].flatMap { try stack.stored("Item", $0) } == [2, 3])
        }
    }

    // MARK: Objects that were not there

    /// How an object is refreshed.
    enum Way: CaseIterable {
        case alone
        case withAll

        func refresh(_ object: NSManagedObject) {
            switch self {
            case .alone: object.managedObjectContext?.refresh(object, mergeChanges: true)
            case .withAll: object.managedObjectContext?.refreshAllObjects()
            }
        }
    }

    @Test(arguments: Way.allCases) func whatWasNotThereWhenItWasAskedForMayBeThereAgain(_ way: Way)
        throws
    {
        let id = try item()
        let parent = stack.independent()
        let child = stack.child(of: parent)
        holding(parent, child) {
            let here = child.object(with: id)
            parent.delete(parent.object(with: id))
            parent.processPendingChanges()
            #expect(here.value(forKey: "a") == nil && here.isDeleted)
            // Still gone.
            way.refresh(here)
            #expect(here.value(forKey: "a") == nil && here.isDeleted)
            parent.rollback()
            way.refresh(here)
            #expect(!here.isDeleted && a(here) == 1 && !child.hasChanges)
        }
    }

    @Test(arguments: Way.allCases) func whatAChildDeletedStaysDeleted(_ way: Way) throws {
        let id = try item()
        let parent = stack.independent()
        let child = stack.child(of: parent)
        try holding(parent, child) {
            let fault = parent.object(with: id)
            child.delete(child.object(with: id))
            try child.save()
            way.refresh(fault)
            #expect(fault.isDeleted && parent.hasChanges)
            try parent.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    @Test(arguments: Way.allCases) func whatOthersDeletedStaysDeleted(_ way: Way) throws {
        let id = try item()
        let other = stack.independent()
        other.performAndWait {
            let fault = other.object(with: id)
            other.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, userInfo: [NSDeletedObjectsKey: [id]]))
            way.refresh(fault)
            #expect(fault.isDeleted)
        }
    }

    @Test(arguments: Way.allCases) func whatWasDeletedBeforeItWasSavedStaysDeleted(_ way: Way) throws {
        onRoot { root in
            let item = root.make("Item")
            root.delete(item)
            way.refresh(item)
            #expect(item.isDeleted && !item.isFault)
        }
    }
}
