/// Why the daemon cannot start or cannot go on: words for the operator, and the exit status.
public struct StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public var status: ExitStatus
    /// What happened, where, and what to do about it.
    public var message: String
    /// The `errno` behind it, for `systemctl status`.
    public var code: Int32?

    public init(_ status: ExitStatus, _ message: String, code: Int32? = nil) {
        self.status = status
        self.message = message
        self.code = code
    }

    public var description: String { message }
}
