/// A judgement that did not end in a ping.
public struct LivenessFailure: Sendable, Equatable, CustomStringConvertible {
    public struct Finding: Sendable, Equatable {
        /// `LivenessCheck.name`
        public let check: String
        public let reason: String

        public init(check: String, reason: String) {
            self.check = check
            self.reason = reason
        }
    }

    /// The checks that failed, in the order in which they were asked; never empty.
    public let findings: [Finding]
    /// How many judgements in a row have failed, this one included.
    public let consecutive: Int

    public init(findings: [Finding], consecutive: Int) {
        self.findings = findings
        self.consecutive = consecutive
    }

    public var description: String { findings.map { "\($0.check): \($0.reason)" }.joined(separator: "; ") }
}
