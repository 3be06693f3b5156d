/// Collects what is wrong, once each. A class, as it goes along with every step of one reading; it never leaves it.
final class Complaints {
    private(set) var problems: [ConfigurationProblem] = []
    private var seen: Set<ConfigurationProblem> = []
    /// Named in complaints about things that are nowhere.
    let mainFile: String

    init(mainFile: String) {
        self.mainFile = mainFile
    }

    func add(
        _ severity: ConfigurationProblem.Severity = .error, at place: DocumentNode.Place?, _ subject: Subject, _ message: String,
        _ suggestion: String?
    ) {
        add(
            ConfigurationProblem(
                severity, file: place?.file ?? mainFile, line: place?.line, keyPath: subject.keyPath, subject: subject.text,
                message: message,
                suggestion: suggestion))
    }

    /// About a key of the subject: the key path names it, the words before the message do not, as the message does.
    func add(
        at place: DocumentNode.Place?, _ subject: Subject, key: String, _ message: String, _ suggestion: String?
    ) {
        add(
            ConfigurationProblem(
                file: place?.file ?? mainFile, line: place?.line, keyPath: subject.key(key).keyPath, subject: subject.text,
                message: message,
                suggestion: suggestion))
    }

    func add(_ problem: ConfigurationProblem) {
        if seen.insert(problem).inserted { problems.append(problem) }
    }

    /// In the order of the files given, then of lines.
    func sorted(files: [String]) -> [ConfigurationProblem] {
        let ranks = Dictionary(files.enumerated().map { ($1, $0) }) { first, _ in first }
        return problems.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (ranks[a.file] ?? .max, a.line ?? .max, left.offset) < (ranks[b.file] ?? .max, b.line ?? .max, right.offset)
        }.map(\.element)
    }
}
