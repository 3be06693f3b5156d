import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Objects that their users alone keep alive.
@Suite struct UsedObjectsTests {
    /// A user of an object, on whatever thread.
    // Handed from one thread to the other by `concurrentPerform`, which begins and ends for both.
    private final class User: @unchecked Sendable {
        var object: NSManagedObject?
    }

    // L11
    @Test func anObjectThatIsOnItsWayOutIsNeverHandedOut() throws {
        let stack = TestStack()
        let context = stack.independent()
        let id = try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
            return ada.objectID
        }
        let user = User()
        for _ in 0..<5000 {
            context.performAndWait { user.object = context.object(with: id) }
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                if side == 0 {
                    user.object = nil
                } else {
                    context.performAndWait {
                        let found = context.object(with: id)
                        #expect(found.value(forKey: "name") as? String == "Ada")
                        #expect(context.registeredObject(for: id) === found)
                    }
                }
            }
        }
        #expect(context.performAndWait { context.registeredObjects.isEmpty })
    }

    // L11
    @Test func manyObjectsOfOneFetchAreOnePerID() throws {
        let stack = TestStack()
        let context = stack.independent()
        try stack.root.performAndWait { () throws in
            for number in 0..<500 { _ = stack.root.make("Person", ["name": "n\(number)"]) }
            try stack.root.save()
        }
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            let first = try context.fetch(request)
            request.sortDescriptors = nil
            let second = try context.fetch(request)
            #expect(first.count == 500 && Set(first) == Set(second))
            #expect(first.allSatisfy { context.object(with: $0.objectID) === $0 })
        }
        #expect(context.performAndWait { context.registeredObjects.isEmpty })
    }

    @Test func whatALargeFetchReadIsInMemoryAfterwardsAndNothingDeletedIs() throws {
        let stack = TestStack()
        let ids = try stack.root.performAndWait { () throws in
            let people = (0..<600).map { stack.root.make("Person", ["name": "n\($0)"]) }
            try stack.root.save()
            return people.map(\.objectID)
        }
        stack.coordinator.rowCache.removeAll()
        let context = stack.independent()
        try context.performAndWait { () throws in
            let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            let first = try #require(people.first { $0.objectID == ids[0] })
            context.delete(first)
            try context.save()
        }
        #expect(stack.coordinator.rowCache[ids[0]] == nil)
        for (number, id) in ids.enumerated().dropFirst() { #expect(stack.coordinator.rowCache[id]?["name"] == .string("n\(number)")) }
    }
}
