/// A table of the files and what to call it in complaints. Several of them, merged, make one value.
struct Layer {
    var node: DocumentNode?
    var subject: Subject

    /// The table under a key; no table when the key is absent.
    func table(_ name: String) -> Layer {
        Layer(node: node?.table?[name], subject: subject.key(name))
    }
}

extension ConfigurationTable {
    /// Takes in a table, key by key. Mistakes go to the complaints and change nothing.
    mutating func apply(_ layer: Layer, to complaints: Complaints, origins: inout [String: DocumentNode.Place]) {
        guard let node = layer.node else { return }
        guard let table = node.table else {
            complaints.add(
                at: node.place, layer.subject, "expected a table, found \(node.found)",
                "write [\(layer.subject.keyPath)] on a line of its own, or { … }")
            return
        }
        let keys = complaints.keyTables.keys(of: Self.self)
        for (name, value) in table.ordered {
            guard let key = keys[name] else {
                var known: [String] { keys.all.filter { $0.status == .settable || $0.status == .structural }.map(\.name) }
                complaints.add(
                    at: value.place, layer.subject, key: name, "unknown key \"\(name)\"",
                    suggestion(for: name, among: known, kind: "known keys"))
                continue
            }
            switch key.status {
            case .structural: continue
            case .later:
                complaints.add(at: value.place, layer.subject, key: name, "\"\(name)\" is not in this version", key.hint)
            case .inForce:
                complaints.add(
                    at: value.place, layer.subject, key: name, "setting \"\(name)\" is not in this version",
                    "remove it; \(key.toml(Self()) ?? "the built-in value") is in force")
            case .settable:
                let subject = layer.subject.key(name)
                switch key.set(value, &self) {
                case .done: origins[name] = value.place
                case .wrong(let message, let suggestion):
                    let standing = key.toml(Self()).map { "; the default is \($0)" } ?? ""
                    complaints.add(at: value.place, subject, message, suggestion ?? "write \(key.expected)" + standing)
                case .later(let what):
                    complaints.add(at: value.place, subject, "\(what) is not in this version", "write \(key.expected)")
                }
            }
        }
    }
}

/// Collects complaints, once each; of very many, the first ones and how many more there are. A class, because it is passed to every step of one
/// reading; it never outlives the reading.
final class Complaints {
    /// How many errors, and how many warnings, are listed.
    static let maxListed = 100

    private(set) var problems: [ConfigurationProblem] = []
    /// How many errors and warnings there are, those included that are not listed.
    private(set) var errorCount = 0
    private(set) var warningCount = 0
    private var seen: Set<Int> = []
    /// It is passed along as the complaints are.
    let keyTables = KeyTables()
    /// Named in complaints about things that are in no file.
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

/// How many letters must be added, removed, changed or exchanged with their neighbour to make one word of another.
func editDistance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased().prefix(64))
    let b = Array(right.lowercased().prefix(64))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var cost = min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, before[j - 2] + 1) }
            row.append(cost)
        }
        before = last
        last = row
    }
    return last[b.count]
}

/// What to suggest for an unknown word: the nearest known word, or all of them, or the first of very many.
func suggestion(for word: String, among known: some Collection<String>, kind: String) -> String {
    let plain = word.replacing("-", with: "_"), farthest = max(2, word.count / 3)
    let candidates = known.prefix(maxKnownWords)
    let nearest = candidates.filter { min(abs($0.count - word.count), 64) <= farthest }
        .map { (editDistance(plain, $0.replacing("-", with: "_")), $0) }.min { $0.0 < $1.0 }
    if let nearest, nearest.0 <= farthest { return "did you mean \"\(nearest.1)\"?" }
    let prefixed = candidates.filter { word.count >= 3 && ($0.hasPrefix(word) || $0.hasSuffix(word)) }
    if prefixed.count == 1 { return "did you mean \"\(prefixed[0])\"?" }
    if known.isEmpty { return "remove it" }
    let more = known.count > maxNamedWords ? ", and \(known.count - maxNamedWords) more" : ""
    return "\(kind): \(known.prefix(maxNamedWords).joined(separator: ", "))\(more)"
}

/// Among how many words to look for the nearest.
private let maxKnownWords = 400
/// How many known words are named.
private let maxNamedWords = 60
