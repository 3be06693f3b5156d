/// What is still to be said to the manager, in which order and when. No clock, no socket: `Notify` brings both.
///
/// Messages keep their order. Only the newest status is kept, and it goes last: a status is news about now. A watchdog ping
/// that waits already speaks for the next one.
struct NotifyOutbox {
    /// How long a message is tried before it is given up.
    static let patience = Duration.seconds(5)
    /// Between two attempts.
    static let retryPause = Duration.milliseconds(100)

    enum Step: Equatable {
        /// Try to send this now, then call `sent()` or `failed(_:at:)`.
        case send(NotifyMessage)
        /// Nothing to do before that moment.
        case wait(until: Duration)
        case idle
    }

    private struct Item {
        let message: NotifyMessage
        let expires: Duration
    }

    private let statusInterval: Duration
    private var items: [Item] = []
    private var status: (text: String, expires: Duration?)?
    private var statusNotBefore: Duration?
    private var retryAt: Duration?
    private var trying: (message: NotifyMessage, isStatus: Bool)?

    init(statusInterval: Duration) {
        self.statusInterval = statusInterval
    }

    var isEmpty: Bool { items.isEmpty && status == nil }

    mutating func add(_ message: NotifyMessage, at now: Duration) {
        // Whatever status waits is older than the one in this message.
        if message["STATUS"] != nil { status = nil }
        if message == .ping, items.contains(where: { $0.message == .ping }) { return }
        items.append(Item(message: message, expires: now + Self.patience))
    }

    mutating func setStatus(_ text: String) {
        status = (text, nil)
    }

    /// `hurrying`: a status does not wait for its interval.
    mutating func next(at now: Duration, hurrying: Bool = false) -> Step {
        if let retryAt, now < retryAt { return .wait(until: retryAt) }
        retryAt = nil
        if let first = items.first {
            trying = (first.message, false)
            return .send(first.message)
        }
        guard let status else { return .idle }
        if !hurrying, let statusNotBefore, now < statusNotBefore { return .wait(until: statusNotBefore) }
        if status.expires == nil { self.status?.expires = now + Self.patience }
        let message = NotifyMessage([.init("STATUS", status.text)])
        trying = (message, true)
        return .send(message)
    }

    /// The message of the last `.send` is on its way. Returns it, with the descriptors that can be closed now.
    mutating func sent(at now: Duration) -> NotifyMessage? {
        if let trying, trying.message["STATUS"] != nil { statusNotBefore = now + statusInterval }
        return drop()
    }

    /// The message of the last `.send` was not taken. Returns it if it has been tried for long enough and is given up.
    mutating func failed(at now: Duration) -> NotifyMessage? {
        guard let trying else { return nil }
        let expires = trying.isStatus ? status?.expires : items.first?.expires
        if let expires, now < expires {
            retryAt = now + Self.retryPause
            return nil
        }
        return drop()
    }

    private mutating func drop() -> NotifyMessage? {
        defer { trying = nil }
        guard let trying else { return nil }
        if !trying.isStatus {
            items.removeFirst()
        } else if let status, NotifyMessage([.init("STATUS", status.text)]) == trying.message {
            // A newer one may have come while this was on its way; that one stays.
            self.status = nil
        }
        return trying.message
    }
}

extension NotifyMessage {
    /// "Alive."
    static let ping = NotifyMessage([.init("WATCHDOG", "1")])
}
