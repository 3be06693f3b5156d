/// Collects what is wrong, once each; of very much the beginning, and how much more there is. A class, as it goes along with every step of one
/// reading; it never leaves it.
final class Complaints {
    /// How many errors, and how many warnings, are listed.
    static let maxListed = 100

    private(set) var problems: [ConfigurationProblem] = []
    /// How many errors and warnings there are, those included that are not listed.
    private(set) var errorCount = 0
    private(set) var warningCount = 0
    private var seen: Set<Int> = []
    /// Goes along as the complaints do.
    let keyTables = KeyTables()
    /// Named in complaints about things that are nowhere.
    let mainFile: String

    init(mainFile: String) {
        self.mainFile = mainFile
    }

    /// - Parameter suggestion: looked for only where the complaint is listed: the nearest of many names takes time.
    func add(
        _ severity: ConfigurationProblem.Severity = .error, at place: DocumentNode.Place?, _ subject: Subject, _ message: String,
        _ suggestion: @autoclosure () -> String?
    ) {
        let problem = ConfigurationProblem(
            severity, file: place?.file ?? mainFile, line: place?.line, keyPath: subject.keyPath, subject: subject.text, message: message)
        add(problem, suggestion())
    }

    /// About a key of the subject: the key path names it, the words before the message do not, as the message does.
    func add(
        at place: DocumentNode.Place?, _ subject: Subject, key: String, _ message: String, _ suggestion: @autoclosure () -> String?
    ) {
        let problem = ConfigurationProblem(
            file: place?.file ?? mainFile, line: place?.line, keyPath: subject.key(key).keyPath, subject: subject.text, message: message)
        add(problem, suggestion())
    }

    func add(_ problem: ConfigurationProblem) {
        add(problem, problem.suggestion)
    }

    private func add(_ problem: ConfigurationProblem, _ suggestion: @autoclosure () -> String?) {
        var known = problem
        known.suggestion = nil
        guard seen.insert(known.hashValue).inserted else { return }
        let isError = problem.severity == .error
        if isError { errorCount += 1 } else { warningCount += 1 }
        guard (isError ? errorCount : warningCount) <= Self.maxListed else { return }
        known.suggestion = suggestion()
        problems.append(known)
    }

    /// In the order of the files given, then of lines.
    func sorted(files: [String]) -> [ConfigurationProblem] {
        let ranks = Dictionary(files.enumerated().map { ($1, $0) }) { first, _ in first }
        let listed = problems.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (ranks[a.file] ?? .max, a.line ?? .max, left.offset) < (ranks[b.file] ?? .max, b.line ?? .max, right.offset)
        }.map(\.element)
        return listed + unlisted
    }

    /// The complaint that stands for those that are not listed.
    private var unlisted: [ConfigurationProblem] {
        let counts = [(errorCount, "error"), (warningCount, "warning")].filter { $0.0 > Self.maxListed }.map { count, noun in
            "\(count - Self.maxListed) more \(noun)\(count == Self.maxListed + 1 ? "" : "s")"
        }
        guard !counts.isEmpty else { return [] }
        return [
            ConfigurationProblem(
                errorCount > Self.maxListed ? .error : .warning, file: mainFile, message: "\(counts.joined(separator: " and ")) not listed here",
                suggestion: "correct those above first")
        ]
    }
}
