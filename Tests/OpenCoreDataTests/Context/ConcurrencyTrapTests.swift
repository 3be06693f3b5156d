import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ConcurrencyTrapTests {
    // C10, E2
    @Test func aConfinementContextRefusesPerform() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.confinementConcurrencyType).perform {}
        }.trap(says: "perform(_:): a context of confinement type has no queue")
    }

    // C10, E2
    @Test func aConfinementContextRefusesPerformAndWait() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.confinementConcurrencyType).performAndWait {}
        }.trap(says: "performAndWait(_:): a context of confinement type has no queue")
    }

    // C10, E2
    @Test func aConfinementContextCannotBeAParent() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.privateQueueConcurrencyType).parent = NSManagedObjectContext(.confinementConcurrencyType)
        }.trap(says: "parent: a context of confinement type")
    }

    // L1, E2
    @Test func insertingAnObjectOfAnotherContextStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(), other = stack.independent()
            let person = stack.root.performAndWait { stack.root.make("Person") }
            other.performAndWait { other.insert(person) }
        }.trap(says: "belongs to context \"root\"")
    }

    // C13, E2
    @Test func useOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            _ = stack.root.registeredObjects
        }.trap(says: "context \"root\" was used outside of its queue")
    }

    // C13, P9
    @Test func watchingAnObjectOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let person = stack.root.performAndWait { stack.root.make("Person") }
            stack.root.detectConflicts(for: person)
        }.trap(says: "context \"root\" was used outside of its queue")
    }

    // C13, E2
    @Test func readingAnObjectOutsideOfItsQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let person = stack.root.performAndWait { stack.root.make("Person") }
            _ = person.value(forKey: "name")
        }.trap(says: "context \"root\" was used outside of its queue")
    }

    // C13, E2
    @Test func savingOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            _ = stack.root.performAndWait { stack.root.make("Person") }
            try? stack.root.save()
        }.trap(says: "context \"root\" was used outside of its queue")
    }

    // C13, E2
    @Test func askingForPermanentIDsOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try? TestStack().root.obtainPermanentIDs(for: [])
        }.trap(says: "context \"root\" was used outside of its queue")
    }

    // N31
    @Test func aParentIsSetOnce() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.child(of: stack.root).parent = stack.independent()
        }.trap(says: "is set once, before it is used")
    }

    // N31
    @Test func aParentOfOthersGetsNoParentAnyMore() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let middle = NSManagedObjectContext(.privateQueueConcurrencyType)
            _ = stack.child(of: middle)
            middle.parent = stack.root
        }.trap(says: "gets its parent before it becomes a parent itself")
    }

    // E2, L1
    @Test func anUnknownEntityStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Nobody") }
        }.trap(says: "no entity named \"Nobody\"")
    }

    // E2
    @Test func anUnknownKeyStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Person").value(forKey: "nothing") }
        }.trap(says: "not key value coding-compliant for the key \"nothing\"")
    }

    // E2
    @Test func aValueOfTheWrongTypeStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { stack.root.make("Person").setValue("eighteen", forKey: "age") }
        }.trap(says: "unacceptable type of value for Person.age")
    }

    // E2, R9
    @Test func relatingObjectsOfTwoContextsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let other = stack.independent()
            holding(stack.root, other) {
                other.make("Person").setValue(stack.root.make("Department"), forKey: "department")
            }
        }.trap(says: "in a different context")
    }
}
