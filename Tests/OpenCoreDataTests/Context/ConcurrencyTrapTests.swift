import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ConcurrencyTrapTests {
    // C10, E2
    @Test func aConfinementContextRefusesPerform() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.confinementConcurrencyType).perform {}
        }
        #expect(lastWords(result).contains("perform(_:): a context of confinement type has no queue"))
    }

    // C10, E2
    @Test func aConfinementContextRefusesPerformAndWait() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.confinementConcurrencyType).performAndWait {}
        }
        #expect(lastWords(result).contains("performAndWait(_:): a context of confinement type has no queue"))
    }

    // C10, E2
    @Test func aConfinementContextCannotBeAParent() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            NSManagedObjectContext(.privateQueueConcurrencyType).parent = NSManagedObjectContext(.confinementConcurrencyType)
        }
        #expect(lastWords(result).contains("confinement"))
    }

    // C13, E2
    @Test func useOutsideOfTheQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            _ = stack.root.registeredObjects
        }
        #expect(lastWords(result).contains("context \"root\" was used outside of its queue"))
    }

    // C13, E2
    @Test func readingAnObjectOutsideOfItsQueueStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let person = stack.root.performAndWait { stack.root.make("Person") }
            _ = person.value(forKey: "name")
        }
        #expect(lastWords(result).contains("context \"root\" was used outside of its queue"))
    }

    // N31
    @Test func aParentIsSetOnce() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.child(of: stack.root).parent = stack.independent()
        }
        #expect(lastWords(result).contains("parent"))
    }

    // N31
    @Test func aParentOfOthersGetsNoParentAnyMore() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let middle = NSManagedObjectContext(.privateQueueConcurrencyType)
            _ = stack.child(of: middle)
            middle.parent = stack.root
        }
        #expect(lastWords(result).contains("parent"))
    }

    // E2, L1
    @Test func anUnknownEntityStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Nobody") }
        }
        #expect(lastWords(result).contains("no entity named \"Nobody\""))
    }

    // E2
    @Test func anUnknownKeyStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Person").value(forKey: "nothing") }
        }
        #expect(lastWords(result).contains("not key value coding-compliant for the key \"nothing\""))
    }

    // E2
    @Test func aValueOfTheWrongTypeStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { stack.root.make("Person").setValue("eighteen", forKey: "age") }
        }
        #expect(lastWords(result).contains("unacceptable type of value for Person.age"))
    }

    // E2, R9
    @Test func relatingObjectsOfTwoContextsStopsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let other = stack.independent()
            holding(stack.root, other) {
                other.make("Person").setValue(stack.root.make("Department"), forKey: "department")
            }
        }
        #expect(lastWords(result).contains("in a different context"))
    }
}
