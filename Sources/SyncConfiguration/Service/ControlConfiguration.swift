/// `[control]`: the socket `cisternctl` talks to.
public struct ControlConfiguration: Sendable, Hashable {
    /// The path of the socket. In a configuration that was read, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` are already filled in.
    public var socket = "$RUNTIME_DIRECTORY/control.sock"
    /// `steer_group`: the group whose members may steer; whoever may connect may look. Empty: root and the user the daemon runs as.
    public var steerGroup = ""

    /// The built-in values.
    public init() {}
}
