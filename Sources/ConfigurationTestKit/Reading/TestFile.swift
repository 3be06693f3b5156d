package import SyncConfiguration
import SyncPipeline
import SyncReports

/// A file of tests, read and checked as far as that is possible without the configuration that it tests.
package struct TestFile: Sendable {
    /// What the names of such files end with.
    package static let ending = ".test.toml"

    /// The file.
    package let path: String
    /// The configuration that it says it tests; nil: it does not say.
    package let configuration: String?
    /// In the order of the file; never empty.
    package let tests: [ConfigurationTest]

    /// The configuration that the file is a test of: the one that it names, or the one of the same name beside it.
    package var configurationPath: String {
        if let configuration { return configuration }
        return path.hasSuffix(Self.ending) ? path.dropLast(Self.ending.count) + ".toml" : path
    }

    /// Where tests of a configuration stand: beside `cisternd.toml`, `cisternd.test.toml`.
    package static func path(of configuration: String) -> String {
        (configuration.hasSuffix(".toml") ? String(configuration.dropLast(5)) : configuration) + ending
    }

    /// Reads a file, and the files that it names.
    /// - Throws: `ConfigurationError` with everything that is wrong in it.
    package init(_ path: String, in files: any ConfigurationFiles) throws(ConfigurationError) {
        let bytes: [UInt8]
        do {
            bytes = try files.contents(of: path)
        } catch {
            let problem = ConfigurationProblem(
                file: path, message: "the file cannot be read: \(error)", suggestion: "name a file of tests, or a directory of files NAME.test.toml")
            throw ConfigurationError(problems: [problem])
        }
        var problems: [ConfigurationProblem] = []
        let root = TestTable(try DocumentParser(file: path).parse(bytes)) { problems.append($0) }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let reader = TestReader(files: files, directory: directory)
        self.path = path
        configuration = root.text("configuration").map { $0.hasPrefix("/") ? $0 : directory + $0 }
        tests = (root.tables("test") ?? []).map { reader.test($0) }
        root.finish()
        if tests.isEmpty, problems.isEmpty {
            root.refuse(root.origin, "there is no test in the file", "write one as [[test]] with a name")
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }
}

/// Tables to tests.
private struct TestReader {
    let files: any ConfigurationFiles
    /// Of the file: other files are named relative to it.
    let directory: String

    func test(_ table: TestTable) -> ConfigurationTest {
        let name = table.text("name") ?? ""
        if name.isEmpty { table.refuse(table.origin, "the test has no name", "write name = \"…\"") }
        var start = ConfigurationTest.defaultStart
        if let node = table.node("at") {
            if let date = TestValue(node).date {
                start = date
            } else {
                table.refuse(node, "at takes a time, found \(node.found)", "write at = \"2026-01-01T00:00:00Z\"")
            }
        }
        var secrets: [String: String] = [:]
        for (name, node) in table.table("secrets")?.all() ?? [] {
            if let text = node.string, !text.isEmpty {
                secrets[name] = text
            } else {
                table.refuse(node, "a secret of a test is a text, found \(node.found)", "write \(name) = \"…\"; it stands for the credential")
            }
        }
        let maxPages = table.integer("max_pages", 1...10_000)
        let runs: [TestRun]
        if let tables = table.tables("run") {
            let misplaced = ["sync", "full", "exchange", "expect"].filter { table.has($0) }
            for name in misplaced {
                if let node = table.node(name) {
                    table.refuse(node, "\(name) stands beside run", "write it into one of [[test.run]]: each has its own")
                }
            }
            if tables.isEmpty { table.refuse(table.origin, "run is empty", "leave it out: then the test is one run") }
            runs = tables.enumerated().map { run($1, isFirst: $0 == 0, isOnly: false) }
        } else {
            runs = [run(table, isFirst: true, isOnly: true)]
        }
        table.finish()
        return ConfigurationTest(name: name, place: table.place, start: start, secrets: secrets, maxPages: maxPages, runs: runs)
    }

    private func run(_ table: TestTable, isFirst: Bool, isOnly: Bool) -> TestRun {
        var run = TestRun(place: table.place)
        run.scopes = table.texts("sync")
        if let node = table.node("sync"), run.scopes?.isEmpty == true {
            table.refuse(node, "sync names nothing", "leave it out: then every resource is read")
        }
        run.isFull = table.flag("full") ?? false
        if !isFirst { run.delay = table.span("after") ?? run.delay }
        run.exchanges = (table.tables("exchange") ?? []).map { exchange($0) }
        if let expect = table.table("expect") { run.expectation = expectation(expect) }
        if !isOnly { table.finish() }
        return run
    }

    // MARK: Exchanges

    private static let failures: [String: FetchError.Kind] = [
        "connect": .connect, "timeout": .timeout(.firstByte), "reset": .reset, "dns": .dnsTemporary, "tls": .tls,
    ]

    private func exchange(_ table: TestTable) -> RecordedExchange {
        let request = request(table)
        var answer = RecordedExchange.Answer.response(status: 200, headers: [], body: [])
        let status = table.integer("status", 100...599), headers = headers(table), body = body(table)
        if let failure = table.text("failure") {
            if let kind = Self.failures[failure] {
                answer = .failure(kind)
            } else {
                let known = Self.failures.keys.sorted().joined(separator: ", ")
                table.refuse(table.origin, "there is no failure \(tomlQuoted(failure))", "there are \(known)")
            }
            if status != nil || body != nil || !headers.isEmpty {
                table.refuse(table.origin, "an exchange has a failure and an answer", "leave out either failure, or status, headers and body")
            }
        } else {
            var headers = headers
            // Only what is read as a page has to call itself so.
            if body?.isJSON == true, (200..<300).contains(status ?? 200), !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                headers.append(("Content-Type", "application/json"))
            }
            answer = .response(status: status ?? 200, headers: headers, body: body?.bytes ?? [])
        }
        let exchange = RecordedExchange(place: table.place, request: request, answer: answer, isOptional: table.flag("optional") ?? false)
        table.finish()
        return exchange
    }

    private func request(_ table: TestTable) -> RecordedExchange.Request? {
        let headers = requestHeaders(table), json = table.node("request_json").map { TestValue($0) }, body = table.text("request_body")
        guard let text = table.text("request") else {
            if !table.has("request") { table.refuse(table.origin, "the exchange has no request", "write request = \"GET https://…\"") }
            return nil
        }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let method = RequestMethod(rawValue: String(words[0])) else {
            table.refuse(table.origin, "request is no method and address: \(tomlQuoted(text))", "write request = \"GET https://…\", or POST")
            return nil
        }
        do {
            var request = RecordedExchange.Request(method: method, address: try HTTPAddress(String(words[1])))
            request.headers = headers
            request.json = json
            request.body = body
            return request
        } catch {
            let address = tomlQuoted(String(words[1]))
            table.refuse(table.origin, "\(address) cannot be requested: \(error)", "write the whole address, beginning with https://")
            return nil
        }
    }

    private func requestHeaders(_ table: TestTable) -> [(name: String, value: RecordedExchange.HeaderValue)] {
        (table.table("request_headers")?.all() ?? []).compactMap { name, node -> (name: String, value: RecordedExchange.HeaderValue)? in
            if let text = node.string { return (name, .text(text)) }
            if let members = node.table, members.count == 1, let (kind, value) = members.first, let text = value.string {
                switch kind {
                case "credential": return (name, .secret(.credential(text)))
                case "file": return (name, .secret(.file(text)))
                case "env": return (name, .secret(.environment(text)))
                default: break
                }
            }
            table.refuse(node, "a header is a text or a credential, found \(node.found)", "write \(name) = \"…\" or { credential = \"NAME\" }")
            return nil
        }
    }

    private func headers(_ table: TestTable) -> [(name: String, value: String)] {
        (table.table("headers")?.all() ?? []).flatMap { name, node -> [(name: String, value: String)] in
            let nodes = node.array ?? [node]
            let values = nodes.compactMap(\.string)
            let isWhole = values.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
            guard values.count == nodes.count, isWhole else {
                table.refuse(node, "a header is a text of one line, or several, found \(node.found)", "write \(name) = \"…\" or [\"…\", \"…\"]")
                return []
            }
            return values.map { (name, $0) }
        }
    }

    private func body(_ table: TestTable) -> (bytes: [UInt8], isJSON: Bool)? {
        let given = ["body", "body_file", "json"].filter { table.has($0) }
        if given.count > 1 {
            table.refuse(table.origin, "\(given.joined(separator: " and ")) cannot be used together", "an answer has one body")
        }
        if let json = table.node("json") { return (Array(TestValue(json).json.utf8), true) }
        if let text = table.text("body") { return (Array(text.utf8), !text.isEmpty) }
        guard let name = table.text("body_file") else { return nil }
        let path = name.hasPrefix("/") ? name : directory + name
        do {
            let bytes = try files.contents(of: path)
            if bytes.count <= ConfigurationReader.maxFileSize.bytes { return (bytes, true) }
            table.refuse(table.origin, "\(path) is larger than \(ConfigurationReader.maxFileSize)", "a test needs a few records only")
        } catch {
            table.refuse(table.origin, "\(path) cannot be read: \(error)", "body_file is relative to the file of tests")
        }
        return nil
    }

    // MARK: Expectations

    private func expectation(_ table: TestTable) -> Expectation {
        var expectation = Expectation()
        expectation.place = table.place
        for (entity, node) in table.table("rows")?.all() ?? [] {
            guard let rows = node.array, rows.allSatisfy({ $0.table != nil }) else {
                table.refuse(node, "rows takes arrays of tables, found \(node.found)", "write rows.\(entity) = [{ id = 1 }]")
                continue
            }
            expectation.rows[entity] = rows.map { row in
                Expectation.Row(place: TestTable.place(row), values: (row.table ?? [:]).mapValues { TestValue($0) })
            }
        }
        if let objects = table.table("objects") {
            for (entity, _) in objects.all() { expectation.objects[entity] = objects.integer(entity, 0...100_000_000) }
        }
        if let counts = table.table("counts") {
            for kind in RecordCounts.kinds { expectation.counts[kind.name] = counts.integer(kind.name, 0...100_000_000) }
            counts.finish()
        }
        expectation.isComplete = table.flag("complete")
        expectation.requests = table.integer("requests", 0...1_000_000)
        expectation.isInOrder = table.flag("in_order") ?? false
        expectation.error = table.text("error")
        expectation.quarantine = table.tables("quarantine")?.map { record in
            var wanted = Expectation.Quarantined()
            wanted.reason = record.text("reason")
            wanted.path = record.text("path")
            wanted.page = record.integer("page", 1...1_000_000)
            wanted.record = record.integer("record", 0...100_000_000)
            record.finish()
            return wanted
        }
        table.finish()
        return expectation
    }
}
