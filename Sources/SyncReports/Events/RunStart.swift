public import Foundation

/// A run that begins.
public struct RunStart: Sendable, Hashable {
    public let run: UUID
    public let scope: ResourceScope
    public let cause: RunCause
    public let startedAt: Date

    public init(run: UUID, scope: ResourceScope, cause: RunCause, startedAt: Date) {
        self.run = run
        self.scope = scope
        self.cause = cause
        self.startedAt = startedAt
    }
}
