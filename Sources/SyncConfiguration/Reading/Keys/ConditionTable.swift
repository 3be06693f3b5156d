import JSONPaths

/// A table of a list of conditions, while it is read.
struct ConditionTable {
    let table: [String: DocumentNode]

    /// What is wrong with it.
    enum Refusal: Error {
        case wrong(String, String?)
        case later(String)
    }

    /// The keys that ask something of a value, in a fixed order.
    static let tests = ["exists", "equals", "not_equals", "in", "contains"]

    /// - Parameter known: the keys that it may have.
    init(_ table: [String: DocumentNode], known: [String]) throws(Refusal) {
        self.table = table
        for name in table.keys.sorted() where !known.contains(name) {
            if name == "matches" { throw .later("\"matches\"") }
            throw .wrong("unknown key \"\(name)\"", suggestion(for: name, among: known, kind: "known keys"))
        }
    }

    /// Whether there is a key.
    func has(_ key: String) -> Bool { table[key] != nil }

    /// The value of a key; nil: it is not there.
    func value<Value>(_ key: String, _ codec: Codec<Value>) throws(Refusal) -> Value? {
        guard let node = table[key] else { return nil }
        switch codec.read(node) {
        case .value(let value): return value
        case .wrong(let message, let suggestion): throw .wrong("\(key): \(message)", suggestion ?? "write \(codec.expected)")
        case .later(let what): throw .later(what)
        }
    }

    /// A path into something that is no list itself.
    func path(_ key: String) throws(Refusal) -> JSONPath? {
        let path = try value(key, Codec<JSONPath>.jsonPath)
        if path == JSONPath.root { throw .wrong("\(key): \"$\" is all of it", "write a path such as \"$.error\"") }
        return path
    }

    /// What is asked of the value.
    func tests() throws(Refusal) -> [ValueTest] {
        var tests: [ValueTest] = []
        for key in Self.tests {
            // Of a list in place of a value any will do.
            let meant = key == "equals" && table[key]?.array != nil ? "in" : key
            if let test = try value(key, Codec<ValueTest>.test(meant)) { tests.append(test) }
        }
        let others = tests.filter { $0 != .exists(false) }
        if tests.count > others.count, !others.isEmpty {
            throw .wrong("what is not there has no value that could be compared", "remove exists = false, or the others")
        }
        return tests
    }

    /// Its keys and values as TOML.
    static func toml(_ entries: [(key: String, value: String?)]) -> String {
        "{ " + entries.compactMap { entry in entry.value.map { "\(entry.key) = \($0)" } }.joined(separator: ", ") + " }"
    }
}

extension ValueTest {
    /// The key that it stands under.
    var key: String {
        switch self {
        case .exists: "exists"
        case .equals: "equals"
        case .notEquals: "not_equals"
        case .isAmong: "in"
        case .contains: "contains"
        }
    }

    /// The key and its value as TOML.
    var toml: (key: String, value: String?) { (key, Codec<ValueTest>.test(key).toml(self)) }
}

extension Codec where Value == ValueTest {
    /// The value of one of the keys that ask something: `ConditionTable.tests`.
    static func test(_ key: String) -> Codec {
        switch key {
        case "exists": Codec<Bool>.bool.mapped(ValueTest.exists) { if case .exists(let flag) = $0 { flag } else { nil } }
        case "not_equals":
            Codec<ConditionValue>.conditionValue.mapped(ValueTest.notEquals) { if case .notEquals(let value) = $0 { value } else { nil } }
        case "in": Codec<[ConditionValue]>.conditionValues.mapped(ValueTest.isAmong) { if case .isAmong(let values) = $0 { values } else { nil } }
        case "contains":
            Codec<String>.text("a text", maxLength: 1024).mapped(ValueTest.contains) { if case .contains(let text) = $0 { text } else { nil } }
        default: Codec<ConditionValue>.conditionValue.mapped(ValueTest.equals) { if case .equals(let value) = $0 { value } else { nil } }
        }
    }
}

extension Codec {
    /// The codec of what these values are a part of.
    ///
    /// - Parameters:
    ///   - whole: makes it.
    ///   - part: the part of one; nil: it is one of another kind.
    fileprivate func mapped<Whole>(_ whole: @escaping (Value) -> Whole, _ part: @escaping (Whole) -> Value?) -> Codec<Whole> {
        Codec<Whole>(expected: expected, wrong: wrong) { node in
            switch read(node) {
            case .value(let value): .value(whole(value))
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        } toml: {
            part($0).flatMap(toml)
        }
    }
}

extension DeletionConfiguration {
    /// What is asked under a key; nil: nothing.
    subscript(test key: String) -> ValueTest? {
        get { test?.key == key ? test : nil }
        set { if let newValue { test = newValue } }
    }
}

extension ConditionValue {
    fileprivate var toml: String {
        if case .text(let text) = self { tomlQuoted(text) } else { description }
    }
}

extension Codec where Value == ConditionValue {
    static var conditionValue: Codec {
        let expected = "a text, a number or a truth value"
        return Codec(expected: expected, wrong: ["[]", "{}", "nan"]) { node in
            switch node.value {
            case .string(let text): .value(.text(text))
            case .integer(let value): .value(.integer(value))
            case .number(let value) where value.isFinite: .value(.number(value))
            case .boolean(let flag): .value(.boolean(flag))
            case .moment: mismatch(node, expected, "write it in quotes")
            case .number, .array, .table: mismatch(node, expected)
            }
        } toml: {
            $0.toml
        }
    }
}

extension Codec where Value == [ConditionValue] {
    static var conditionValues: Codec {
        .list(of: .conditionValue, expected: "a list of values, as in [\"a\", \"b\"]", isEmptyAllowed: false)
    }
}

extension Codec where Value == [ClosedRange<Int>] {
    /// Statuses of a condition: one, a class, or a list of them.
    static var conditionStatuses: Codec {
        let expected = "a status from 200 to 299 or from 400 to 599, a class such as \"4xx\", or a list of them"
        return Codec(expected: expected, wrong: ["true", "[]", "304", "\"3xx\"", "\"400\"", "[200, {}]"]) { node in
            var ranges: [ClosedRange<Int>] = []
            for element in node.array ?? [node] {
                switch element.value {
                case .integer(let value) where (200...299).contains(value) || (400...599).contains(value): ranges.append(Int(value)...Int(value))
                case .string("2xx"): ranges.append(200...299)
                case .string("4xx"): ranges.append(400...499)
                case .string("5xx"): ranges.append(500...599)
                case .integer(let value): return .wrong("\(value) is no status that a condition can be about", "write \(expected)")
                default: return mismatch(element, expected)
                }
            }
            return ranges.isEmpty ? .wrong("the list is empty", "write \(expected)") : .value(ranges)
        } toml: { ranges in
            let words = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\"\($0.lowerBound / 100)xx\"" }
            return words.isEmpty ? nil : words.count == 1 ? words[0] : "[" + words.joined(separator: ", ") + "]"
        }
    }
}

extension Codec {
    /// A list of tables, of which one suffices.
    ///
    /// - Parameter read: makes an element of a table; `Refusal`s of it become complaints.
    static func conditions<Element>(
        _ expected: String, wrong: [String], read: @escaping ([String: DocumentNode]) throws(ConditionTable.Refusal) -> Element,
        toml: @escaping (Element) -> String
    ) -> Codec where Value == [Element] {
        Codec(expected: expected, wrong: ["1", "true", "\"$.ok\"", "[1]", "[\"$.ok\"]", "[{}]"] + wrong) { node in
            guard let array = node.array else { return mismatch(node, expected, node.table == nil ? nil : "write it in brackets: [{ … }]") }
            var values: [Element] = []
            for (index, element) in array.enumerated() {
                let which = array.count > 1 ? "condition \(index + 1): " : ""
                guard let table = element.table else { return .wrong("\(which)expected a table, found \(element.found)", "write \(expected)") }
                do throws(ConditionTable.Refusal) {
                    values.append(try read(table))
                } catch {
                    switch error {
                    case .wrong(let message, let suggestion): return .wrong(which + message, suggestion)
                    case .later(let what): return .later(what)
                    }
                }
            }
            return .value(values)
        } toml: { values in
            values.isEmpty ? nil : "[" + values.map(toml).joined(separator: ", ") + "]"
        }
    }
}

extension Codec where Value == [AnswerCondition] {
    /// Conditions under which an answer means what the key says.
    static func answers(_ meaning: AnswerCondition.Meaning) -> Codec {
        let expected = "a list of conditions, as in [{ path = \"$.ok\", equals = false }]"
        let wrong = [
            "{ path = \"$.ok\", equals = false }", "[{ path = \"$.ok\" }]", "[{ equals = 1 }]", "[{ exists = true }]",
            "[{ path = \"ok\", exists = true }]",
            "[{ path = \"$\", exists = true }]", "[{ path = \"$.a\", header = \"A\", equals = 1 }]", "[{ header = \"A B\", exists = true }]",
            "[{ message = \"$.error\" }]", "[{ path = \"$.a\", equal = 1 }]", "[{ status = 304 }]", "[{ status = 200, message = \"error\" }]",
            "[{ path = \"$.a\", matches = \"x\" }]", "[{ path = \"$.a\", exists = false, equals = 1 }]", "[{ path = \"$.a\", in = [] }]",
        ]
        let others = meaning == .ignore ? ["[{ status = 401 }]", "[{ status = [404, 429] }]", "[{ status = [\"4xx\", \"5xx\"] }]"] : []
        return .conditions(expected, wrong: wrong + others) { table throws(ConditionTable.Refusal) in
            try AnswerCondition(meaning, table)
        } toml: {
            $0.toml
        }
    }
}

extension AnswerCondition {
    fileprivate init(_ meaning: Meaning, _ nodes: [String: DocumentNode]) throws(ConditionTable.Refusal) {
        self.init(meaning)
        let table = try ConditionTable(nodes, known: ["status", "header", "path", "message"] + ConditionTable.tests)
        statuses = try table.value("status", Codec<[ClosedRange<Int>]>.conditionStatuses) ?? []
        // A class may have others in it.
        if meaning == .ignore, let meant = statuses.first(where: { Self.saysMore($0.lowerBound) }) {
            let what = meant.count == 1 ? "\(meant.lowerBound)" : "\"\(meant.lowerBound / 100)xx\""
            throw .wrong("status: \(what) says something else than that there are no records", "remove it")
        }
        message = try table.path("message")
        tests = try table.tests()
        let header = try table.value("header", Codec<String>.headerName), path = try table.path("path")
        if header != nil, path != nil { throw .wrong("header and path cannot be used together", "write two conditions, or leave one of them out") }
        if let header { subject = .header(header) } else if let path { subject = .path(path) }
        if header != nil || path != nil {
            guard tests.isEmpty else { return }
            let name = header == nil ? "path" : "header"
            throw .wrong("nothing is asked of the \(name)", "write exists = true, or equals, not_equals, contains or in")
        }
        if let asked = ["equals", "not_equals", "exists", "in"].first(where: table.has) {
            throw .wrong("\(asked): nothing says of what", "write path = \"$.error\", or header = \"…\"")
        }
        guard tests.isEmpty else {
            subject = .text
            return
        }
        if statuses.isEmpty {
            throw .wrong("it does not say what to look at", "write path = \"$.ok\", equals = false, or header, contains or status")
        }
    }

    fileprivate var toml: String {
        var entries: [(key: String, value: String?)] = [("status", Codec<[ClosedRange<Int>]>.conditionStatuses.toml(statuses))]
        switch subject {
        case .header(let name): entries.append(("header", tomlQuoted(name)))
        case .path(let path): entries.append(("path", tomlQuoted("\(path)")))
        case .status, .text: break
        }
        entries.append(contentsOf: tests.map(\.toml))
        entries.append(("message", message.map { tomlQuoted("\($0)") }))
        return ConditionTable.toml(entries)
    }
}
