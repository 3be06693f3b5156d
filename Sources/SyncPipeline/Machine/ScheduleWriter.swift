import OpenCoreData
import Synchronization

/// Commits what the machine wants remembered: the newest of each resource, as many as there are in one small transaction, one after the other.
final class ScheduleWriter: Sendable {
    private typealias Ticket = CheckedContinuation<Void, any Error>

    private struct State {
        var pending: [ResourceScope: StoredSchedule] = [:]
        var isWriting = false
        /// Who waits for what is pending, and for what is being written.
        var next: [Ticket] = []
        var current: [Ticket] = []
    }

    private let document: UIManagedDocument
    private let state = Mutex(State())

    init(document: UIManagedDocument) {
        self.document = document
    }

    /// Has it written soon.
    func write(_ schedule: StoredSchedule) {
        let begins = state.withLock { state in
            state.pending[schedule.scope] = schedule
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { Task { await drain() } }
    }

    /// Returns when everything that was handed over before the call is committed. Throws what the store says.
    func written() async throws {
        try await withCheckedThrowingContinuation { (ticket: Ticket) in
            let isIdle = state.withLock { state in
                if !state.isWriting { return true }
                if state.pending.isEmpty { state.current.append(ticket) } else { state.next.append(ticket) }
                return false
            }
            if isIdle { ticket.resume() }
        }
    }

    private func drain() async {
        while let batch = take() {
            let result: Result<Void, any Error>
            do {
                try await document.withWorker { worker in
                    for schedule in batch { try schedule.write(in: worker) }
                    try worker.save()
                }
                try await document.save()
                result = .success(())
            } catch {
                // The document tells of it and tries again; who waits is told here.
                result = .failure(error)
            }
            let (tickets, goesOn) = finish()
            for ticket in tickets { ticket.resume(with: result) }
            if !goesOn { return }
        }
    }

    private func take() -> [StoredSchedule]? {
        state.withLock { state in
            guard !state.pending.isEmpty else { return nil }
            state.current = state.next
            state.next = []
            defer { state.pending = [:] }
            return state.pending.values.sorted { $0.scope < $1.scope }
        }
    }

    /// In one step: whoever asks from now on asks for what is still pending, or for nothing.
    private func finish() -> (tickets: [Ticket], goesOn: Bool) {
        state.withLock { state in
            state.isWriting = !state.pending.isEmpty
            defer { state.current = [] }
            return (state.current, state.isWriting)
        }
    }
}
