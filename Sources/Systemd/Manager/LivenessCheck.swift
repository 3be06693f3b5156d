/// One thing that must hold for the daemon to count as alive.
public struct LivenessCheck: Sendable {
    public enum Verdict: Sendable, Equatable {
        case alive
        /// With what is wrong, in a few words for an operator.
        case failed(String)
    }

    /// Short and fixed; appears in the journal.
    public let name: String
    /// Asked on the judge's queue. Should answer at once from what is known; one that hangs counts as failed.
    public let verdict: @Sendable () -> Verdict

    public init(_ name: String, verdict: @escaping @Sendable () -> Verdict) {
        self.name = name
        self.verdict = verdict
    }
}
