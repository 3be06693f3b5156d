import CoreData
import Foundation
import Testing

@Suite struct SavingAndStoresTests {
    @Test func aSavedDeletionTakesTheRowAndTheContext() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let ada = root.make("Person", ["name": "Ada"])
            try root.save()
            root.delete(ada)
            #expect(ada.isDeleted && ada.managedObjectContext === root)
            try root.save()
            #expect(!ada.isDeleted && ada.managedObjectContext == nil)
        }
        #expect(try stack.strings("Person", "name").isEmpty)
    }

    @Test func aSaveThatIsRefusedWritesNothingAndCanBeTriedAgain() throws {
        try Stack.inFile { stack in
            let root = stack.root
            let bad = root.performAndWait {
                root.make("Person", ["name": "Ada"])
                let bad = root.make("Person")
                bad.setValue(nil, forKey: "name")
                #expect(root.refusal() == 1570)
                #expect(root.hasChanges && bad.isInserted)
                return bad
            }
            #expect(try stack.strings("Person", "name").isEmpty)
            try root.performAndWait { () throws in
                bad.setValue("Bob", forKey: "name")
                try root.save()
            }
            #expect(try stack.strings("Person", "name") == ["Ada", "Bob"])
        }
    }

    @Test func whatWasSavedToAFileIsThereWhenItIsOpenedAgain() throws {
        try Stack.withFile { file in
            let first = try Stack(at: file), uuid = first.coordinator.persistentStores.first?.identifier
            try first.root.performAndWait { () throws in
                let ada = first.root.make("Person", ["name": "Ada", "age": 36])
                first.root.make("Department", ["name": "Looms", "employees": Set([ada])])
                try first.root.save()
            }
            try first.close()
            let second = try Stack(at: file)
            #expect(second.coordinator.persistentStores.first?.identifier == uuid)
            try second.root.performAndWait { () throws in
                let looms = try #require(try second.root.all("Department").first)
                #expect(looms.string("name") == "Looms")
                #expect(looms.many("employees").map { $0.number("age") } == [36])
            }
            try second.close()
        }
    }

    // T13
    @Test func addingAndRemovingAStoreIsAnnounced() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.company())
        let recorder = Recorder(coordinator, .NSPersistentStoreCoordinatorStoresDidChange)
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(coordinator.persistentStores == [store] && store.type == NSInMemoryStoreType)
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty && recorder.count == 2)
        #expect(recorder.notifications.first?.userInfo?[NSAddedPersistentStoresKey] != nil)
        #expect(recorder.notifications.last?.userInfo?[NSRemovedPersistentStoresKey] != nil)
    }
}
