import Dispatch
import Foundation
import Glibc
import Synchronization

/// Tells the service manager how the daemon is: `sd_notify(3)`.
///
/// Every verb returns at once. Messages go out in order on a queue of their own, so that a manager that does not read never
/// delays the daemon; each is repeated for up to 5 s. Of several `STATUS=` texts that wait, the newest is sent. Without
/// `$NOTIFY_SOCKET` every verb does nothing.
public final class Notify: Sendable {
    private struct State {
        var outbox: NotifyOutbox
        var pumpIsQueued = false
        /// The moment for which a timer is set.
        var wakesAt: Duration?
        /// Those who wait for the outbox to be empty.
        var waiters: [DispatchSemaphore] = []
        var failing = false
    }

    /// Whether there is a manager that listens.
    public var isActive: Bool { sender != nil }

    /// Whether the manager keeps descriptors for us (`$FDSTORE`; systemd 254 or newer).
    public let canStoreDescriptors: Bool

    private let sender: (any NotifySender)?
    private let clock: any ServiceClock
    private let onFailure: (@Sendable (NotifyError) -> Void)?
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "cistern.notify")

    /// - Parameters:
    ///   - sender: who carries the messages; nil where there is no manager.
    ///   - canStoreDescriptors: see the property.
    ///   - statusInterval: least time between two `STATUS=` texts.
    ///   - onFailure: called on the queue of this object when a message was given up, once until the next one succeeds.
    public init(
        sender: (any NotifySender)?, canStoreDescriptors: Bool = false, statusInterval: Duration = .seconds(1),
        clock: any ServiceClock = SystemServiceClock(), onFailure: (@Sendable (NotifyError) -> Void)? = nil
    ) {
        self.sender = sender
        self.canStoreDescriptors = canStoreDescriptors
        self.clock = clock
        self.onFailure = onFailure
        state = Mutex(State(outbox: NotifyOutbox(statusInterval: statusInterval)))
    }

    /// Takes `$NOTIFY_SOCKET` and `$FDSTORE` out of the environment, so that no child speaks in our name. To be called once,
    /// before the second thread starts: the environment is not safe to change later.
    public static func takingEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        unset: (String) -> Void = { unsetenv($0) },
        statusInterval: Duration = .seconds(1),
        clock: any ServiceClock = SystemServiceClock(),
        onFailure: (@Sendable (NotifyError) -> Void)? = nil
    ) -> Notify {
        let address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let stores = environment["FDSTORE"].flatMap { Int($0) } ?? 0
        unset("NOTIFY_SOCKET")
        unset("FDSTORE")
        return Notify(
            sender: address.map(NotifySocket.init(address:)), canStoreDescriptors: address != nil && stores > 0,
            statusInterval: statusInterval, clock: clock, onFailure: onFailure)
    }

    /// One line of free text for `systemctl status`. May be called as often as there is news.
    public func status(_ text: String) {
        guard isActive else { return }
        state.withLock { $0.outbox.setStatus(text) }
        wake()
    }

    /// The same for a text that costs something: it is worked out when it is sent, on the queue of this object, so that news which is not sent costs
    /// nothing.
    public func status(_ words: @escaping @Sendable () -> String) {
        guard isActive else { return }
        state.withLock { $0.outbox.setStatus(words) }
        wake()
    }

    /// Sends the message after those that wait already. The verbs of `Notify+Messages` are made of it.
    public func send(_ message: NotifyMessage) {
        guard isActive else { return }
        let now = clock.now
        state.withLock { $0.outbox.add(message, at: now) }
        wake()
    }

    /// Waits until everything said so far has been handed to the manager, a status included that would wait for its interval.
    ///
    /// - Parameters:
    ///   - limit: how long at most. Past it the rest stays in the queue.
    ///   - managerHasRead: also waits until the manager has worked through the messages (`BARRIER=1`). A process that ends before
    ///     its last words are read may no longer be recognised as their author.
    /// - Returns: whether it was done in time. Must not be called from `onFailure`.
    @discardableResult
    public func flush(within limit: Duration, managerHasRead: Bool = false) -> Bool {
        guard isActive else { return true }
        dispatchPrecondition(condition: .notOnQueue(queue))
        let deadline = DispatchTime.now() + limit.dispatchInterval
        guard drain(until: deadline) else { return false }
        return managerHasRead ? passBarrier(until: deadline) : true
    }

    private func drain(until deadline: DispatchTime) -> Bool {
        let done = DispatchSemaphore(value: 0)
        state.withLock { $0.waiters.append(done) }
        wake()
        guard done.wait(timeout: deadline) == .timedOut else { return true }
        state.withLock { state in state.waiters.removeAll { $0 === done } }
        // It may have been signalled between the two lines above.
        return done.wait(timeout: .now()) == .success
    }

    /// The manager closes its copy of one end of a pair when it has read up to this message.
    private func passBarrier(until deadline: DispatchTime) -> Bool {
        var ends: (Int32, Int32) = (-1, -1)
        let made = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) {
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, $0)
            }
        }
        guard made == 0 else { return false }
        defer { close(ends.0) }
        send(NotifyMessage([.init("BARRIER", "1")], descriptors: [ends.1]))
        guard drain(until: deadline) else { return false }
        var request = pollfd(fd: ends.0, events: 0, revents: 0)
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            let left = deadline.uptimeNanoseconds > now ? (deadline.uptimeNanoseconds - now) / 1_000_000 : 0
            let ready = poll(&request, 1, Int32(clamping: left))
            if ready >= 0 || errno != EINTR { return ready == 1 }
        }
    }

    // MARK: - The queue

    private func wake() {
        let isNeeded = state.withLock { state in
            defer { state.pumpIsQueued = true }
            return !state.pumpIsQueued
        }
        if isNeeded { queue.async { self.pump() } }
    }

    private func pump() {
        guard let sender else { return }
        state.withLock { $0.pumpIsQueued = false }
        while true {
            let now = clock.now
            let (step, waiters) = state.withLock { state in
                let step = state.outbox.next(at: now, hurrying: !state.waiters.isEmpty)
                guard step == .idle else { return (step, [DispatchSemaphore]()) }
                defer { state.waiters = [] }
                return (step, state.waiters)
            }
            waiters.forEach { $0.signal() }
            switch step {
            case .send(let message): attempt(message, by: sender)
            case .ask: workOutStatus()
            case .wait(let moment): return sleep(until: moment, from: now)
            case .idle: return
            }
        }
    }

    /// Returns when everything that was to be done at once has been tried. For tests.
    func drain() {
        queue.sync {}
    }

    /// Outside of the lock: whoever says it may have locks of its own.
    private func workOutStatus() {
        guard let (words, count) = state.withLock({ $0.outbox.wanted }) else { return }
        let text = words()
        state.withLock { $0.outbox.setStatus(text, wanted: count) }
    }

    private func attempt(_ message: NotifyMessage, by sender: any NotifySender) {
        do throws(NotifyError) {
            try sender.send(message)
            let now = clock.now
            finish(
                state.withLock { state in
                    state.failing = false
                    return state.outbox.sent(at: now)
                })
        } catch {
            let now = clock.now
            let (dropped, isNews) = state.withLock { state -> (NotifyMessage?, Bool) in
                guard let dropped = state.outbox.failed(at: now) else { return (nil, false) }
                defer { state.failing = true }
                return (dropped, !state.failing)
            }
            finish(dropped)
            if isNews { onFailure?(error) }
        }
    }

    private func finish(_ message: NotifyMessage?) {
        for descriptor in message?.descriptors ?? [] {
            let result = close(descriptor)
            // The number of one that a sender closed may be somebody else's by now.
            assert(result == 0 || errno != EBADF, "a NotifySender closed a descriptor that it was lent")
        }
    }

    private func sleep(until moment: Duration, from now: Duration) {
        let isNew = state.withLock { state in
            if let wakesAt = state.wakesAt, wakesAt <= moment { return false }
            state.wakesAt = moment
            return true
        }
        guard isNew else { return }
        clock.schedule(after: moment - now, on: queue) { [weak self] in
            self?.state.withLock { state in
                if state.wakesAt == moment { state.wakesAt = nil }
            }
            self?.pump()
        }
    }
}

/// Why the service manager could not be told something.
public struct NotifyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address in `$NOTIFY_SOCKET`.
    public let socket: String
    /// The `errno` of the last attempt. `EAGAIN`: the manager does not read.
    public let code: Int32

    /// - Parameter code: an `errno`.
    public init(socket: String, code: Int32) {
        self.socket = socket
        self.code = code
    }

    /// One sentence with the socket's address and, except for `EAGAIN`, the system's words for the `errno`.
    public var description: String {
        code == EAGAIN
            ? "the service manager does not read its notification socket \(socket)"
            : "cannot notify the service manager at \(socket): \(String(cString: strerror(code)))"
    }
}
