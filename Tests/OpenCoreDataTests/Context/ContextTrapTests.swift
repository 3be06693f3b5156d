import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What throws changes away, brings them in or saves them belongs to the context's queue, also where there is nothing to do.
@Suite struct ContextTrapTests {
    private static let words = "context \"root\" was used outside of its queue"

    @Test func rollingBackOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestStack().root.rollback()
        }.trap(says: Self.words)
    }

    @Test func resettingOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestStack().root.reset()
        }.trap(says: Self.words)
    }

    @Test func refreshingOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let item = stack.root.performAndWait { stack.root.make("Item") }
            stack.root.refresh(item, mergeChanges: true)
        }.trap(says: Self.words)
    }

    @Test func refreshingAllOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = Company.entity("Leaving", LeavingObject.self)
            entity.properties = [Company.attribute("name", .string)]
            let stack = TestStack(NSManagedObjectModel(entities: [entity]))
            let object = try stack.root.performAndWait {
                let made = stack.root.make("Leaving")
                try stack.root.save()
                return made
            }
            // Before anything is done.
            withExtendedLifetime(object) { stack.root.refreshAllObjects() }
        }.trap(says: Self.words)
    }

    @Test func mergingOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestStack().root.mergeChanges(
                fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
        }.trap(says: Self.words)
    }

    @Test func savingThroughOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try? TestStack().root.saveToStore()
        }.trap(says: Self.words)
    }

    @Test func savingNothingOutsideOfTheQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try? TestStack().root.save()
        }.trap(says: Self.words)
    }

    @Test func aChangeNotificationThatNamesNoObjectsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait {
                stack.root.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, userInfo: [NSUpdatedObjectsKey: "Ada"]))
            }
        }.trap(says: "the value for \"updated\" in a change notification is not a set or an array")
    }
}

/// The program ends well as soon as one of these becomes a fault.
final class LeavingObject: NSManagedObject {
    override func didTurnIntoFault() { exit(EXIT_SUCCESS) }
}
