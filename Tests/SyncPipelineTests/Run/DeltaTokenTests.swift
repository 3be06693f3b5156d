import Foundation
import NIOHTTP1
import OpenCoreData
import Secrets
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Runs that go on from a token of the service's own.
@Suite struct DeltaTokenTests {
    let api = DeltaAPI()

    func cursor(_ fixture: PipelineFixture) async throws -> String? {
        try await fixture.document.withWorker { worker in
            try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: worker).cursor
        }
    }

    func there(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
            return try worker.fetch(request).map { "\($0.value(forKey: "id") ?? "")=\($0.value(forKey: "name") ?? "")" }.sorted()
        }
    }

    func missing(_ fixture: PipelineFixture) -> [String] {
        fixture.events.compactMap { if case .tokenMissing(_, _, let reason) = $0 { reason } else { nil } }
    }
    // Nothing has changed, and null says so: the run comes to its end, and its token counts.
    @Test func nullIsNothingThatHasChanged() async throws {
        let api = ScriptedAPI()
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource(
                    "people", of: "Person", "records = \"$.items\"\nincremental = { kind = \"token\", path = \"$.token\", param = \"token\" }")))
        api.set("/people", #"{"items": [{"id": 1}], "token": "t1"}"#)
        api.set("/people?token=t1", #"{"items": null, "token": "t2"}"#)
        api.set("/people?token=t2", #"{"items": [{"id": 2}], "token": "t3"}"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aRunBeginsWhereTheLinkOfTheOneBeforeLeads() async throws {
        for id in 1...3 { api.put(id) }
        let fixture = try await api.fixture(api.people())
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(api.asked() == ["", "page=2&at=3"])
        #expect(try await cursor(fixture) == "https://api.example/people?delta=3")
        api.put(2, name: "new")
        api.delete(3)
        api.put(4)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && !report.isComplete && report.pages == 2, "\(report)")
        #expect(report.counts.deleted == 1 && report.counts.inserted == 1 && report.counts.updated == 1, "\(report)")
        #expect(api.asked() == ["delta=3", "delta=3&page=2&at=6"])
        #expect(try await there(fixture) == ["1=x", "2=new", "4=x"])
        #expect(try await cursor(fixture) == "https://api.example/people?delta=6")
        // Nothing is new, twice: the second answer is the same.
        for _ in 1...2 { #expect(try await fixture.sync("api/people").outcome == .succeeded) }
        #expect(api.asked() == ["delta=6", "delta=6"])
        #expect(try await cursor(fixture) == "https://api.example/people?delta=6")
        #expect(missing(fixture) == [])
        try await fixture.end()
    }

    // It is escaped once, and goes with every page.
    @Test func aTokenIsSentAsAParameter() async throws {
        let api = DeltaAPI(isLink: false)
        for id in 1...3 { api.put(id) }
        let fixture = try await api.fixture(api.people())
        try await fixture.sync("api/people")
        #expect(api.asked() == ["", "page=2"])
        #expect(try await cursor(fixture) == "a/+=3")
        for id in 4...6 { api.put(id) }
        try await fixture.sync("api/people")
        #expect(api.asked() == ["sync=a%2F%2B%3D3", "sync=a%2F%2B%3D3&page=2"])
        #expect(try await there(fixture).count == 6)
        try await fixture.end()
    }

    /// A service that takes a token in a header or in the body, and gives it in a header or as a number.
    @Test func aTokenIsSentInAHeaderOrInTheBody() async throws {
        for isHeader in [true, false] {
            let keys =
                isHeader
                ? "header = \"X-Next\", param = \"X-Since\", in = \"header\"" : "path = \"$.token\", param = \"/at/token\", in = \"body\""
            let toml = ScriptedAPI.configuration(
                ScriptedAPI.resource(
                    "people", of: "Person",
                    """
                    records = "$.value"
                    incremental = { kind = "token", \(keys) }
                    \(isHeader ? "" : "method = \"POST\"\njson = { at = { size = 10 } }")
                    """))
            let fixture = try await PipelineFixture(toml) { request, number in
                let body = "{\"value\": [{\"id\": \(number + 1)}], \"token\": \(number + 70)}"
                let headers: HTTPHeaders = ["Content-Type": "application/json", "X-Next": "\(number + 70)", "ETag": "\"1\""]
                return .response(status: 200, headers: headers, body: Array(body.utf8))
            }
            for _ in 1...3 { #expect(try await fixture.sync("api/people").notModifiedPages == 0) }
            let sent: [String?] = fixture.transport.requests.map { isHeader ? $0.headers.first(name: "X-Since") : $0.body?.revealed() }
            let bodies: [String?] = [#"{"at":{"size":10}}"#, #"{"at":{"size":10,"token":"70"}}"#, #"{"at":{"size":10,"token":"71"}}"#]
            #expect(sent == (isHeader ? [nil, "70", "71"] : bodies))
            // A page that was asked for otherwise is another page: no tag of one goes with another.
            #expect(fixture.transport.requests.allSatisfy { $0.headers["If-None-Match"].isEmpty })
            #expect(try await fixture.live() == ["1", "2", "3"])
            try await fixture.end()
        }
    }

    @Test func aRunThatFailsKeepsTheToken() async throws {
        api.put(1)
        let fixture = try await api.fixture(api.people())
        try await fixture.sync("api/people")
        for id in 2...4 { api.put(id) }
        api.delete(1)
        api.change { [count = fixture.transport.requests.count] in $0.broken = [count + 1] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == "https://api.example/people?delta=1")
        _ = api.asked()
        let again = try await fixture.sync("api/people")
        #expect(again.outcome == .succeeded && api.asked().first == "delta=1", "\(again)")
        #expect(try await there(fixture) == api.there)
        try await fixture.end()
    }

    @Test func aStartGoesOnFromTheStoredToken() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        api.put(1)
        for (number, expected) in ["", "delta=1", "delta=2"].enumerated() {
            let now = Date(timeIntervalSince1970: 1_735_689_600 + Double(number) * 86_400)
            let fixture = try await api.fixture(api.people(), folder: folder, now: now)
            try await fixture.sync("api/people")
            #expect(api.asked() == [expected])
            #expect(try await there(fixture) == api.there)
            api.put(number + 2)
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    // MARK: Tokens that are of no use

    @Test(arguments: [400, 410, 422])
    func aTokenThatIsNotTakenMakesTheRunAskForEverything(status: Int) async throws {
        for id in 1...3 { api.put(id) }
        let deletion = "detect = \"snapshot\", path = \"$['@removed']\", confirm_runs = 1, max_fraction = 1.0"
        let fixture = try await api.fixture(api.people(deletion: deletion))
        try await fixture.sync("api/people")
        // What is deleted while the token is lost is in no list of changes.
        api.delete(1)
        api.change { state in (state.oldest, state.rejection) = (100, status) }
        _ = api.asked()
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.deleted == 1, "\(report)")
        #expect(api.asked().prefix(2) == ["delta=3", ""])
        // The token itself is not told.
        #expect(fixture.events.contains { if case .cursorRejected(_, _, "its token", status) = $0 { true } else { false } })
        #expect(try await there(fixture) == api.there)
        #expect(try await cursor(fixture) == "https://api.example/people?delta=4")
        try await fixture.end()
    }

    @Test func aTokenThatIsNotTakenMayFailTheRun() async throws {
        api.put(1)
        let fixture = try await api.fixture(api.people("on_cursor_rejected = \"fail\""))
        try await fixture.sync("api/people")
        api.change { $0.oldest = 100 }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == "https://api.example/people?delta=1")
        try await fixture.end()
    }

    @Test(
        arguments: [
            ("\"other\": 1", "the last page has none at $.delta"), ("\"delta\": null", "the last page has none at $.delta"),
            ("\"delta\": \"https://elsewhere.example/people?delta=1\"", "elsewhere.example"),
            ("\"delta\": \"http://api.example/people?delta=1\"", "from https to http"),
            ("\"delta\": \"file:///etc/passwd\"", "file"),
            ("\"delta\": \"/people?delta=\(String(repeating: "x", count: 9000))\"", "longer than 8192 bytes"),
        ])
    func withoutATokenTheNextRunAsksForEverything(ending: String, reason: String) async throws {
        for id in 1...2 { api.put(id) }
        let fixture = try await api.fixture(api.people())
        try await fixture.sync("api/people")
        api.put(1, name: "new")
        api.change { $0.ending = ending }
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        let told = missing(fixture)
        #expect(told.count == 1 && told.first?.contains(reason) == true, "\(told)")
        #expect(try await cursor(fixture) == nil)
        api.change { $0.ending = nil }
        _ = api.asked()
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(api.asked() == [""])
        #expect(try await cursor(fixture) == "https://api.example/people?delta=3")
        try await fixture.end()
    }

    // Who says that nothing has changed need not say it with a token.
    @Test(arguments: ["empty_statuses = [204]", "ignore_if = [{ path = \"$.state\", equals = \"unchanged\" }]"])
    func anAnswerThatThereIsNothingLeavesTheToken(lines: String) async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                """
                records = "$.value"
                pages = { kind = "cursor", path = "$.next", param = "page" }
                incremental = { kind = "token", path = "$.token", param = "t" }
                \(lines)
                """))
        let isEmpty = lines.hasPrefix("empty")
        let fixture = try await PipelineFixture(toml) { request, number in
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "\"\(number / 2)\""]
            func answer(_ body: String) -> StubTransport.Answer { .response(status: 200, headers: headers, body: Array(body.utf8)) }
            switch number {
            case 0: return answer("{\"value\": [{\"id\": 1}], \"token\": \"A\"}")
            // Nothing has changed, three times, and then something has, with a last page that has nothing.
            case 1, 2, 3, 5, 7:
                if !request.headers["If-None-Match"].isEmpty { return .response(status: 304, headers: headers) }
                return isEmpty ? .response(status: 204, headers: headers) : answer("{\"state\": \"unchanged\"}")
            case 4: return answer("{\"value\": [{\"id\": 2}], \"next\": \"2\", \"token\": \"B\"}")
            default: return answer("{\"value\": [{\"id\": 3}], \"next\": \"2\"}")
            }
        }
        for expected in ["A", "A", "A", "A", "B", "B"] {
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            #expect(try await cursor(fixture) == expected)
        }
        let queries = fixture.transport.requests.map { $0.address.url.query ?? "" }
        #expect(queries == ["", "t=A", "t=A", "t=A", "t=A", "t=A&page=2", "t=B", "t=B&page=2"])
        #expect(missing(fixture) == [] && fixture.transport.requests.allSatisfy { $0.headers["If-None-Match"].isEmpty })
        #expect(try await there(fixture).count == 3)
        try await fixture.end()
    }

    // An object is no token, and the page may be another one than it seems.
    @Test func aTokenThatCannotBeReadLeavesTheRunIncomplete() async throws {
        api.put(1)
        let fixture = try await api.fixture(api.people())
        try await fixture.sync("api/people")
        api.change { $0.ending = "\"delta\": {\"a\": 1}" }
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .incomplete && report.error?.contains("the token at $.delta") == true, "\(report)")
        #expect(try await cursor(fixture) == "https://api.example/people?delta=1")
        try await fixture.end()
    }

    // MARK: Other things

    // A listing of everything says what it said the time before, and what has changed in between has changed back.
    @Test func aListingThatIsAsItWasIsReadAllTheSame() async throws {
        for id in 1...2 { api.put(id, name: "same") }
        let fixture = try await api.fixture(api.people())
        api.change { $0.ending = "\"delta\": \"/people?delta=2\"" }
        try await fixture.sync("api/people")
        api.put(1, name: "other")
        try await fixture.sync("api/people")
        #expect(try await there(fixture) == ["1=other", "2=same"])
        api.put(1, name: "same")
        let report = try await fixture.sync("api/people", full: true)
        #expect(report.isComplete && report.notModifiedPages == 0, "\(report)")
        #expect(try await there(fixture) == ["1=same", "2=same"])
        // Also where it is the token that makes the run list everything.
        api.put(1, name: "other")
        try await fixture.sync("api/people")
        api.put(1, name: "same")
        api.change { $0.oldest = 100 }
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(try await there(fixture) == ["1=same", "2=same"])
        try await fixture.end()
    }

    // The service sends back what it was sent.
    @Test func aKeyInALinkIsNotStored() async throws {
        api.put(1)
        let fixture = try await api.fixture(
            api.people("", "auth = { kind = \"api-key\", in = \"query\", name = \"key\", value = { credential = \"k\" } }"),
            secrets: Fixture.secret("hush"))
        api.change { $0.ending = "\"delta\": \"/people?key=hush&delta=1\"" }
        try await fixture.sync("api/people")
        #expect(try await cursor(fixture) == "https://api.example/people?delta=1")
        _ = api.asked()
        try await fixture.sync("api/people")
        #expect(api.asked() == ["delta=1&key=hush"])
        try await fixture.end()
    }

    @Test func otherRequestsOrAnotherMappingAskForEverything() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        api.put(1)
        let toml = api.people()
        for (number, (old, new)) in [
            ("", ""), ("path = \"/people\"", "path = \"/people\"\nparams = { a = \"b\" }"),
            ("path = \"$.delta\"", "path = \"$.delta\", param = \"sync\""),
            ("name = { type = \"string\" }", "name = { type = \"string\", path = \"$.other\" }"), ("path = \"$['@removed']\"", "path = \"$.gone\""),
        ].enumerated() {
            let now = Date(timeIntervalSince1970: 1_735_689_600 + Double(number) * 86_400)
            let fixture = try await api.fixture(old.isEmpty ? toml : toml.replacingOccurrences(of: old, with: new), folder: folder, now: now)
            _ = api.asked()
            #expect(try await fixture.sync("api/people").isComplete, "\(new)")
            #expect(api.asked().first?.contains("delta") == false, "\(new)")
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    // A link to a page that must not be followed any more: everything is asked for.
    @Test func aStoredLinkIsFollowedAsTheConfigurationOfTodaySays() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        api.put(1)
        api.change { $0.ending = "\"delta\": \"https://other.example/people?delta=1\"" }
        for (number, links) in ["any", "any", "same-origin"].enumerated() {
            let now = Date(timeIntervalSince1970: 1_735_689_600 + Double(number) * 86_400)
            let fixture = try await api.fixture(api.people("", "http = { next_links = \"\(links)\" }"), folder: folder, now: now)
            _ = api.asked()
            try await fixture.sync("api/people")
            #expect(api.asked() == [number == 1 ? "delta=1" : ""], "\(number)")
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func aPageWithoutRecordsIsNoEndAsLongAsItLeadsOn() async throws {
        for isLink in [true, false] {
            let api = DeltaAPI(isLink: isLink)
            for id in 1...3 { api.put(id) }
            api.change { $0.beginsEmpty = true }
            let fixture = try await api.fixture(api.people())
            #expect(try await fixture.sync("api/people").pages == 3)
            api.put(4)
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            #expect(try await there(fixture) == api.there)
            try await fixture.end()
        }
    }

    @Test func partsHaveTokensOfTheirOwn() async throws {
        api.put(1)
        let fixture = try await api.fixture(
            api.people("", "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"))
        try await fixture.sync("api/people")
        #expect(api.asked() == ["part=a", "part=b"])
        api.put(2)
        api.change { [count = fixture.transport.requests.count] in $0.broken = [count + 1] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(api.asked() == ["delta=1", "delta=1"])
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        #expect(api.asked() == ["delta=2", "delta=1"])
        try await fixture.end()
    }

    /// Whatever changes, is deleted or comes back, and whichever requests and tokens fail: after a run that succeeds the store is what the server
    /// has.
    @Test(arguments: 1...16)
    func whateverChangesTheStoreIsWhatTheServerHas(seed: Int) async throws {
        var random = SeededNumbers(seed)
        let api = DeltaAPI(isLink: Bool.random(using: &random)), action = ["tombstone", "delete"].randomElement(using: &random)!
        let guards = "confirm_runs = 1, max_fraction = 1.0, min_expected = 0, action = \"\(action)\""
        let deletion = "detect = \"snapshot\", path = \"$['@removed']\", \(guards)"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        var now = Date(timeIntervalSince1970: 1_735_689_600)
        var fixture = try await api.fixture(api.people("full_every = \"never\"", deletion: deletion), folder: folder, now: now)
        for round in 1...40 {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let id = Int.random(in: 1...12, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: api.delete(id)
                // As it was once before.
                case 1: api.put(id, name: "same")
                default: api.put(id, name: "n\(round)")
                }
            }
            let count = fixture.transport.requests.count
            let broken: Set<Int> = Int.random(in: 0..<3, using: &random) == 0 ? [count + Int.random(in: 0..<3, using: &random)] : []
            let isForgotten = Int.random(in: 0..<6, using: &random) == 0, isTokenless = Int.random(in: 0..<8, using: &random) == 0
            let isEmpty = Bool.random(using: &random)
            api.change { state in
                state.broken = broken
                if isForgotten { state.oldest = state.version + 1 }
                state.ending = isTokenless ? "\"other\": 1" : nil
                state.beginsEmpty = isEmpty
            }
            let isFull = Int.random(in: 0..<10, using: &random) == 0
            let report = try await fixture.sync("api/people", full: isFull)
            if report.outcome == .succeeded { #expect(try await there(fixture) == api.there, "round \(round), \(action)") }
            if Int.random(in: 0..<8, using: &random) == 0 {
                await fixture.pipeline.stop(grace: .zero)
                try await fixture.document.close()
                now = now.addingTimeInterval(30 * 86_400)
                fixture = try await api.fixture(api.people("full_every = \"never\"", deletion: deletion), folder: folder, now: now)
            }
        }
        try await fixture.end()
    }
}
