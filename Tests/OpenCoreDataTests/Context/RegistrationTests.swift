import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct RegistrationTests {
    /// A stack with a saved person, whose row is then changed in the store behind everybody's back.
    private func withStaleRow(_ body: (TestStack, NSManagedObjectContext, NSManagedObject) throws -> Void) throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
            var changes = ChangeSet()
            let row = try #require(stack.store.rows(for: [ada.objectID])[ada.objectID])
            let changed = row.copy()
            changed.update(try #require(row.layout.slot(of: "name")), to: .string("Ida"))
            changes.set(ada.objectID, PendingRow(kind: .updated, row: changed, changed: SlotSet(0..<row.count), base: row))
            _ = try stack.store.save(changes)
            try body(stack, stack.root, ada)
        }
    }

    // L15
    @Test func byDefaultTheCachedRowIsGoodHoweverOldItIs() throws {
        try withStaleRow { (_, context, ada) throws in
            #expect(context.stalenessInterval == -1)
            context.refresh(ada, mergeChanges: false)
            #expect(ada.value(forKey: "name") as? String == "Ada")
            context.refresh(ada, mergeChanges: true)
            #expect(ada.value(forKey: "name") as? String == "Ada")
        }
    }

    // L15
    @Test(arguments: [true, false]) func withAStalenessOfZeroARefreshReadsTheStore(_ merges: Bool) throws {
        try withStaleRow { (_, context, ada) throws in
            context.stalenessInterval = 0
            context.refresh(ada, mergeChanges: merges)
            #expect(ada.value(forKey: "name") as? String == "Ida")
        }
    }

    // L15
    @Test func withAStalenessOfZeroAFaultReadsTheStore() throws {
        try withStaleRow { (stack, _, ada) throws in
            for (interval, name) in [(-1.0, "Ada"), (3600.0, "Ada"), (0.0, "Ida"), (-1.0, "Ida")] {
                let other = stack.independent()
                other.performAndWait {
                    other.stalenessInterval = interval
                    #expect(other.object(with: ada.objectID).value(forKey: "name") as? String == name)
                }
            }
        }
    }

    // L15
    @Test func unsavedChangesOfTheParentsAreNeverStale() throws {
        try withStaleRow { (stack, context, ada) throws in
            ada.setValue("Eve", forKey: "name")
            let child = stack.child(of: context)
            child.performAndWait {
                child.stalenessInterval = 0
                #expect(child.object(with: ada.objectID).value(forKey: "name") as? String == "Eve")
            }
        }
    }

    // L23
    @Test func onRequestAContextKeepsEveryObject() throws {
        let stack = TestStack(), context = stack.root
        try context.performAndWait { () throws in
            #expect(!context.retainsRegisteredObjects)
            context.retainsRegisteredObjects = true
            for _ in 0..<3 { _ = Person(context: context) }
            try context.save()
            #expect(context.registeredObjects.count == 3)
            let changed = try #require(context.registeredObjects.first as? Person)
            changed.name = "changed"
            context.retainsRegisteredObjects = false
            #expect(context.registeredObjects == [changed])
            context.rollback()
            #expect(context.registeredObjects == [changed])
        }
    }

    /// Lets some faults read as deleted and notes what it is asked.
    // Used on its queue only; the notes are read there.
    private final class Choosy: NSManagedObjectContext, @unchecked Sendable {
        var asked: [String?] = []

        override func shouldHandleInaccessibleFault(
            _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
        ) -> Bool {
            #expect(fault.objectID == oid)
            asked.append(property?.name)
            return true
        }
    }

    // L24
    @Test func aSubclassDecidesWhatBecomesOfAFaultWhoseRowIsGone() throws {
        let stack = TestStack(), other = Choosy(.privateQueueConcurrencyType)
        other.persistentStoreCoordinator = stack.coordinator
        other.shouldDeleteInaccessibleFaults = false
        try holding(stack.root, other) { () throws in
            let people = (0..<2).map { _ in Person(context: stack.root) }
            try stack.root.save()
            let faults = people.map { other.object(with: $0.objectID) }
            for person in people { stack.root.delete(person) }
            try stack.root.save()
            #expect(faults[0].value(forKey: "nick") == nil && faults[0].isDeleted)
            faults[1].willAccessValue(forKey: nil)
            #expect(faults[1].isDeleted && other.asked == ["nick", nil])
        }
    }
}
