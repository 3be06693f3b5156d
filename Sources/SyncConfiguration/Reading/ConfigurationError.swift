/// The configuration cannot be used. Exit status 78 for whoever has an exit status.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// All complaints of one pass, errors and warnings, in the order of files and lines.
    public var problems: [ConfigurationProblem]

    public init(problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// One line for each problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
