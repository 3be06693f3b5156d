import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ConcurrencyTrapTests {
    // C10, E2
    @Test func aConfinementContextRefusesPerform() async {
        await #expect(processExitsWith: .failure) { NSManagedObjectContext(.confinementConcurrencyType).perform {} }
    }

    // C10, E2
    @Test func aConfinementContextRefusesPerformAndWait() async {
        await #expect(processExitsWith: .failure) { NSManagedObjectContext(.confinementConcurrencyType).performAndWait {} }
    }

    // C10, E2
    @Test func aConfinementContextCannotBeAParent() async {
        await #expect(processExitsWith: .failure) {
            NSManagedObjectContext(.privateQueueConcurrencyType).parent = NSManagedObjectContext(.confinementConcurrencyType)
        }
    }

    // C13, E2
    @Test func useOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            _ = stack.root.registeredObjects
        }
    }

    // C13, E2
    @Test func readingAnObjectOutsideOfItsQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            let person = stack.root.performAndWait { stack.root.make("Person") }
            _ = person.value(forKey: "name")
        }
    }

    // GB26
    @Test func twoContextsThatWaitForEachOtherStopTheProgram() async {
        await #expect(processExitsWith: .failure) { Self.waitForEachOther() }
    }

    /// Only the trap ends it.
    private static func waitForEachOther() {
        let stack = TestStack()
        let first = stack.independent(), second = stack.independent()
        let held = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        for (mine, other) in [(first, second), (second, first)] {
            mine.perform {
                held.signal()
                goOn.wait()
                other.performAndWait {}
            }
        }
        held.wait()
        held.wait()
        goOn.signal()
        goOn.signal()
        DispatchSemaphore(value: 0).wait()
    }

    // GB26
    @Test func theMainQueueWaitingForAWorkerThatWaitsForItStopsTheProgram() async {
        await #expect(processExitsWith: .failure) { await Self.waitForAWorkerOnTheMainQueue() }
    }

    @MainActor private static func waitForAWorkerOnTheMainQueue() {
        let stack = TestStack()
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        let worker = stack.child(of: main, name: "worker")
        let started = DispatchSemaphore(value: 0)
        worker.perform {
            started.signal()
            main.performAndWait {}
        }
        started.wait()
        worker.performAndWait {}
        exit(0)
    }

    // N31
    @Test func aParentIsSetOnce() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.child(of: stack.root).parent = stack.independent()
        }
    }

    // N31
    @Test func aParentOfOthersGetsNoParentAnyMore() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            let middle = NSManagedObjectContext(.privateQueueConcurrencyType)
            _ = stack.child(of: middle)
            middle.parent = stack.root
        }
    }

    // E2, L1
    @Test func anUnknownEntityStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Nobody") }
        }
    }

    // E2
    @Test func anUnknownKeyStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Person").value(forKey: "nothing") }
        }
    }

    // E2
    @Test func aValueOfTheWrongTypeStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            stack.root.performAndWait { stack.root.make("Person").setValue("eighteen", forKey: "age") }
        }
    }

    // E2, R9
    @Test func relatingObjectsOfTwoContextsStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = TestStack()
            let other = stack.independent()
            holding(stack.root, other) {
                other.make("Person").setValue(stack.root.make("Department"), forKey: "department")
            }
        }
    }
}
