// `iovec` comes from whichever of the two modules the compiler reads first, which an optimised build decides otherwise.
import CSystemd
import Glibc

/// The manager's datagram socket.
///
/// `sd_notify(3)` looks up the address in the environment each time, where our children must not find it, and blocks as long as the manager does not
/// read. The protocol is documented and three calls long, so this speaks it directly: a fresh socket for each message (a manager that restarts keeps
/// the path, not the peer), never waiting.
public struct NotifySocket: NotifySender {
    /// As found in `$NOTIFY_SOCKET`: a path, or `@` and a name in the abstract name space.
    public let address: String

    /// Checks nothing: an address that is none shows when something is sent.
    public init(address: String) {
        self.address = address
    }

    /// Makes one attempt and never waits. Throws the `errno`: `EAGAIN` if the manager does not read, `EINVAL` if the address is none.
    public func send(_ message: NotifyMessage) throws(NotifyError) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw NotifyError(socket: address, code: errno) }
        defer { close(descriptor) }
        guard let (found, length) = socketAddress() else { throw NotifyError(socket: address, code: EINVAL) }
        var name = found
        let failure = withUnsafeMutableBytes(of: &name) { transmit(message, over: descriptor, to: $0, length: length) }
        if failure != 0 { throw NotifyError(socket: address, code: failure) }
    }

    private func socketAddress() -> (sockaddr_un, socklen_t)? {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            bytes.count < MemoryLayout.size(ofValue: name.sun_path)
        else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name is as long as it says; a path ends at its NUL.
        let extent = bytes.count + (bytes[0] == 0 ? 0 : 1)
        return (name, socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + extent))
    }

    /// 0, or the `errno` of the attempt.
    private func transmit(
        _ message: NotifyMessage, over descriptor: Int32, to name: UnsafeMutableRawBufferPointer, length: socklen_t
    ) -> Int32 {
        var payload = Array(message.text.utf8)
        return payload.withUnsafeMutableBytes { bytes in
            var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var header = msghdr()
                header.msg_name = name.baseAddress
                header.msg_namelen = length
                header.msg_iov = vector
                header.msg_iovlen = 1
                let rights = Self.rights(message.descriptors)
                defer { rights?.deallocate() }
                header.msg_control = rights?.baseAddress
                header.msg_controllen = rights?.count ?? 0
                while sendmsg(descriptor, &header, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) < 0 {
                    if errno != EINTR { return errno }
                }
                return 0
            }
        }
    }

    /// One `SCM_RIGHTS` control message, laid out by hand: the `CMSG_…` macros do not reach Swift.
    private static func rights(_ descriptors: [Int32]) -> UnsafeMutableRawBufferPointer? {
        guard !descriptors.isEmpty else { return nil }
        let headerSize = MemoryLayout<cmsghdr>.size
        let dataSize = descriptors.count * MemoryLayout<Int32>.size
        let word = MemoryLayout<Int>.size
        let space = headerSize + (dataSize + word - 1) / word * word
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: space, alignment: MemoryLayout<cmsghdr>.alignment)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        var header = cmsghdr()
        header.cmsg_len = headerSize + dataSize
        header.cmsg_level = SOL_SOCKET
        header.cmsg_type = Int32(SCM_RIGHTS)
        buffer.storeBytes(of: header, as: cmsghdr.self)
        descriptors.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[headerSize...]).copyMemory(from: $0) }
        return buffer
    }
}

/// Takes one message to the service manager.
public protocol NotifySender: Sendable {
    /// Makes one attempt. Should return at once where it can; `Notify` repeats what failed, and closes the message's descriptors when it is done with
    /// it: a sender leaves them open.
    func send(_ message: NotifyMessage) throws(NotifyError)
}

/// What is still to be sent to the manager, in which order and when. No clock, no socket: `Notify` supplies both.
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
        /// The status that is to be sent now is not worked out yet: have `wanted` say it, and call `setStatus(_:wanted:)`.
        case ask
        /// Nothing to do before that moment.
        case wait(until: Duration)
        case idle
    }

    private struct Item {
        let message: NotifyMessage
        let expires: Duration
    }

    private enum Words {
        case text(String)
        /// Worked out when it is sent.
        case made(@Sendable () -> String)

        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    private let statusInterval: Duration
    private var items: [Item] = []
    private var status: (words: Words, expires: Duration?)?
    private var statusCount = 0
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
        status = (.text(text), nil)
        statusCount += 1
    }

    mutating func setStatus(_ words: @escaping @Sendable () -> String) {
        status = (.made(words), nil)
        statusCount += 1
    }

    /// Who says the status that `.ask` is about, and which one that is.
    var wanted: (words: @Sendable () -> String, count: Int)? {
        guard case .made(let words)? = status?.words else { return nil }
        return (words, statusCount)
    }

    /// What `wanted` said. Nothing if there is a newer status by now, or none.
    mutating func setStatus(_ text: String, wanted count: Int) {
        if status != nil, statusCount == count { status?.words = .text(text) }
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
        guard let text = status.words.text else { return .ask }
        if status.expires == nil { self.status?.expires = now + Self.patience }
        let message = NotifyMessage([.init("STATUS", text)])
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
        } else if let text = status?.words.text, NotifyMessage([.init("STATUS", text)]) == trying.message {
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
