import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, after what is queued there already, and returns at once. Pending changes are processed at
    /// its end.
    public func perform(_ block: @escaping () -> Void) {
        publishAncestors()
        queue.async { [self] in
            receiveMail()
            block()
            processPendingChanges()
        }
    }

    /// Runs a block on the context's queue and returns when it is done; from a block of this context it runs at once.
    public func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        publishAncestors()
        return try queue.sync { () throws(E) -> T in
            receiveMail()
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
            receiveMail()
            defer { processPendingChanges() }
            return Unchecked(value: block())
        }
        return await withCheckedContinuation { continuation in
            queue.async { [self] in
                receiveMail()
                let value = block()
                processPendingChanges()
                continuation.resume(returning: Unchecked(value: value))
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
