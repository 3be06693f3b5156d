import Glibc
import NIOCore
import SyncControl
import Synchronization

/// The listening socket of the control server: made by ourselves, or passed by the service manager.
public final class ControlListener: Sendable {
    /// Members of the group may connect.
    static let mode: mode_t = 0o660
    private static let backlog: Int32 = 64

    /// Bound and listening. The control server closes it with its channel; `remove()` does not.
    public let descriptor: Int32
    /// The path of a socket we made; `nil` if it was passed and is not ours to remove.
    public let path: String?
    /// Which file that is, so that nobody else's is removed.
    private let identity: Identity?

    /// A file system may reuse the number of a removed file, so the creation time is part of the identity.
    private struct Identity: Equatable {
        var device: UInt64
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
    }

    /// A socket that is bound and listens already.
    public init(passed descriptor: Int32) {
        self.descriptor = descriptor
        path = nil
        identity = nil
    }

    /// Creates the socket. It replaces a file left behind by a killed daemon, but not a socket that answers.
    ///
    /// To be called after the document's lock was taken: of two daemons on one document only one gets here.
    /// - Throws: `StartFailure` with status 71, or 78 if the path cannot be one of a socket.
    public init(path: String) throws(StartFailure) {
        guard let (address, length) = unixAddress(path) else {
            throw StartFailure(.configuration, "[control] socket = \"\(path)\" is too long for a socket; the limit is 107 bytes")
        }
        try Self.makeDirectory(of: path)
        try Self.removeLeftover(path, address, length)
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        // Nobody can connect before `listen`, so the mode is right from the first connection on.
        guard withUnsafeAddress(address, { bind(descriptor, $0, length) }) == 0, chmod(path, Self.mode) == 0,
            listen(descriptor, Self.backlog) == 0
        else {
            let code = errno
            close(descriptor)
            throw Self.failure(path, code)
        }
        self.descriptor = descriptor
        self.path = path
        identity = Self.identity(of: path)
    }

    /// Removes the socket from the file system, if it was made here and is still the same.
    public func remove() {
        guard let path, let identity, let current = Self.identity(of: path), identity == current else { return }
        unlink(path)
    }

    private static func identity(of path: String) -> Identity? {
        var information = stat()
        guard lstat(path, &information) == 0 else { return nil }
        return Identity(
            device: UInt64(information.st_dev), inode: UInt64(information.st_ino), seconds: information.st_mtim.tv_sec,
            nanoseconds: information.st_mtim.tv_nsec)
    }

    /// One level, as in `/run/cistern`, which the service manager makes otherwise.
    private static func makeDirectory(of path: String) throws(StartFailure) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o750) != 0, errno != EEXIST { throw failure(path, errno) }
    }

    private static func removeLeftover(_ path: String, _ address: sockaddr_un, _ length: socklen_t) throws(StartFailure) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else {
            throw StartFailure(
                .osError, "\(path) exists and is not a socket; move it away, or name another [control] socket", code: EEXIST)
        }
        let probe = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw failure(path, errno) }
        defer { close(probe) }
        let isAnswered = withUnsafeAddress(address) { connect(probe, $0, length) } == 0 || errno == EAGAIN
        guard !isAnswered else {
            throw StartFailure(
                .osError, "another process listens at \(path); stop it, or give this daemon a [control] socket of its own", code: EADDRINUSE)
        }
        unlink(path)
    }

    private static func failure(_ path: String, _ code: Int32) -> StartFailure {
        StartFailure(
            .osError,
            "cannot create the control socket \(path): \(systemError(code)); start cisternd through systemd, or set [control] socket to a path "
                + "it may write",
            code: code)
    }
}

/// The address of a path; `nil` if it is too long.
private func unixAddress(_ path: String) -> (sockaddr_un, socklen_t)? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return (address, socklen_t(MemoryLayout<sockaddr_un>.size))
}

private func withUnsafeAddress<Result>(_ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
    withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
}

/// Who is at the other end of a connection to the control socket, according to the kernel: the process that connected, at that moment.
struct ControlPeer: Sendable, Hashable, CustomStringConvertible {
    var process: Int32
    var user: uid_t
    /// Its group; the others that its user belongs to are in the system's database.
    var group: gid_t

    /// `alice (uid 1000, process 4242)`
    var description: String { "\(Accounts.name(of: user) ?? "somebody") (uid \(user), process \(process))" }

    /// Everything its user may do as a member of a group.
    var groups: Set<gid_t> { Accounts.groups(of: user).union([group]) }
}

extension ControlPeer {
    /// The layout of the kernel's `struct ucred`, which Glibc keeps to itself.
    private struct Credentials: Sendable {
        var process: Int32 = 0
        var user: UInt32 = .max
        var group: UInt32 = .max
    }

    private static let peerCredentials = NIOBSDSocket.Option(rawValue: 17)  // SO_PEERCRED

    /// The peer of a connection; nil if the kernel does not say, as for a socket that is none of the file system.
    static func of(_ channel: any Channel) async -> ControlPeer? {
        guard let options = channel as? any SocketOptionProvider else { return nil }
        let answer: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(level: .socket, name: peerCredentials)
        guard let credentials = try? await answer.get(), credentials.user != .max else { return nil }
        return ControlPeer(process: credentials.process, user: credentials.user, group: credentials.group)
    }
}

/// Who may do what at the control socket. Anyone who may connect may look; to steer, a peer must be root, the user the daemon runs as, or a member of
/// the steering group.
struct ControlAccess: Sendable {
    /// The name of the group; empty for none.
    var steerGroup = ""
    /// The user the daemon runs as.
    var owner: uid_t = geteuid()
    /// Called with each request to steer that is allowed.
    var note: @Sendable (ControlRequest, ControlPeer) -> Void = { _, _ in }

    /// - Throws: ``ControlError`` with status 77 if the peer may not ask for that.
    func check(_ request: ControlRequest, by peer: ControlPeer?) throws(ControlError) {
        guard request.verb.isSteering else { return }
        guard let peer, maySteer(peer) else {
            throw ControlError(
                "\(peer?.description ?? "an unknown peer") may look, but may not use \(request.verb.rawValue)",
                advice: steerGroup.isEmpty
                    ? "use sudo, or name a group that may in [control] steer_group" : "use sudo, or join the group \(steerGroup)",
                code: .noPermission)
        }
        note(request, peer)
    }

    func maySteer(_ peer: ControlPeer) -> Bool {
        if peer.user == 0 || peer.user == owner { return true }
        guard !steerGroup.isEmpty, let group = Accounts.groupID(steerGroup) else { return false }
        return peer.groups.contains(group)
    }
}

/// How many connections to the control socket may be open at once, in total and per user, so that nobody can keep others out or take the descriptors
/// that fetching and saving need.
final class ConnectionQuota: Sendable {
    private let total: Int
    private let ofOneUser: Int
    private let open = Mutex<[uid_t: Int]>([:])

    init(total: Int = 128, ofOneUser: Int = 32) {
        self.total = total
        self.ofOneUser = ofOneUser
    }

    /// Takes a place; false if there is none.
    func enter(_ user: uid_t) -> Bool {
        open.withLock { open in
            // Root gets in even when others have taken all places.
            let limit = user == 0 ? total + ofOneUser : total
            guard open.values.reduce(0, +) < limit, open[user, default: 0] < ofOneUser else { return false }
            open[user, default: 0] += 1
            return true
        }
    }

    func leave(_ user: uid_t) {
        open.withLock { open in
            let left = open[user, default: 1] - 1
            open[user] = left > 0 ? left : nil
        }
    }
}
