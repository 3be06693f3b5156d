import Glibc
import NIOCore

/// Who is at the other end of a connection to the control socket, as the kernel says: the process that connected, at that moment.
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
