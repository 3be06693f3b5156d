public import Foundation

public struct RunStart: Sendable, Hashable {
    public let run: UUID
    public let scope: ResourceScope
    public let cause: RunCause
    public let startedAt: Date
}
