import CoreData
import Foundation
import Testing

@Suite struct ObjectIDTests {
    // N8, T4
    @Test func idsArePermanentInTheRootsDidSaveNotification() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let seen = Seen()
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: root, queue: nil) { notification in
            let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
            seen.temporary = inserted.map(\.objectID.isTemporaryID)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try child.performAndWait { () throws in
            child.make("Person")
            try child.save()
        }
        try root.performAndWait { () throws in
            root.make("Person")
            try root.save()
        }
        #expect(seen.temporary == [false, false])
    }

    // Written and read on the test's thread: the notification is posted synchronously.
    private final class Seen: @unchecked Sendable { var temporary: [Bool] = [] }

    // I1, I2
    @Test func theURIsOfTemporaryAndPermanentIDs() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let ada = root.make("Engineer")
            #expect(ada.objectID.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Engineer/t"))
            #expect(ada.objectID.entity.name == "Engineer")
            try root.save()
            let store = try #require(stack.coordinator.persistentStores.first), uuid = try #require(store.identifier)
            #expect(ada.objectID.uriRepresentation().absoluteString.hasPrefix("x-coredata://\(uuid)/Engineer/p"))
            #expect(ada.objectID.persistentStore === store)
        }
    }

    // L11
    @Test func thereIsOneInstancePerIDAndContext() throws {
        let stack = try Stack(), root = stack.root, other = stack.beside()
        let ada = try root.performAndWait { () throws in
            let ada = root.make("Person")
            try root.save()
            #expect(root.object(with: ada.objectID) === ada)
            #expect(try root.all("Person").first === ada)
            #expect(try root.existingObject(with: ada.objectID) === ada)
            return ada
        }
        let id = root.performAndWait { ada.objectID }
        other.performAndWait { #expect(other.object(with: id) !== ada && other.object(with: id).objectID == id) }
    }

    @Test func aURILeadsBackToTheObject() throws {
        try Stack.inFile { stack in
            let root = stack.root, other = stack.beside()
            let uri = try root.performAndWait { () throws in
                let ada = root.make("Person", ["name": "Ada"])
                try root.save()
                return ada.objectID.uriRepresentation()
            }
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(other.performAndWait { other.object(with: id).string("name") } == "Ada")
        }
    }

    @Test func anObjectThatIsGoneIsAnErrorWhereItMustExist() throws {
        try Stack.inFile { stack in
            let root = stack.root, other = stack.beside()
            let id = try root.performAndWait { () throws in
                let ada = root.make("Person")
                try root.save()
                let id = ada.objectID
                root.delete(ada)
                try root.save()
                return id
            }
            other.performAndWait {
                let error = #expect(throws: NSError.self) { _ = try other.existingObject(with: id) }
                #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectReferentialIntegrityError)
            }
        }
    }
}
