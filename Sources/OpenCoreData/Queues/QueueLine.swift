import Foundation
import Synchronization

/// Work of a main-queue context that goes on over several turns of the main queue, and the blocks of that context that wait behind it, in the order in
/// which they came. Whatever else the main queue has to do is done between the turns.
///
/// A block of the context runs at once when its turn comes and nothing is ahead of it; else it joins the line, and runs in a turn of its own.
// Used in blocks of the main dispatch queue only, so one at a time.
final class QueueLine: @unchecked Sendable {
    private enum Waiting {
        case block(() -> Void)
        /// A thread that wants to run a block on the queue itself, and is told when it may come.
        case thread(DispatchSemaphore)
    }

    private var waiting: ArraySlice<Waiting> = []
    /// Work goes on in turns, or a thread was told to come.
    private var isTaken = false
    /// The next in line is about to come.
    private var isCalling = false

    private var isFree: Bool { !isTaken && waiting.isEmpty }

    fileprivate func run(_ block: @escaping () -> Void) {
        if isFree { block() } else { waiting.append(.block(block)) }
    }

    /// Nil: it may come now. Else it is told when; then it says when it has been there.
    fileprivate func turnOfThread() -> DispatchSemaphore? {
        if isFree { return nil }
        let turn = DispatchSemaphore(value: 0)
        waiting.append(.thread(turn))
        return turn
    }

    /// Runs `turn` until it returns false, each time in a turn of the main queue.
    fileprivate func take(_ turn: @escaping () -> Bool) {
        isTaken = true
        guard turn() else { return leave() }
        let again = Unchecked(value: turn)
        DispatchQueue.main.async { self.take(again.value) }
    }

    fileprivate func leave() {
        isTaken = false
        goOn()
    }

    /// Calls the next in line, who comes in a turn of its own.
    private func goOn() {
        if isTaken || isCalling || waiting.isEmpty { return }
        isCalling = true
        DispatchQueue.main.async {
            self.isCalling = false
            let next = self.waiting.popFirst()
            // A slice keeps what was taken from it.
            if self.waiting.isEmpty { self.waiting = [] }
            switch next {
            case .block(let block): block()
            case .thread(let turn):
                self.isTaken = true
                turn.signal()
            case nil: break
            }
            self.goOn()
        }
    }
}

extension QueueLine? {
    /// Runs a block now, or when those before it have been served.
    func run(_ block: @escaping () -> Void) {
        if let self { self.run(block) } else { block() }
    }

    /// Runs `body` on a queue when those before it have been served, and gives what it returns. Called on another queue.
    func enter<T>(_ queue: DispatchQueue, _ body: () -> T) -> T {
        guard let self else { return queue.sync(execute: body) }
        var result: T?
        let turn = queue.sync {
            let turn = self.turnOfThread()
            if turn == nil { result = body() }
            return turn
        }
        if let result { return result }
        turn?.wait()
        return queue.sync {
            defer { self.leave() }
            return body()
        }
    }
}

extension ContextQueue {
    /// Runs `turn`, after what is queued already, until it returns false. On the main queue each time is a turn of its own, and whoever else waits for
    /// the main queue is served in between; blocks of this queue wait until it is over, but for those that run on the main thread already.
    func inTurns(_ turn: @escaping () -> Bool) {
        if kind == .confinement { Violation.confinement("perform(_:)") }
        let work = Unchecked(value: turn)
        let origin = kind == .main ? MainQueueLoad.origin() : nil
        guard let line else { return enqueue { self.held(origin) { while work.value() {} } } }
        pending.add(1, ordering: .relaxed)
        let held = { @Sendable in
            let goesOn = self.held(origin) { work.value() }
            if !goesOn { self.pending.subtract(1, ordering: .relaxed) }
            return goesOn
        }
        dispatch?.async { self.line.run { line.take(held) } }
    }

    /// The same for work that nobody waits for: blocks of this queue run between its turns, too.
    func aside(_ turn: @escaping () -> Bool) {
        let work = Unchecked(value: turn)
        guard kind == .main else { return enqueue { self.held(nil) { while work.value() {} } } }
        dispatch?.async {
            if self.held(nil, { work.value() }) { self.aside(work.value) }
        }
    }
}
