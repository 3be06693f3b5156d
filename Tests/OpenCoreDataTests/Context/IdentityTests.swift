import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct IdentityTests {
    // N7
    @Test func anIDStaysTemporaryUntilTheRootHasSaved() throws {
        let stack = TestStack()
        let middle = stack.child(of: stack.root), worker = stack.child(of: middle)
        try holding(stack.root, middle, worker) { () throws in
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextDidSaveObjectIDs)
            let ada = worker.make("Person")
            try worker.save()
            #expect(ada.objectID.isTemporaryID && ada.objectID.persistentStore == nil)
            #expect(recorder.ids(.insertedObjectIDs) == [ada.objectID])
            try middle.save()
            #expect(ada.objectID.isTemporaryID)
            try stack.root.save()
            #expect(!ada.objectID.isTemporaryID)
        }
    }

    // Written and read on the test's thread: the notification is posted synchronously.
    private final class Seen: @unchecked Sendable { var temporary: [Bool] = [] }

    // N9, GB5
    @Test func permanentIDsReachEveryLevelAndTheIDKeptFromBeforeGoesOnResolving() throws {
        let stack = TestStack()
        let middle = stack.child(of: stack.root), worker = stack.child(of: middle), late = stack.child(of: middle)
        try holding(stack.root, middle, worker, late) { () throws in
            let ada = worker.make("Person", ["name": "Ada"])
            let kept = ada.objectID
            let holders: Set = [kept]
            try worker.save()
            let inMiddle = middle.object(with: kept)
            try middle.save()
            try stack.root.save()
            #expect(!ada.objectID.isTemporaryID && !inMiddle.objectID.isTemporaryID)
            #expect(holders.contains(ada.objectID) && kept == ada.objectID && kept.hashValue == ada.objectID.hashValue)
            for context in [stack.root, middle, worker, late] {
                let object = try context.existingObject(with: kept)
                #expect(object.value(forKey: "name") as? String == "Ada")
                #expect(context.registeredObject(for: kept) === object)
            }
            #expect(worker.object(with: kept) === ada)
            #expect(try worker.all("Person", "name == 'Ada'") == [ada])
        }
    }

    // N10, GB6
    @Test func permanentIDsCanBeObtainedInAChildBeforeAnySave() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let ada = child.make("Person", ["name": "Ada"])
            try child.obtainPermanentIDs(for: [ada])
            let id = ada.objectID
            #expect(!id.isTemporaryID && ada.isInserted)
            ada.setValue("Ida", forKey: "name")
            try child.save()
            let pushed = stack.root.object(with: id)
            #expect(pushed.isInserted && pushed.objectID == id)
            ada.setValue("Edna", forKey: "name")
            try child.save()
            try stack.root.save()
            #expect(try stack.stored("Person", "name") == ["Edna"])
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        }
    }

    // N11, GB7, GB8
    @Test func obtainingIDsAsksTheStoreForNothing() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let people = (0..<100).map { _ in stack.root.make("Person") }
            #expect(try stack.requests { try stack.root.obtainPermanentIDs(for: people) }.isEmpty)
            let ids = people.map(\.objectID)
            try stack.root.obtainPermanentIDs(for: people)
            #expect(people.map(\.objectID) == ids && Set(ids).count == 100)
            #expect(ids.allSatisfy { $0.persistentStore === stack.store })
        }
    }

    // N11
    @Test func withoutAStoreThereIsNoPermanentID() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let item = context.make("Item")
            #expect(throws: NSError.self) { try context.obtainPermanentIDs(for: [item]) }
            #expect(item.objectID.isTemporaryID)
        }
    }

    // N11, GB35
    @Test func whatWasInsertedBeforeThereWasAStoreIsSavedToIt() throws {
        let model = Company.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let item = context.make("Item", ["key": "early"])
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.hasChanges)
            let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            try context.save()
            #expect(item.objectID.persistentStore === store)
            #expect(try context.names("Item", "key") == ["early"])
        }
    }

    // I3
    @Test func aURINamesItsIDOnlyWhereItsStoreIsLoaded() throws {
        let stack = TestStack(), other = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person")
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: ada.objectID.uriRepresentation()) == nil)
            try stack.root.save()
            let uri = ada.objectID.uriRepresentation()
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == ada.objectID)
            #expect(other.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
            #expect(try stack.coordinator.managedObjectID(forURIRepresentation: #require(URL(string: "https://example.org"))) == nil)
        }
    }

    // I4
    @Test func idsAreEqualAcrossContextsAndInstances() async throws {
        let stack = TestStack()
        let other = stack.independent(), root = stack.root
        let id = try root.performAndWait { () throws in
            let ada = root.make("Person", ["name": "Ada"])
            try root.save()
            return ada.objectID
        }
        let found = try await other.perform { () throws -> NSManagedObjectID? in try other.all("Person").first?.objectID }
        let rebuilt = try #require(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
        #expect(found == id && rebuilt == id && rebuilt !== id)
        #expect(Set([id, rebuilt, found]).count == 1)
        #expect(other.performAndWait { other.object(with: rebuilt).value(forKey: "name") as? String } == "Ada")
    }

    // I6
    @Test func anIDNamesTheConcreteEntity() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let id = stack.root.make("Engineer").objectID
            stack.root.make("Person")
            #expect(try Set(stack.root.all("Person").map { $0.objectID.entity.name }) == ["Engineer", "Person"])
            #expect(id.entity.isKindOf(entity: try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])))
        }
    }
}
