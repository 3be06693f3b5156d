import Foundation
import SyncConfiguration
import Testing

@testable import ConfigurationTestKit

@Suite struct TestFileTests {
    private let bench = Workbench()
    private let exchange = "[[test.exchange]]\nrequest = \"GET https://api.example/items\"\n"

    private func problems(_ text: String) -> String { bench.problems(text).joined(separator: "\n") }

    @Test func aFileTestsTheConfigurationBesideItUnlessItNamesAnother() throws {
        let text = "[[test]]\nname = \"a\"\n"
        let files = ConfigurationTexts(["/c/api.test.toml": text, "/c/b.test.toml": "configuration = \"api.toml\"\n" + text])
        #expect(try TestFile("/c/api.test.toml", in: files).configurationPath == "/c/api.toml")
        #expect(try TestFile("/c/b.test.toml", in: files).configurationPath == "/c/api.toml")
        #expect(TestFile.path(of: "/etc/cistern/cisternd.toml") == "/etc/cistern/cisternd.test.toml")
    }

    @Test func everyComplaintNamesFileAndLineAndWhatToDo() {
        #expect(problems("") == "/c/api.test.toml:1: there is no test in the file; write one as [[test]] with a name")
        #expect(problems("[[test]]\nname = \"a\"\nexpects = 1") == "/c/api.test.toml:3: unknown key \"expects\"; here may stand \(Self.keysOfTest)")
        #expect(problems("[[test]]\n").contains(":1: the test has no name; write name = \"…\""))
        #expect(problems("[[test]]\nname = \"a\"\nat = \"now\"").contains(":3: at takes a time, found the text \"now\""))
        #expect(problems("[[test]]\nname = \"a\"\n[[test.exchange]]\nbody = \"[]\"").contains(":3: the exchange has no request"))
        #expect(problems("[[test]]\nname = \"a\"\n[[test.exchange]]\nrequest = \"PUT https://a\"").contains("request is no method and address"))
        #expect(problems("[[test]]\nname = \"a\"\n[[test.exchange]]\nrequest = \"GET ftp://a.example\"").contains("cannot be requested"))
        #expect(problems("[[test]]\nname = \"a\"\n" + exchange + "body = \"\"\njson = 1").contains("body and json cannot be used together"))
        #expect(problems("[[test]]\nname = \"a\"\n" + exchange + "failure = \"rain\"").contains("there are connect, dns, reset, timeout, tls"))
        #expect(problems("[[test]]\nname = \"a\"\n" + exchange + "failure = \"tls\"\nstatus = 200").contains("leave out either failure"))
        #expect(problems("[[test]]\nname = \"a\"\n" + exchange + "body_file = \"x.json\"").contains("/c/x.json cannot be read: no such file"))
        #expect(problems("[[test]]\nname = \"a\"\n[test.expect]\ncounts = { insert = 1 }").contains("unknown key \"insert\""))
        #expect(problems("[[test]]\nname = \"a\"\n[test.expect]\nrows.Item = 1").contains("write rows.Item = [{ id = 1 }]"))
        #expect(problems("[[test]]\nname = \"a\"\nsync = [\"api\"]\n[[test.run]]").contains("sync stands beside run"))
        #expect(problems("[[test]\n").contains("/c/api.test.toml:1:"))
    }

    private static let keysOfTest = "at, exchange, expect, full, max_pages, name, run, secrets, sync"

    @Test func bodiesAreTextsFilesOrTables() throws {
        var bench = Workbench()
        bench.files["/c/x.json"] = "[1]"
        /// The body, and its type if it has one.
        func body(_ line: String) throws -> [String] {
            let test = try bench.tests("[[test]]\nname = \"a\"\n" + exchange + line)[0]
            guard case .response(_, let headers, let body) = test.runs[0].exchanges[0].answer else { return [] }
            return [String(decoding: body, as: UTF8.self)] + headers.filter { $0.name.lowercased() == "content-type" }.map(\.value)
        }
        #expect(try body("body = \"[2]\"") == ["[2]", "application/json"])
        #expect(try body("body_file = \"x.json\"") == ["[1]", "application/json"])
        #expect(try body("json = [{ a = 1, b = [true, \"\\\"\"] }]") == ["[{\"a\": 1, \"b\": [true, \"\\\"\"]}]", "application/json"])
        #expect(try body("status = 304") == [""])
        #expect(try body("body = \"<p>\"\nheaders = { content-type = \"text/html\" }") == ["<p>", "text/html"])
    }

    @Test func valuesOfJSONHoldWhatIsSaidOfThem() throws {
        let value = try #require(TestValue(json: Array("{\"a\": {\"b\": 1, \"c\": [1, true, null, 1.5]}, \"d\": \"e\"}".utf8)))
        #expect(value.holds(.table(["a": .table(["b": .integer(1)])])))
        #expect(value.holds(.table(["a": .table(["b": .number(1)])])))
        #expect(!value.holds(.table(["a": .table(["b": .bool(true)])])))
        #expect(!value.holds(.table(["a": .table(["c": .list([.integer(1)])])])))
        #expect(!value.holds(.table(["x": .null])))
        #expect(value.hasNull && TestValue(json: Array("[1".utf8)) == nil)
    }

    @Test(arguments: [
        ("2026-01-01", "2026-01-01T00:00:00Z"), ("2026-01-01 01:00:00+01:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01t00:00:00.25", "2026-01-01T00:00:00.25Z"), ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
    ])
    func momentsAreReadInAnyFormAndWrittenInOne(_ text: String, _ written: String) throws {
        let date = try #require(TestValue.text(text).date)
        #expect(TestValue(date) == .moment(written))
    }
}
