import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Every way in which a server can make a mirror look empty: no row goes, whatever it says.
@Suite struct MassDeletionTests {
    /// What a list is made of: three pages of twenty records.
    static let pages = 3, perPage = 20

    /// Two forms in which services answer.
    enum Form: String, CaseIterable, CustomTestStringConvertible {
        /// A list, and a `Link` header.
        case bare
        /// The list in an object, and numbered pages.
        case wrapped

        var testDescription: String { rawValue }

        func resource(_ way: Way, _ index: Int) -> String {
            // Only a lie that is as good as a true listing needs the guards; against any other they must not be needed.
            let off = ", confirm_runs = 1, max_fraction = 1.0, max_count = 1000000, min_expected = 0", guards = way.isEvidence ? "" : off
            let reading =
                self == .bare
                ? "pages = { kind = \"link-header\" }"
                : "records = \"$.items\"\npages = { kind = \"page\", size = \(perPage), stop = { total_pages = \"$.pages\", short_page = true } }"
            let resources = [("w\(index)", guards)] + (way.twin == nil ? [] : [("v\(index)", off)])
            return resources.map { name, guards in
                """
                [[source.resource]]
                name = "\(name)"
                entity = "Item"
                path = "/\(name)"
                deletion = { detect = "snapshot"\(guards) }
                \(way.takesParts ? "success = [200, 206]" : "")
                \(reading)

                """
            }.joined()
        }
    }

    /// A question, and how it would be answered honestly.
    struct Question {
        let form: Form
        let address: String
        let page: Int
        let first: Int
        /// Blanks behind what is said: an answer that is the same byte for byte is no second one.
        var blanks: String
        /// The tag that came with the request.
        let known: String?

        var next: String? { page < pages ? "Link: <\(address)?page=\(page + 1)>; rel=\"next\"" : nil }

        func records(_ count: Int = perPage, _ record: (Int) -> String = { #"{"id": \#($0), "name": "n\#($0)"}"# }) -> [String] {
            (0..<count).map { record(first + $0) }
        }

        func body(_ records: [String]) -> String {
            let list = "[" + records.joined(separator: ",") + "]"
            return form == .bare ? list : #"{"pages": \#(pages), "items": \#(list)}"#
        }

        func answer(_ body: String, _ status: String = "200 OK", link: String?? = .none) -> [RawHTTPServer.Step] {
            let headers = link ?? next
            let head = HostileServerTests.answer(status, body + blanks)
            guard let headers, form == .bare else { return [.send(head), .close] }
            return [.send(Self.with(headers, head)), .close]
        }

        static func with(_ header: String, _ answer: [UInt8]) -> [UInt8] {
            Array(String(decoding: answer, as: UTF8.self).replacing("\r\n\r\n", with: "\r\n\(header)\r\n\r\n", maxReplacements: 1).utf8)
        }

        /// Exactly these bytes after the head's first lines.
        func raw(_ head: String, _ body: String) -> [RawHTTPServer.Step] {
            [.send(Array("HTTP/1.1 \(head)\r\nConnection: close\r\n\r\n\(body)".utf8)), .close]
        }
    }

    struct Way {
        typealias Lie = @Sendable (Question) -> [RawHTTPServer.Step]?

        let name: String
        /// As good as a true, complete listing of less: rows are held back by the guards alone.
        var isEvidence = false
        /// Whether an honest answer has an ETag.
        var isTagged = false
        /// Whether a part counts as success: it is no failure then, but no listing either.
        var takesParts = false
        /// What another list of the same rows says meanwhile, if there is one. No guard holds its deletions.
        var twin: Lie?
        /// Nil: honestly.
        let lie: Lie

        init(_ name: String, isEvidence: Bool = false, isTagged: Bool = false, takesParts: Bool = false, twin: Lie? = nil, _ lie: @escaping Lie) {
            self.name = name
            self.isEvidence = isEvidence
            self.isTagged = isTagged
            self.takesParts = takesParts
            self.twin = twin
            self.lie = lie
        }

        static func says(_ body: String, _ status: String = "200 OK") -> Way {
            Way("\(status) \(body)") { $0.answer(body, status, link: .some(nil)) }
        }

        static func type(_ type: String, _ body: String) -> Way {
            Way("\(type) \(body)") { $0.raw("200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)", body) }
        }
    }

    private static let json = "Content-Type: application/json"
    private static let page = "<!doctype html><title>Log in</title>"

    static let ways: [Way] =
        bodies + statuses + cuts + [
            Way("a redirect to a page to log in") {
                $0.address.hasSuffix("/login") ? nil : $0.raw("302 Found\r\nLocation: /login\r\nContent-Length: 0", "")
            },
            Way("a redirect to an object to log in") { _ in
                [.send(Array("HTTP/1.1 302 Found\r\nLocation: /login.json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)), .close]
            },
        ] + records + listings + parts + twins

    private static let bodies: [Way] = [
        Way("an empty list", isEvidence: true) { $0.answer($0.body([]).replacing("\"pages\": 3", with: "\"pages\": 1"), link: .some(nil)) },
        .says("{}"), .says(#"{"error": "later"}"#), .says("null"), .says("\"\""), .says("0"), .says("false"), .says("[null]"), .says("[[]]"),
        .says("[{}]"), .says(#"{"items": null}"#), .says(#"{"items": {}}"#), .says(#"{"items": "none"}"#), .says(#"{"items": [null]}"#), .says(page),
        .says(""), .says(" "), .says("\u{FEFF}"), .type("text/html", page), .type("text/html", "[]"), .type("text/plain", "down for maintenance"),
        Way("another key") { $0.answer(#"{"pages": 3, "data": [\#($0.records().joined(separator: ","))]}"#, link: .some(nil)) },
        Way("another key, and none") { $0.answer(#"{"pages": 0, "total": 0, "data": []}"#, link: .some(nil)) },
    ]

    private static let statuses: [Way] =
        ["201 Created", "202 Accepted", "203 Non-Authoritative", "205 Reset Content", "206 Partial Content", "226 IM Used", "300 Choices"]
        .map { status in Way("\(status), a part") { $0.answer($0.body($0.records(10)), status, link: .some(nil)) } }
        + [
            Way("206 with a range") {
                let body = $0.body($0.records(10))
                return $0.raw(
                    "206 Partial Content\r\n\(json)\r\nContent-Range: bytes 0-\(body.utf8.count - 1)/9999\r\nContent-Length: \(body.utf8.count)", body
                )
            },
            Way("204") { $0.raw("204 No Content", "") }, Way("304 unasked") { $0.raw("304 Not Modified\r\nETag: \"other\"", "") },
        ] + [400, 401, 403, 404, 410, 418, 451, 500, 502, 503, 504].map { .says("[]", "\($0) No") }

    private static let cuts: [Way] = [
        Way("cut off, by its length") {
            let body = $0.body($0.records(10))
            return $0.raw("200 OK\r\n\(json)\r\nContent-Length: \(body.utf8.count + 100)", body)
        },
        Way("cut off, by its chunks") {
            let body = $0.body($0.records(10))
            return $0.raw("200 OK\r\n\(json)\r\nTransfer-Encoding: chunked", "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n")
        },
        Way("cut off between two chunks, an empty list") {
            let body = $0.body([])
            return $0.raw("200 OK\r\n\(json)\r\nTransfer-Encoding: chunked", "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n")
        },
        Way("cut off in the middle of a record") {
            let body = String($0.body($0.records()).dropLast(200))
            return $0.raw("200 OK\r\n\(json)\r\nContent-Length: \(body.utf8.count)", body)
        },
        Way("a length that is too small") { $0.raw("200 OK\r\n\(json)\r\nContent-Length: 1", $0.body([])) },
        Way("not packed as it says") { $0.raw("200 OK\r\n\(json)\r\nContent-Encoding: gzip\r\nContent-Length: 2", "[]") },
        Way("packed as nobody knows") { $0.raw("200 OK\r\n\(json)\r\nContent-Encoding: br\r\nContent-Length: 2", "[]") },
    ]

    private static let records: [Way] = [
        Way("all keys renamed") { $0.answer($0.body($0.records { #"{"ID": \#($0), "name": "n"}"# })) },
        Way("half of the records without a key") {
            $0.answer($0.body($0.records { $0 % 2 == 0 ? #"{"id": \#($0), "name": "n\#($0)"}"# : #"{"name": "n\#($0)"}"# }))
        },
        Way("one record without a key, the others gone") { $0.answer($0.body([#"{"name": "x"}"#] + $0.records(3)), link: .some(nil)) },
        Way("keys of another type") { $0.answer($0.body($0.records { #"{"id": "id-\#($0)", "name": "n"}"# })) },
        Way("half of the keys of another type") {
            $0.answer($0.body($0.records { $0 % 2 == 0 ? #"{"id": \#($0), "name": "n\#($0)"}"# : #"{"id": {"v": \#($0)}, "name": "n"}"# }))
        },
        Way("keys as text") { $0.answer($0.body($0.records { #"{"id": "\#($0)", "name": "n\#($0)"}"# })) },
        Way("keys that are null") { $0.answer($0.body($0.records { _ in #"{"id": null, "name": "n"}"# })) },
        Way("values of another type") { $0.answer($0.body($0.records { #"{"id": \#($0), "name": {"v": \#($0)}}"# })) },
        Way("half of the values of another type") {
            $0.answer($0.body($0.records { $0 % 2 == 0 ? #"{"id": \#($0), "name": "n\#($0)"}"# : #"{"id": \#($0), "name": []}"# }))
        },
        Way("one value of another type") {
            let first = $0.first
            return $0.answer($0.body($0.records { $0 == first ? #"{"id": \#($0), "name": {"v": 1}}"# : #"{"id": \#($0), "name": "n\#($0)"}"# }))
        },
        Way("keys that are fractions") { $0.answer($0.body($0.records { #"{"id": \#($0).5, "name": "n"}"# })) },
    ]

    /// Half of a page, with the tag by which the other half is never asked for again.
    private static let parts: [Way] =
        [false, true].flatMap { isTagged in
            [("206", "206 Partial Content"), ("206 with a range", "206 Partial Content\r\nContent-Range: bytes 0-99/9999")].map { name, status in
                Way("\(name) and a tag, then 304\(isTagged ? " of what had one" : "")", isTagged: isTagged, takesParts: true) {
                    if $0.known == "\"part\"" { return $0.raw("304 Not Modified\r\nETag: \"part\"", "") }
                    let body = $0.body($0.records(10))
                    return $0.raw("\(status)\r\n\(json)\r\nETag: \"part\"\r\nContent-Length: \(body.utf8.count)", body)
                }
            }
        } + [
            Way("304 to everything", isTagged: true) { $0.raw("304 Not Modified\r\nETag: \($0.known ?? "\"x\"")", "") },
            Way("304 to everything, of another tag", isTagged: true) { $0.raw("304 Not Modified\r\nETag: \"other\"", "") },
            Way("304 to the first page, and no others", isTagged: true) {
                $0.page == 1 ? $0.raw("304 Not Modified\r\nETag: \($0.known ?? "\"x\"")", "") : $0.answer("[]", "404 No")
            },
            Way("what the mirror has, byte for byte") {
                var question = $0
                question.blanks = ""
                return question.answer(question.body(question.records()))
            },
            Way("what the mirror has, of the first page only, byte for byte", isEvidence: true) {
                var question = $0
                question.blanks = ""
                return question.answer(question.body(question.records()).replacing("\"pages\": 3", with: "\"pages\": 1"), link: .some(nil))
            },
        ]

    private static func empty(_ question: Question) -> [RawHTTPServer.Step] {
        question.answer(question.body([]).replacing("\"pages\": 3", with: "\"pages\": 1"), link: .some(nil))
    }

    private static func short(_ question: Question) -> [RawHTTPServer.Step] {
        question.answer(question.body(question.records(10)).replacing("\"pages\": 3", with: "\"pages\": 1"), link: .some(nil))
    }

    /// Two lists of the same rows: what one of them does not name is not gone.
    private static let twins: [Way] = [
        Way("another list of the same rows is empty", twin: { empty($0) }) { _ in nil },
        Way("another list of the same rows is short", twin: { short($0) }) { _ in nil },
        Way("another list is short while this one fails", twin: { short($0) }) { $0.answer("[]", "500 No") },
        Way("another list is empty while this one breaks off", twin: { empty($0) }) { $0.page == 2 ? [.reset] : nil },
        Way("another list is empty while this one is unmodified", isTagged: true, twin: { empty($0) }) {
            $0.raw("304 Not Modified\r\nETag: \($0.known ?? "\"x\"")", "")
        },
        Way("another list fails while this one is whole", twin: { $0.answer("[]", "500 No") }) { _ in nil },
    ]

    private static let listings: [Way] = [
        Way("the second page fails") { $0.page == 2 ? $0.answer("[]", "500 No") : nil },
        Way("the second page is gone") { $0.page == 2 ? $0.answer("[]", "404 No") : nil },
        Way("the second page breaks off") { $0.page == 2 ? [.reset] : nil },
        Way("the second page is an error") { $0.page == 2 ? $0.answer(#"{"error": "x"}"#, link: .some(nil)) : nil },
        Way("the second page is null") { $0.page == 2 ? $0.answer("null", link: .some(nil)) : nil },
        Way("a page is empty in the middle") { $0.page == 2 ? $0.answer($0.body([])) : nil },
        Way("a list that ends early", isEvidence: true) {
            $0.answer($0.body($0.records(10)).replacing("\"pages\": 3", with: "\"pages\": 1"), link: .some(nil))
        },
        Way("a malformed link") { $0.form == .bare ? $0.answer($0.body($0.records()), link: "Link: <\($0.address)?page=2; rel=next") : nil },
        Way("a link to nowhere") { $0.form == .bare ? $0.answer($0.body($0.records()), link: "Link: <>; rel=\"next\"") : nil },
        Way("a link to somebody else") {
            $0.form == .bare ? $0.answer($0.body($0.records()), link: "Link: <http://127.0.0.1:1/>; rel=\"next\"") : nil
        },
        Way("a link back") { $0.page == 2 ? $0.answer($0.body($0.records()), link: "Link: <\($0.address)>; rel=\"next\"") : nil },
        Way("a link to itself") { $0.answer($0.body($0.records()), link: "Link: <\($0.address)?page=\($0.page)>; rel=\"next\"") },
        Way("the first page again and again") { question in
            let first = question.first - (question.page - 1) * perPage
            return question.answer(question.body((0..<perPage).map { #"{"id": \#(first + $0), "name": "n\#(first + $0)"}"# }))
        },
    ]

    /// What a server says of each resource, by which lie it is; 0: none.
    private static func steps(_ request: RawHTTPServer.Request, _ form: Form, at base: String, lie: Int) -> [RawHTTPServer.Step] {
        let parts = request.target.split(separator: "?", maxSplits: 1), path = String(parts.first ?? "")
        if path == "/login" {
            return Question(form: form, address: path, page: 1, first: 0, blanks: "", known: nil).raw("200 OK\r\nContent-Type: text/html", page)
        }
        if path == "/login.json" { return [.send(HostileServerTests.answer("200 OK", #"{"login": "please"}"#)), .close] }
        let number = parts.count < 2 ? nil : parts[1].split(separator: "&").first { $0.hasPrefix("page=") }?.dropFirst("page=".count)
        let index = Int(path.dropFirst(2)) ?? 0, page = number.flatMap { Int($0) } ?? 1
        let question = Question(
            form: form, address: base + path, page: page, first: index * 1000 + (page - 1) * perPage,
            blanks: String(repeating: " ", count: lie), known: request.headers["if-none-match"])
        let way = ways[index], answer = path.hasPrefix("/v") ? way.twin ?? way.lie : way.lie
        if lie > 0, let lie = answer(question) { return lie }
        let steps = question.answer(question.body(page <= pages ? question.records() : []))
        guard way.isTagged, case .send(let head) = steps[0] else { return steps }
        return [.send(Question.with("ETag: \"\(page)-\(lie)\"", head))] + steps.dropFirst()
    }

    // The keys of the rows in the file say that none went and came back.
    @Test(.timeLimit(.minutes(60)), arguments: Form.allCases) func noLieEmptiesAMirror(_ form: Form) async throws {
        let number = Mutex(0), base = Mutex("")
        let server = try await RawHTTPServer { request, _ in
            Self.steps(request, form, at: base.withLock { $0 }, lie: number.withLock { $0 })
        }
        base.withLock { $0 = server.url("") }
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(
            text: HostileServerTests.configuration(
                server.url(""), resources: Self.ways.enumerated().map { form.resource($1, $0) }.joined()))
        var daemon = try await shop.daemon()
        let rows = "SELECT _pk, id, name FROM Item ORDER BY id", size = Self.pages * Self.perPage
        try await poll(shop, server, isLying: false)
        let before = try await shop.sql(rows)
        #expect(before.count == Self.ways.count * size)

        for time in 1...3 {
            number.withLock { $0 = time }
            // A process that forgets nothing is no condition.
            if time == 3 {
                daemon.signal(SIGKILL)
                _ = await daemon.end()
                daemon = try await shop.daemon()
            }
            try await poll(shop, server, isLying: true)
            try await check(shop, rows, before, "lie \(time)")
        }
        for (index, way) in Self.ways.enumerated() {
            let held = try #require(try await shop.number("SELECT held_deletes FROM cistern_status WHERE resource = 'w\(index)'"))
            if !way.isEvidence, way.name.contains("key") == false { #expect(held == 0, "\(way.name)") }
            if index == 0 { #expect(held == size) }
        }

        number.withLock { $0 = 0 }
        for _ in 1...2 { try await poll(shop, server, isLying: false) }
        try await check(shop, rows, before, "the truth")
        #expect(try await shop.damage() == [])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }

    private func poll(_ shop: Workshop, _ server: RawHTTPServer, isLying: Bool) async throws {
        let asked = server.requests.count, runs = try await shop.sync()
        let targets = Set(server.requests.dropFirst(asked).map { String($0.target.prefix { $0 != "?" }) })
        for (index, way) in Self.ways.enumerated() {
            let run = try #require(runs["shop/w\(index)"])
            #expect(targets.contains("/w\(index)"), "\(way.name) was not asked: \(run)")
            if !isLying { #expect(run.outcome == .succeeded && run.isComplete, "\(way.name): \(run)") }
        }
    }

    /// By its number a row tells whose it is.
    private func check(_ shop: Workshop, _ rows: String, _ before: [String], _ when: String) async throws {
        let lost = Set(before).subtracting(try await shop.sql(rows))
        for (index, way) in Self.ways.enumerated() {
            let keys = lost.compactMap { Int($0.split(separator: "|")[1]) }.filter { $0 / 1000 == index }
            #expect(keys.isEmpty, "\(when), \(way.name): \(keys.count) rows are gone or others")
        }
        #expect(try await shop.sql("SELECT id FROM Item_tombstone") == [], "\(when)")
    }
}
