import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Looking one object up by a unique key, again and again.
@Suite struct KeyLookupsTests {
    private let stack = TestStack()

    private func make(_ codes: String...) throws -> [NSManagedObject] {
        try stack.root.performAndWait {
            let made = codes.map { code in
                let object = NSEntityDescription.insertNewObject(forEntityName: "Department", into: stack.root)
                object.setValue(code, forKey: "code")
                return object
            }
            try stack.root.save()
            return made
        }
    }

    private func found(_ code: String) throws -> NSManagedObjectID? {
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Department"])
        return try stack.coordinator.objects(of: entity, constraint: 0, keys: [.one(.string(code))]).values.first?.id
    }

    private struct Answer: Equatable {
        var id: NSManagedObjectID?
        var requests: [String] = []
    }

    private func asked(_ code: String) throws -> Answer {
        var answer = Answer()
        answer.requests = try stack.requests { answer.id = try found(code) }.map(\.kind)
        return answer
    }

    @Test func whomAKeyLedToIsNotAskedForAgain() throws {
        let object = try make("A")[0]
        #expect(try asked("A") == Answer(id: object.objectID, requests: ["objects"]))
        #expect(try asked("A") == Answer(id: object.objectID, requests: []))
    }

    @Test func whatNobodyHasIsAskedForEachTime() throws {
        #expect(try asked("A") == Answer(id: nil, requests: ["objects"]))
        let object = try make("A")[0]
        #expect(try asked("A") == Answer(id: object.objectID, requests: ["objects"]))
    }

    @Test func aKeyThatMovedLeadsToWhoHasIt() throws {
        let objects = try make("A", "B")
        #expect(try found("A") == objects[0].objectID && found("B") == objects[1].objectID)
        try stack.root.performAndWait {
            objects[0].setValue("C", forKey: "code")
            objects[1].setValue("A", forKey: "code")
            try stack.root.save()
        }
        #expect(try found("A") == objects[1].objectID)
        #expect(try found("B") == nil)
        #expect(try found("C") == objects[0].objectID)
    }

    @Test func aDeletedObjectIsNotFoundByItsKey() throws {
        let object = try make("A")[0]
        #expect(try found("A") == object.objectID)
        try stack.root.performAndWait {
            stack.root.delete(object)
            try stack.root.save()
        }
        #expect(try found("A") == nil)
        let again = try make("A")[0]
        #expect(try found("A") == again.objectID && again.objectID != object.objectID)
    }

    @Test func whatIsForgottenIsReadAgain() throws {
        let object = try make("A")[0]
        #expect(try found("A") == object.objectID)
        stack.coordinator.rowCache.removeAll()
        #expect(try asked("A") == Answer(id: object.objectID, requests: ["objects"]))
    }
}
