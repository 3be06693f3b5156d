/// A poll that somebody asked for and did not wait for, and that a stop left undone.
public struct UnservedPoll: Sendable, Hashable {
    public let scope: ResourceScope
    /// Who asked for it.
    public let cause: RunCause
    /// Whether every page was to be asked for without conditions.
    public let isFull: Bool

    /// Left undone by a stop.
    public init(scope: ResourceScope, cause: RunCause, isFull: Bool) {
        self.scope = scope
        self.cause = cause
        self.isFull = isFull
    }
}
