import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Looking an object up by a unique key that led to it before.
@Suite struct KeyLookupsTests {
    private let stack = TestStack()

    private var department: NSEntityDescription { get throws { try #require(stack.coordinator.managedObjectModel.entitiesByName["Department"]) } }

    /// Saved departments with these codes, each remembered under its own.
    private func remembered(_ codes: String...) throws -> [NSManagedObject] {
        let entity = try department
        return try stack.root.performAndWait {
            let made = codes.map { stack.root.make("Department", ["code": $0]) }
            try stack.root.save()
            for (object, code) in zip(made, codes) {
                stack.root.remember(object.objectID, entity: entity, constraint: 0, key: .one(.string(code)))
            }
            return made
        }
    }

    private func recalled(_ code: String, in context: NSManagedObjectContext) throws -> NSManagedObjectID? {
        let entity = try department
        return try context.performAndWait { try context.recall(entity, constraint: 0, key: .one(.string(code)))?.id }
    }

    @Test func whomAKeyLedToIsFoundWithoutAskingAStore() throws {
        let object = try remembered("A")[0]
        var found: NSManagedObjectID?
        let requests = try stack.requests { found = try recalled("A", in: stack.root) }
        #expect(found == object.objectID)
        #expect(requests.isEmpty)
        #expect(try recalled("B", in: stack.root) == nil)
    }

    @Test func aKeyThatMovedIsNotBelieved() throws {
        let objects = try remembered("A", "B")
        try stack.root.performAndWait {
            objects[0].setValue("C", forKey: "code")
            objects[1].setValue("A", forKey: "code")
            try stack.root.save()
        }
        for code in ["A", "B", "C"] { #expect(try recalled(code, in: stack.root) == nil) }
    }

    @Test func whatIsUnsavedCounts() throws {
        let object = try remembered("A")[0], child = stack.child(of: stack.root)
        child.performAndWait { child.object(with: object.objectID).setValue("B", forKey: "code") }
        #expect(try recalled("A", in: child) == nil)
        #expect(try recalled("A", in: stack.root) == object.objectID)
    }

    @Test func aDeletedObjectIsNotRecalled() throws {
        let object = try remembered("A")[0]
        try stack.root.performAndWait {
            stack.root.delete(object)
            try stack.root.save()
        }
        #expect(try recalled("A", in: stack.root) == nil)
    }

    @Test func aRowThatIsForgottenIsReadAgain() throws {
        let object = try remembered("A")[0]
        stack.root.performAndWait { stack.root.reset() }
        stack.coordinator.rowCache.removeAll()
        var found: NSManagedObjectID?
        let requests = try stack.requests { found = try recalled("A", in: stack.root) }
        #expect(found == object.objectID)
        #expect(requests.map(\.kind) == ["rows(1)"])
    }
}
