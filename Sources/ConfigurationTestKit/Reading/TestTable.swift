import SyncConfiguration

/// One table of a test file: hands out its values by their names, and complains of those that nobody has asked for, and of those that are something
/// else.
final class TestTable {
    private let entries: [String: DocumentNode]
    private var asked: Set<String> = []
    private let complain: (ConfigurationProblem) -> Void
    /// The table itself.
    let origin: DocumentNode

    init(_ node: DocumentNode, complaints: @escaping (ConfigurationProblem) -> Void) {
        origin = node
        entries = node.table ?? [:]
        complain = complaints
        if node.table == nil { refuse(node, "a table is expected, found \(node.found)", "write { name = value }, or a header of its own") }
    }

    /// `FILE:LINE`
    var place: String { Self.place(origin) }

    static func place(_ node: DocumentNode) -> String { node.place.file + (node.place.line.map { ":\($0)" } ?? "") }

    func refuse(_ node: DocumentNode, _ message: String, _ suggestion: String) {
        complain(ConfigurationProblem(file: node.place.file, line: node.place.line, message: message, suggestion: suggestion))
    }

    func node(_ name: String) -> DocumentNode? {
        asked.insert(name)
        return entries[name]
    }

    func has(_ name: String) -> Bool { entries[name] != nil }

    func text(_ name: String) -> String? {
        guard let node = node(name) else { return nil }
        if let text = node.string { return text }
        refuse(node, "\(name) takes a text, found \(node.found)", "write \(name) = \"…\"")
        return nil
    }

    func flag(_ name: String) -> Bool? {
        guard let node = node(name) else { return nil }
        if case .boolean(let flag) = node.value { return flag }
        refuse(node, "\(name) takes true or false, found \(node.found)", "write \(name) = true")
        return nil
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        guard let node = node(name) else { return nil }
        if case .integer(let integer) = node.value, let number = Int(exactly: integer), range.contains(number) { return number }
        let words = "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), found \(node.found)"
        refuse(node, words, "write \(name) = \(range.lowerBound)")
        return nil
    }

    func span(_ name: String) -> TimeSpan? {
        guard let node = node(name) else { return nil }
        // Further ahead there is no calendar.
        if let span = node.string.flatMap({ TimeSpan($0) }), span <= .days(36_500) { return span }
        refuse(node, "\(name) takes a length of time, found \(node.found)", "write \(name) = \"1h\"")
        return nil
    }

    /// The elements of an array.
    func nodes(_ name: String) -> [DocumentNode]? {
        guard let node = node(name) else { return nil }
        if let nodes = node.array { return nodes }
        refuse(node, "\(name) takes an array, found \(node.found)", "write \(name) = […]")
        return nil
    }

    /// The elements of an array of tables.
    func tables(_ name: String) -> [TestTable]? {
        nodes(name)?.map { TestTable($0, complaints: complain) }
    }

    func table(_ name: String) -> TestTable? {
        node(name).map { TestTable($0, complaints: complain) }
    }

    /// Every entry, in the order of the file.
    func all() -> [(key: String, value: DocumentNode)] {
        asked.formUnion(entries.keys)
        return entries.ordered
    }

    func texts(_ name: String) -> [String]? {
        nodes(name)?.compactMap { node in
            if let text = node.string { return text }
            refuse(node, "\(name) takes texts, found \(node.found)", "write \(name) = [\"…\"]")
            return nil
        }
    }

    /// Complains of what was not asked for.
    func finish() {
        for (key, node) in entries.ordered where !asked.contains(key) {
            refuse(node, "unknown key \(tomlQuoted(key))", "here may stand \(asked.sorted().joined(separator: ", "))")
        }
    }
}
