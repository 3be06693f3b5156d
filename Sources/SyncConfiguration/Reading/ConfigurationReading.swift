/// What came of one reading.
public struct ConfigurationReading: Sendable {
    /// `nil` exactly when there are ``errors``.
    public let configuration: CisternConfiguration?
    /// Errors and warnings, in the order of files and lines: at most a hundred of each. Where there are more, the last problem says how many.
    public let problems: [ConfigurationProblem]
    /// How many errors there are, listed or not.
    public let errorCount: Int
    /// How many warnings there are, listed or not.
    public let warningCount: Int
    /// The files that were read, in the order they were merged.
    public let files: [String]
    /// Every setting with the place it comes from; `nil` exactly when there are ``errors``.
    public let resolved: ResolvedConfiguration?

    public var errors: [ConfigurationProblem] { problems.filter { $0.severity == .error } }
    public var warnings: [ConfigurationProblem] { problems.filter { $0.severity == .warning } }
}
