import Foundation
import Synchronization

/// Rows on their way from the program's code into a transaction.
///
/// The code runs on the thread that executes the request. Where there are many rows the transaction runs on a thread of its own: one row is made while
/// another is written.
// What both threads use is under the lock; `insert` is asked on the thread that made the feed.
final class RowFeed: @unchecked Sendable {
    private struct State: Sendable {
        var chunks: [[BatchInsert.Row]] = []
        var spent: [[BatchInsert.Row]] = []
        var failure: (any Error)?
        var isStopped = false
    }

    private static let chunkSize = 512
    private let insert: BatchInsert
    private let asking: AskingForRows
    private let queue: ContextQueue
    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: 0)
    private let ready = DispatchSemaphore(value: 0)
    /// Whether the rows are written by another thread than they are made by.
    private var isApart = false
    /// Whether there is no further row to be asked for.
    private(set) var isOver = false

    init(_ insert: BatchInsert, asking: AskingForRows, on queue: ContextQueue) {
        self.insert = insert
        self.asking = asking
        self.queue = queue
        // Not as its first value: whoever stops early leaves less, and the process would be stopped when it goes.
        for _ in 0..<4 { room.signal() }
    }

    /// The next rows, at most that many; fewer only if they are the last. On the thread that made the feed.
    func rows(atMost count: Int) throws -> [BatchInsert.Row] {
        var rows: [BatchInsert.Row] = []
        rows.reserveCapacity(count)
        try asking.asking(on: queue) {
            while rows.count < count, !isOver {
                if let row = try insert.next() { rows.append(row) } else { isOver = true }
            }
        }
        return rows
    }

    /// The next rows; none after the last. On the thread that writes.
    func chunk() throws -> [BatchInsert.Row] {
        if !isApart { return isOver ? [] : try rows(atMost: Self.chunkSize) }
        ready.wait()
        defer { room.signal() }
        return try state.withLock { state throws in
            if !state.chunks.isEmpty { return state.chunks.removeFirst() }
            if let failure = state.failure { throw failure }
            return []
        }
    }

    /// Takes back rows that were written: they go to the thread that made them. On the thread that writes.
    func giveBack(_ rows: inout [BatchInsert.Row]) {
        // Let go of under the lock: whoever takes them must be the only one who has them.
        if isApart {
            state.withLock { state in
                state.spent.append(rows)
                rows = []
            }
        } else {
            insert.spent.put(rows)
            rows = []
        }
    }

    /// Runs `write`, which takes chunk after chunk, on a thread of its own, and hands out rows on this one until it ends. Throws what `write` throws.
    func feed(_ write: () throws -> Void) throws {
        try withoutActuallyEscaping(write) { write in
            let outcome = Mutex<Result<Void, any Error>?>(nil), isDone = DispatchSemaphore(value: 0), work = Writing(write)
            isApart = true
            let isStarted = OneThread.start { [self] in
                let result = work.run()
                outcome.withLock { $0 = result }
                state.withLock { $0.isStopped = true }
                room.signal()
                isDone.signal()
            }
            guard isStarted else {
                isApart = false
                return try write()
            }
            handOut()
            isDone.wait()
            try outcome.withLock { $0 }?.get()
        }
    }

    private func handOut() {
        var isLast = false
        while !isLast {
            room.wait()
            let (isStopped, spent) = state.withLock { state in
                defer { state.spent = [] }
                return (state.isStopped, state.spent)
            }
            if isStopped { return }
            for rows in spent { insert.spent.put(rows) }
            let made = Result { try isOver ? [] : rows(atMost: Self.chunkSize) }
            state.withLock { state in
                switch made {
                case .success(let rows):
                    state.chunks.append(rows)
                    isLast = rows.isEmpty
                case .failure(let error):
                    state.failure = error
                    isLast = true
                }
            }
            ready.signal()
        }
    }
}

/// What is run once, and let go of before anybody hears that it ended.
// Used by the thread that writes, after it was made and before the feed goes on.
private final class Writing: @unchecked Sendable {
    private var body: (() throws -> Void)?

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func run() -> Result<Void, any Error> {
        defer { body = nil }
        return Result { try body?() }
    }
}

/// A thread that does one thing.
private enum OneThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Whether the system gave a thread for it.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
