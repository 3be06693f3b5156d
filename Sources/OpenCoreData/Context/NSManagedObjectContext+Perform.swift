import Foundation
import Synchronization

extension NSManagedObjectContext {
    /// See `perform(_:)`.
    final func performLater(_ block: @escaping () -> Void) {
        publishAncestors()
        inTurn(block)
    }

    /// Runs a block on the context's queue and returns when it is done; from a block of this context it runs at once.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        publishAncestors()
        return try queue.sync { () throws(E) -> T in
            readInbox()
            defer { publish() }
            return try block()
        }
    }

    /// Runs a block on the context's queue and gives its value. Pending changes are processed at its end.
    ///
    /// It stays where its caller is: an `.immediate` block of a main-queue context runs at once when the caller is on the main actor.
    public nonisolated(nonsending) func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
    ) async throws -> T {
        try await enqueue(schedule) { Result { try block() } }.value.get()
    }

    /// As above, for a block that can't fail.
    public nonisolated(nonsending) func perform<T>(schedule: ScheduledTaskType = .immediate, _ block: @escaping () -> T) async -> T {
        await enqueue(schedule, block).value
    }

    private nonisolated(nonsending) func enqueue<T>(_ schedule: ScheduledTaskType, _ block: @escaping () -> T) async -> Unchecked<T> {
        publishAncestors()
        if schedule == .immediate && queue.isCurrent {
            readInbox()
            defer { processPendingChanges() }
            return Unchecked(value: block())
        }
        return await withCheckedContinuation { continuation in
            var value: Unchecked<T>?
            inTurn {
                value = Unchecked(value: block())
            } then: {
                // The block has run.
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Work is handed to this context: what the caller has done so far in an ancestor whose queue he is on is visible to it.
    private func publishAncestors() {
        var ancestor = parent
        while let context = ancestor {
            context.publishIfHere()
            ancestor = context.parent
        }
    }

    func publishIfHere() {
        if queue.isCurrent && queue.kind != .confinement { publish() }
    }
}

/// Holding a context's queue by hand, as was done before contexts had queues.
extension NSManagedObjectContext: NSLocking {
    /// Waits until the queue is free and holds it for this thread until `unlock()`. May be nested.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func lock() {
        queue.hold()
        readInbox()
    }

    /// Lets go of the queue. Traps on a thread that does not hold it.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func unlock() {
        checkQueue()
        publish()
        queue.release()
    }

    /// Holds the queue as `lock()` does if no other thread holds it or waits for it.
    ///
    /// - Returns: whether it is held.
    @available(*, deprecated, message: "Use perform(_:) or performAndWait(_:)")
    public func tryLock() -> Bool {
        guard queue.tryHold() else { return false }
        readInbox()
        return true
    }
}

/// What a context tells those who observe diagnostics.
extension NSManagedObjectContext {
    /// Says once that a merge policy was set where none is asked.
    func noteMergePolicy() {
        guard ContextDiagnostic.isObserved, let parent, mergePolicy !== NSMergePolicy.error,
            !hasToldOfMergePolicy.exchange(true, ordering: .relaxed)
        else { return }
        ContextDiagnostic.report(
            ContextDiagnostic(
                .mergePolicyWithoutEffect,
                "The merge policy that was set on \(diagnosticName) has no effect: its parent is a context, and merge policies are asked where a "
                    + "context meets a store. Set it on the root, \(parent.root.diagnosticName), or set parentConflictPolicy.",
                subject: name))
    }

    /// Says that something could not be read where nothing can be thrown and nothing is lost by waiting.
    func reportUnread(_ what: String, _ error: any Error) {
        ContextDiagnostic.report(
            ContextDiagnostic(
                .storeReadFailed, "\(diagnosticName) could not read \(what). \((error as NSError).localizedDescription)", subject: name))
    }

    /// What `body` reads, where nothing can be thrown and there is nothing to go on with.
    func readable<T>(_ what: String, _ body: () throws -> T) -> T {
        do { return try body() } catch { Violation.unreadable(what, error) }
    }
}
