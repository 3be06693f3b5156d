import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Contexts of one chain that look for the same new object at the same time.
@Suite struct KeyReservationsTests {
    private let stack = TestStack()
    private let one: NSManagedObjectContext
    private let other: NSManagedObjectContext

    init() {
        one = stack.child(of: stack.root, name: "one")
        other = stack.child(of: stack.root, name: "other")
    }

    private var department: NSEntityDescription { get throws { try #require(stack.coordinator.managedObjectModel.entitiesByName["Department"]) } }

    private func locate(_ codes: String..., in context: NSManagedObjectContext) throws -> [NSManagedObjectContext.Located] {
        let entity = try department
        return try context.performAndWait { try context.findOrReserve(entity, constraint: 0, keys: codes.map { .one(.string($0)) }) }
    }

    private func insert(_ id: NSManagedObjectID, _ code: String, in context: NSManagedObjectContext) {
        let row = RowSnapshot.defaults(id.layout)
        var said = SlotSet()
        if let slot = id.layout.slot(of: "code") {
            row.update(slot, to: .string(code))
            said.insert(slot)
        }
        context.performAndWait { context.insertRow(id, row, set: said) }
    }

    @Test func contextsThatMissOneKeyGetTheSameID() throws {
        let mine = try locate("A", "B", in: one), theirs = try locate("B", "C", in: other)
        #expect((mine + theirs).allSatisfy { $0.row == nil })
        #expect(theirs[0].id === mine[1].id)
        #expect(Set((mine + theirs).map(\.id)).count == 3)
        // Asked again, it is the same.
        #expect(try locate("B", in: one)[0].id === mine[1].id)
    }

    @Test func whatIsPushedAfterALookupHasTheIDThatTheLookupReserved() throws {
        let mine = try locate("A", in: one)[0].id
        let theirs = try locate("A", in: other)[0].id
        insert(theirs, "A", in: other)
        try other.performAndWait { try other.save() }
        // The other one has let go of the key, and this one still holds it.
        let third = stack.child(of: stack.root, name: "third")
        let found = try locate("A", in: third)[0]
        #expect(found.id == mine && found.row != nil)
        #expect(stack.root.reservedKeyCount == 1)
    }

    @Test func whatWasPushedBeforeALookupIsFound() throws {
        let id = try locate("A", in: other)[0].id
        insert(id, "A", in: other)
        try other.performAndWait { try other.save() }
        let located = try locate("A", "B", in: one)
        #expect(located[0].id == id && located[0].row?["code"] == .string("A"))
        #expect(located[1].row == nil)
        #expect(stack.root.reservedKeyCount == 1)
    }

    @Test func aKeyIsHeldUntilItsContextHasSavedIsResetOrGone() throws {
        var third: NSManagedObjectContext? = stack.child(of: stack.root, name: "third")
        for context in [one, other, third].compactMap({ $0 }) { _ = try locate("A", "B", in: context) }
        let id = try locate("A", in: one)[0].id
        insert(id, "A", in: one)
        try one.performAndWait { try one.save() }
        #expect(stack.root.reservedKeyCount == 2)
        other.performAndWait { other.reset() }
        #expect(stack.root.reservedKeyCount == 2)
        third = nil
        #expect(stack.root.reservedKeyCount == 0)
    }

    @Test func aLookupThatFailsReservesNothing() throws {
        let entity = try department
        let orphan = NSManagedObjectContext(.privateQueueConcurrencyType)
        orphan.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        orphan.performAndWait {
            _ = #expect(throws: NSError.self) { try orphan.findOrReserve(entity, constraint: 0, keys: [.one(.string("A"))]) }
        }
        #expect(orphan.reservedKeyCount == 0)
    }
}
