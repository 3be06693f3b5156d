import Foundation
import JSONPaths

extension Codec where Value == [RecordCondition] {
    /// Which records are taken.
    static var filter: Codec {
        let expected = "a list of conditions, as in [{ path = \"$.type\", equals = \"user\" }]"
        let wrong = [
            "\"id > 3\"", "{ path = \"$.type\", equals = \"user\" }", "[{ path = \"$.type\" }]", "[{ equals = 1 }]",
            "[{ path = \"$\", exists = true }]",
            "[{ path = \"$.a\", status = 200 }]", "[{ path = \"$.a\", after = \"soon\" }]", "[{ path = \"$.a\", after = 5 }]",
            "[{ path = \"$.a\", equals = 1, format = \"unix\" }]", "[{ path = \"$.a\", before = \"-1d\", format = \"yyyy\" }]",
            "[{ path = \"$.a\", exists = false, after = \"-1d\" }]", "[{ path = \"$.a\", matches = \"x\" }]",
        ]
        return .conditions(expected, wrong: wrong) { table throws(ConditionTable.Refusal) in
            try RecordCondition(table)
        } toml: {
            $0.toml
        }
    }
}

extension Codec where Value == RecordCondition {
    /// One condition.
    static var condition: Codec {
        let expected = "a table such as { path = \"$.type\", equals = \"user\" }"
        let wrong = [
            "1", "true", "\"$.type\"", "[]", "{}", "{ path = \"$.type\" }", "{ equals = 1 }", "{ path = \"$\", exists = true }",
            "{ path = \"$.a[*]\", equals = 1 }", "{ path = \"$.a\", equals = [] }", "{ path = \"$.a\", equal = 1 }",
            "{ path = \"$.a\", after = \"soon\" }", "{ path = \"$.a\", matches = \"x\" }",
        ]
        return Codec(expected: expected, wrong: wrong) { node in
            guard let table = node.table else { return mismatch(node, expected, "write \(expected)") }
            do throws(ConditionTable.Refusal) {
                return .value(try RecordCondition(table))
            } catch {
                switch error {
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
        } toml: {
            $0.toml
        }
    }
}

extension RecordCondition {
    fileprivate init(_ nodes: [String: DocumentNode]) throws(ConditionTable.Refusal) {
        let table = try ConditionTable(nodes, known: ["path"] + ConditionTable.tests + ["after", "before", "format"])
        guard let path = try table.path("path") else { throw .wrong("it does not say what to look at", "write path = \"$.type\"") }
        self.init(path: path)
        tests = try table.tests()
        after = try table.value("after", Codec<RecordCondition.Moment>.moment)
        before = try table.value("before", Codec<RecordCondition.Moment>.moment)
        let isTime = after != nil || before != nil
        if let format = try table.value("format", Codec<DateFormat>.dateFormat) {
            guard isTime else { throw .wrong("format: no time is asked of the path", "remove it, or write after or before") }
            self.format = format
        }
        if tests.isEmpty, !isTime {
            throw .wrong("nothing is asked of the path", "write exists = true, or equals, not_equals, contains, in, after or before")
        }
        if isTime, tests.contains(.exists(false)) { throw .wrong("what is not there is no time", "remove exists = false, or after and before") }
    }

    fileprivate var toml: String {
        let moment = Codec<RecordCondition.Moment>.moment
        var entries: [(key: String, value: String?)] = [("path", tomlQuoted("\(path)"))]
        entries.append(contentsOf: tests.map(\.toml))
        entries.append(("after", after.flatMap(moment.toml)))
        entries.append(("before", before.flatMap(moment.toml)))
        if after != nil || before != nil { entries.append(("format", tomlQuoted(format.description))) }
        return ConditionTable.toml(entries)
    }
}

extension Codec where Value == RecordCondition.Moment {
    /// A time, or so long before now.
    static var moment: Codec { timeOrSpan("a time such as \"2020-01-01T00:00:00Z\", or \"-90d\" for so long before now") }

    /// A time, or so long before another.
    ///
    /// - Parameter expected: what may be written, in words.
    static func timeOrSpan(_ expected: String) -> Codec {
        Codec(expected: expected, wrong: ["5", "true", "\"\"", "\"soon\"", "\"-90\"", "\"90d\"", "\"2020-13-01\"", "[]", "1.5"]) { node in
            switch node.value {
            case .string(let text), .moment(let text):
                if text.hasPrefix("-"), let span = TimeSpan(String(text.dropFirst())) { return .value(.ago(span)) }
                if let date = AttributeDefault.date(text) { return .value(.time(seconds: date.timeIntervalSince1970)) }
                return mismatch(node, expected, TimeSpan(text).map { "did you mean \"-\($0)\"?" })
            default: return mismatch(node, expected)
            }
        } toml: {
            switch $0 {
            case .time(let seconds): AttributeDefault.text(of: Date(timeIntervalSince1970: seconds)).map(tomlQuoted)
            case .ago(let span): "\"-\(span)\""
            }
        }
    }
}
