import Foundation
import SyncConfiguration
import SyncReports

/// A file with one test of one run, as somebody would write it.
struct TestFileText {
    struct Rows: Sendable {
        let entity: String
        let rows: [[String: TestValue]]
    }

    private let test: ConfigurationTest
    private let course: TestCourse
    private let rows: [Rows]

    init(_ test: ConfigurationTest, _ course: TestCourse, rows: [Rows]) {
        self.test = test
        self.course = course
        self.rows = rows
    }

    var text: String {
        var lines = ["[[test]]", "name = \(tomlQuoted(test.name))", "at = \(TestValue(test.start).toml)"]
        if let pages = test.maxPages { lines.append("max_pages = \(pages)") }
        if let scopes = test.runs[0].scopes { lines.append("sync = \(TestValue.list(scopes.map { .text($0) }).toml)") }
        for asked in course.asked {
            guard let index = asked.exchange else { continue }
            lines += ["", "[[test.exchange]]", asked.request.toml] + answer(test.runs[0].exchanges[index].answer)
        }
        lines += ["", "[test.expect]", "complete = \(course.reports.allSatisfy(\.isComplete))", "counts = \(counts)"]
        // What is not complete is not wrong: pages may have been left out.
        if let report = course.reports.first(where: { $0.outcome != .succeeded && $0.outcome != .incomplete }) {
            lines.append("error = \(tomlQuoted(report.error ?? ""))")
        }
        lines += ["", "[test.expect.rows]"]
        for entity in rows where !entity.rows.isEmpty {
            lines.append("\(TestValue.key(entity.entity)) = [")
            lines += entity.rows.map { "  \(TestValue.table($0).toml)," }
            lines.append("]")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var counts: String {
        let sum = course.counts
        return "{ " + RecordCounts.kinds.map { "\($0.name) = \(sum[keyPath: $0.path])" }.joined(separator: ", ") + " }"
    }

    private func answer(_ answer: RecordedExchange.Answer) -> [String] {
        guard case .response(let status, let headers, let body) = answer else { return [] }
        var lines = ["status = \(status)"]
        if !headers.isEmpty {
            var values: [String: [String]] = [:]
            for header in headers { values[header.name, default: []].append(header.value) }
            let table = values.mapValues { $0.count == 1 ? TestValue.text($0[0]) : .list($0.map { .text($0) }) }
            lines.append("headers = \(TestValue.table(table).toml)")
        }
        if !body.isEmpty { lines.append("body = \(Self.body(String(decoding: body, as: UTF8.self)))") }
        return lines
    }

    /// Between three apostrophes, where everything counts as it is, if nothing in it is against that.
    static func body(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" || $0 == "\t" }
        guard isPlain, !text.contains("'''"), !text.hasSuffix("'") else { return tomlQuoted(text) }
        return "'''\n\(text)'''"
    }
}
