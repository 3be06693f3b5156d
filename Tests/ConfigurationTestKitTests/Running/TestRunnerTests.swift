import Foundation
import SyncConfiguration
import Testing

@testable import ConfigurationTestKit

@Suite struct TestRunnerTests {
    private let bench = Workbench()

    private func two(_ expect: String, request: String = "") async throws -> [String] {
        try await bench.differences(Workbench.twoItems(expect, request: request))
    }

    @Test func whatIsAsTheTestSaysIsNoDifference() async throws {
        let rows = """
            complete = true
            requests = 1
            counts = { inserted = 2, updated = 0, quarantined = 0 }
            objects = { Item = 2, Owner = 1, Note = 0 }
            rows.Item = [
              { id = 2, name = {}, code = "6ba7b810-9dad-11d1-80b4-00c04fd430c8", owner = {} },
              { id = 1, name = "a", price = 1.1, weight = 2, isNew = true, changed = 2025-01-02 03:04:05Z, owner = "ada" },
            ]
            rows.Owner = [{ login = "ada" }]
            """
        #expect(try await two(rows, request: "request_headers = { authorization = \"Bearer test-api_token\" }") == [])
        #expect(try await two("rows.Item = [{ id = 1, owner = { login = \"ada\" } }, { name = {} }]") == [])
    }

    @Test(arguments: [
        ("rows.Item = [{ id = 1, name = \"b\" }, { id = 2 }]", ":9: Item with id = 1: name: wanted \"b\", got \"a\""),
        ("rows.Item = [{ id = 1, name = {} }, { id = 2 }]", "name: wanted {}, got \"a\""),
        ("rows.Item = [{ id = 1 }, { id = 2, name = \"\" }]", "Item with id = 2: name: wanted \"\", got {}"),
        ("rows.Item = [{ id = 1, price = 1.11 }, { id = 2 }]", "price: wanted 1.11, got"),
        ("rows.Item = [{ id = 1, isNew = false }, { id = 2 }]", "isNew: wanted false, got true"),
        ("rows.Item = [{ id = 1, isNew = 1 }, { id = 2 }]", "isNew: wanted 1, got true"),
        ("rows.Item = [{ id = 1, changed = 2025-01-02T03:04:06Z }, { id = 2 }]", "changed: wanted 2025-01-02T03:04:06Z, got 2025-01-02T03:04:05Z"),
        ("rows.Item = [{ id = 1, owner = \"bob\" }, { id = 2 }]", "owner: wanted \"bob\", got \"ada\""),
        ("rows.Item = [{ id = 1, owner = {} }, { id = 2 }]", "owner: wanted {}, got \"ada\""),
        ("rows.Item = [{ id = 1 }]", "there is a row that the test does not name: got Item { code = "),
        ("rows.Item = [{ id = 1 }, { id = 2 }, { id = 3 }]", "there is no Item like this: wanted { id = 3 }"),
        ("rows.Item = [{ name = \"c\" }, { id = 2 }]", "there is no Item like this: wanted { name = \"c\" }"),
        ("rows.Item = [{ id = 1, nam = \"a\" }, { id = 2 }]", "Item has no property \"nam\""),
        ("rows.Thing = []", "there is no entity \"Thing\"; there are "),
        ("objects = { Item = 3 }", "objects.Item: wanted 3, got 2"),
        ("counts = { inserted = 1 }", "counts.inserted: wanted 1, got 2"),
        ("complete = false", "complete: wanted false, got true"),
        ("requests = 2", "requests: wanted 2, got 1"),
        ("error = \"nothing\"", "error: wanted \"nothing\", got none"),
        ("quarantine = [{ reason = \"x\" }]", "no such record is set aside: wanted { reason = \"x\" }"),
    ])
    func everyDifferenceIsFoundWithItsPlace(_ expect: String, _ difference: String) async throws {
        let found = try await two(expect)
        #expect(found.contains { $0.hasPrefix("/c/api.test.toml:") && $0.contains(difference) }, "\(found)")
    }

    @Test func aRequestThatNothingAnswersIsShownAsAnExchangeToPaste() async throws {
        let found = try await bench.found("[[test]]\nname = \"a\"\n[test.expect]\nrows.Item = [{ id = 1 }]")
        #expect(found.count == 1)
        let line = try #require(found.first?.description)
        #expect(line.hasPrefix("/c/api.test.toml:1: no exchange answers this request: got GET https://api.example/items?"))
        let block = try #require(found.first?.block)
        #expect(try bench.tests("[[test]]\nname = \"a\"\n" + block)[0].runs[0].exchanges.count == 1)
        #expect(try await bench.differences("[[test]]\nname = \"a\"\n" + block) == [])
    }

    @Test func anExchangeThatNobodyAsksForIsADifferenceUnlessItIsOptional() async throws {
        let unasked = "[[test.exchange]]\nrequest = \"GET https://api.example/others\"\n"
        let asked = "[[test.exchange]]\nrequest = \"GET https://api.example/items?sort=id&per=2\"\nbody = \"[]\"\n"
        func found(_ more: String) async throws -> [String] {
            try await bench.differences("[[test]]\nname = \"a\"\n" + asked + unasked + more)
        }
        let words = "nobody asked for this (optional = true lets that be): wanted GET https://api.example/others"
        #expect(try await found("") == ["/c/api.test.toml:6: \(words)"])
        #expect(try await found("optional = true") == [])
    }

    @Test(arguments: [
        "request_headers = { Authorization = \"Bearer test-other\" }", "request_headers = { Authorization = { credential = \"other\" } }",
        "request_headers = { X-Missing = \"a\" }", "request_body = \"a\"", "request_json = { a = 1 }",
    ])
    func aRequestThatIsNotAsItMustBeIsNotAnswered(_ condition: String) async throws {
        let found = try await two("complete = true", request: condition)
        #expect(found.contains { $0.contains("no exchange answers this request") }, "\(found)")
        #expect(found.contains { $0.contains("nobody asked for this") }, "\(found)")
    }

    @Test func credentialsAreThoseOfTheTestAndNeverTheSystems() async throws {
        #expect(try await two("complete = true", request: "request_headers = { Authorization = { credential = \"api_token\" } }") == [])
        let other = Workbench.twoItems("complete = true", request: "request_headers = { Authorization = \"Bearer mine\" }")
            .replacing("name = \"two\"", with: "name = \"two\"\nsecrets = { api_token = \"mine\" }")
        #expect(try await bench.differences(other) == [])
    }

    @Test func aRunThatFailsIsADifferenceUnlessItIsSaidWithItsError() async throws {
        func found(_ expect: String) async throws -> [String] {
            let exchange = "[[test.exchange]]\nrequest = \"GET https://api.example/items?sort=id&per=2\"\nstatus = 404\n"
            return try await bench.differences("[[test]]\nname = \"a\"\n" + exchange + "[test.expect]\n" + expect)
        }
        #expect(try await found("").first?.contains("api/items failed: got ") == true)
        #expect(try await found("error = \"status 404\"\ncomplete = false") == [])
        #expect(try await found("complete = false").count == 1)
        #expect(try await found("error = \"status 500\"").count == 1)
    }

    @Test func aRecordThatIsSetAsideIsADifferenceUnlessItIsSaid() async throws {
        func found(_ expect: String) async throws -> [String] {
            try await bench.differences(
                Workbench.twoItems(expect).replacing("{\"id\": 2,", with: "{\"id\": \"x\","))
        }
        #expect(try await found("complete = true").contains { $0.contains("a record is set aside: got api/items { page = 1") })
        #expect(try await found("quarantine = [{ path = \"$.id\", page = 1, record = 1 }]") == [])
        #expect(try await found("quarantine = [{ path = \"$.name\" }]").count == 2)
        #expect(try await found("quarantine = []").count == 1)
    }

    @Test func waitsTakeNoTime() async throws {
        let text = """
            [[test]]
            name = "a"
            [[test.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            status = 503
            headers = { Retry-After = "45" }
            [[test.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            failure = "connect"
            [[test.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            body = "[]"
            [test.expect]
            requests = 3
            in_order = true
            complete = true
            """
        #expect(try await bench.differences(text) == [])
    }

    @Test func runsFollowOneAnotherOverOneStore() async throws {
        let text = """
            [[test]]
            name = "a"
            [[test.run]]
            [[test.run.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            headers = { ETag = '"1"' }
            body = '[{"id": 1}, {"id": 2}]'
            [[test.run]]
            after = "1s"
            [[test.run.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            request_headers = { If-None-Match = '"1"' }
            status = 304
            [test.run.expect]
            complete = true
            counts = { unchanged = 2, deleted = 0 }
            objects = { Item = 2 }
            [[test.run]]
            full = true
            [[test.run.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            body = '[{"id": 1}]'
            [test.run.expect]
            complete = true
            counts = { deleted = 1 }
            rows.Item = [{ id = 1 }]
            """
        #expect(try await bench.differences(text) == [])
        #expect(try await bench.differences(text.replacing("rows.Item = [{ id = 1 }]", with: "rows.Item = [{ id = 2 }]")).count == 2)
    }

    @Test func anOrderIsLookedAtWhereItIsSaid() async throws {
        func text(_ expect: String) -> String {
            """
            [[test]]
            name = "a"
            [[test.exchange]]
            request = "GET https://api.example/items?page=2"
            body = '[{"id": 2}]'
            [[test.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            headers = { Link = '</items?page=2>; rel="next"' }
            body = '[{"id": 1}]'
            [test.expect]
            complete = true
            \(expect)
            """
        }
        #expect(try await bench.differences(text("")) == [])
        #expect(try await bench.differences(text("in_order = true")).first?.contains("did not take place in their order") == true)
    }

    @Test func aListingIsCutAfterThePagesOfTheTest() async throws {
        let text = """
            [[test]]
            name = "a"
            max_pages = 1
            [[test.exchange]]
            request = "GET https://api.example/items?sort=id&per=2"
            headers = { Link = '</items?page=2>; rel="next"' }
            body = '[{"id": 1}]'
            [test.expect]
            complete = false
            rows.Item = [{ id = 1 }]
            """
        #expect(try await bench.differences(text) == [])
        #expect(try await bench.differences(text.replacing("complete = false", with: "")).first?.contains("was not read to its end") == true)
    }

    @Test func whatATestNamesIsReadAlthoughItIsSwitchedOff() async throws {
        let text = """
            [[test]]
            name = "a"
            sync = ["api/notes"]
            [[test.exchange]]
            request = "GET https://api.example/notes"
            json = [{ id = 7 }]
            [test.expect]
            rows.Note = [{ id = 7 }]
            """
        #expect(try await bench.differences(text) == [])
        await #expect(throws: (any Error).self) { try await bench.differences(text.replacing("api/notes", with: "api/nothing")) }
    }

    @Test func nothingIsLeftOfTheStores() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-runner-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ConfigurationTexts(["/c/api.toml": Workbench.configuration])
        let configuration = try ConfigurationReader(path: "/c/api.toml", files: files).configuration()
        let test = try bench.tests(Workbench.twoItems("complete = true"))[0]
        _ = try await TestRunner(configuration, folder: folder, version: "test").run(test)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
