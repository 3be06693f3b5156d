import Glibc

/// Why the service manager could not be told something.
public struct NotifyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address in `$NOTIFY_SOCKET`.
    public let socket: String
    /// The `errno` of the last attempt. `EAGAIN`: the manager does not read.
    public let code: Int32

    public init(socket: String, code: Int32) {
        self.socket = socket
        self.code = code
    }

    public var description: String {
        code == EAGAIN
            ? "service manager does not read its notification socket \(socket)"
            : "cannot notify the service manager at \(socket): \(String(cString: strerror(code)))"
    }
}
