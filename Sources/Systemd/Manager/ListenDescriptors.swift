import Foundation
import Glibc

/// Sockets that the service manager opened for us, or kept for us across a restart, by their `FileDescriptorName=`.
public struct ListenDescriptors: Sendable, Equatable {
    /// One socket, under the name its unit gives it.
    public struct Passed: Sendable, Equatable {
        /// `FileDescriptorName=`, from `$LISTEN_FDNAMES`; `unknown` if that has none for it.
        public let name: String
        /// Open, and set to close on exec. The receiver's to close.
        public let descriptor: Int32
    }

    /// In the order in which they were passed.
    public let all: [Passed]

    /// Every descriptor of that name. More than one if a stored one comes back beside the one of the socket unit.
    public subscript(name: String) -> [Int32] { all.filter { $0.name == name }.map(\.descriptor) }

    /// Reads `$LISTEN_FDS`, `$LISTEN_FDNAMES` and `$LISTEN_PID`, and removes them, because they are for this process only. Every descriptor is set to
    /// close on exec. Empty if nothing was passed or it was meant for another process. To be called once, before the second thread starts.
    ///
    /// - Parameter first: number of the first one; 3 by the protocol.
    /// - Throws: `POSIXError` if a descriptor that was announced is not open.
    public static func take(
        from environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid(), first: Int32 = 3,
        unset: (String) -> Void = { unsetenv($0) }
    ) throws -> ListenDescriptors {
        ["LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID"].forEach(unset)
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == process,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0, count < 1_024
        else { return ListenDescriptors(all: []) }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        let all = try (0..<Int(count)).map { index in
            let descriptor = first + Int32(index)
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) >= 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EBADF)
            }
            return Passed(name: index < names.count ? String(names[index]) : "unknown", descriptor: descriptor)
        }
        return ListenDescriptors(all: all)
    }
}
