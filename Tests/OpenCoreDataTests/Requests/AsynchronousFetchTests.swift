import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Fetches that do not wait, and `execute()`.
@Suite struct AsynchronousFetchTests {
    // Handed over once, when the completion block has ended.
    private struct Outcome: @unchecked Sendable {
        var objects: [Int]?
        var error: (any Error)?
        var wasOnQueue = false
        var progress: Double?
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
        return request
    }

    /// Executes a fetch in a context and waits for its completion block.
    private func outcome(
        _ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>, cancelling: Bool = false
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            context.performAndWait {
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    var outcome = Outcome(objects: result.finalResult?.compactMap { $0.value(forKey: "a") as? Int }, error: result.operationError)
                    outcome.wasOnQueue = result.managedObjectContext === context && !context.registeredObjects.isEmpty
                    outcome.progress = result.progress?.fractionCompleted
                    continuation.resume(returning: outcome)
                }
                guard let result = try? context.execute(fetch) as? NSAsynchronousFetchResult<NSManagedObject> else { return }
                #expect(result.finalResult == nil && result.fetchRequest === fetch)
                if cancelling { result.cancel() }
            }
        }
    }

    // F13, GB24
    @Test(arguments: 0..<3) func itCompletesOnTheContextsQueueAlsoInChildren(depth: Int) async throws {
        let stack = TestStack()
        var context = stack.root
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["a": 1])
            try stack.root.save()
            stack.root.make("Item", ["a": 2])
            stack.root.processPendingChanges()
        }
        for level in 0..<depth {
            context = stack.child(of: context)
            context.performAndWait {
                context.make("Item", ["a": 10 + level])
                context.processPendingChanges()
            }
        }
        let keeper = context
        let found = await outcome(keeper, request())
        #expect(found.objects == [1, 2] + (0..<depth).map { 10 + $0 })
        #expect(found.wasOnQueue && found.error == nil && found.progress == 1)
    }

    // F13
    @Test func changesMadeBeforeItWasExecutedCountAndLaterOnesDoNot() async throws {
        let stack = TestStack()
        let context = stack.root
        let numbers: [Int] = await withCheckedContinuation { continuation in
            context.performAndWait {
                context.make("Item", ["a": 1])
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
                    continuation.resume(returning: result.finalResult?.compactMap { $0.value(forKey: "a") as? Int } ?? [])
                }
                _ = try? context.execute(fetch)
                // Not published before this block ends; what the fetch sees was settled when it was executed.
                #expect(context.insertedObjects.count == 1)
            }
        }
        #expect(numbers == [1])
    }

    // F13
    @Test func aCancelledFetchHasAnErrorAndNoResult() async {
        let stack = TestStack()
        let found = await outcome(stack.root, request(), cancelling: true)
        #expect(found.objects == nil && (found.error as? CocoaError)?.code == .userCancelled)
    }

    // F13
    @Test func anErrorOfTheStoreReachesTheCompletionBlock() async throws {
        let stack = try SQLiteStack()
        let found = await outcome(stack.root, request("FUNCTION(key, 'length') == 1"))
        #expect(found.objects == nil && (found.error as? NSError)?.code == 134060)
    }

    // F13
    @Test func codeInThePredicateRunsOnTheContextsQueue() async throws {
        let stack = TestStack()
        let context = stack.root
        try context.performAndWait { () throws in
            for number in 1...3 { context.make("Item", ["a": number]) }
            try context.save()
        }
        let request = request()
        request.predicate = NSPredicate { _, _ in !context.registeredObjects.isEmpty || true }
        #expect(await outcome(context, request).objects == [1, 2, 3])
    }

    // F13
    @Test func aRequestThatAContextDoesNotKnowIsRefused() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            let error = #expect(throws: NSError.self) { try stack.root.execute(request()) }
            #expect(error?.code == 134091)
        }
    }

    // F17
    @Test func executeUsesTheContextWhoseBlockRuns() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["a": 1])
            try stack.root.save()
            #expect(try request().execute().allSatisfy { $0.managedObjectContext === stack.root })
            try child.performAndWait { () throws in
                child.make("Item", ["a": 2])
                let found = try request().execute()
                #expect(found.count == 2 && found.allSatisfy { $0.managedObjectContext === child })
            }
            #expect(try request().execute().count == 1)
            let counted: [NSManagedObject] = try stack.coordinator.performAndWait { () throws in try request().execute() }
            #expect(counted.count == 1)
        }
    }

    // E2, F17
    @Test func executeOutsideOfABlockStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TestStack()
            _ = try NSFetchRequest<NSManagedObject>(entityName: "Item").execute()
        }.trap(says: "execute() works only within")
    }
}
