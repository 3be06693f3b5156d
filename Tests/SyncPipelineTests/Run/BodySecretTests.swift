import Foundation
import NIOHTTP1
import OpenCoreData
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Secrets that go into bodies, and nowhere else.
@Suite struct BodySecretTests {
    /// A secret that may be replaced.
    private final class Rotating: Sendable {
        private let text: Mutex<String>
        init(_ text: String) { self.text = Mutex(text) }
        func rotate(to new: String) { text.withLock { $0 = new } }
        var resolver: SecretResolver { SecretResolver { [self] _, _ in Secret(Array(text.withLock { $0 }.utf8)) } }
    }

    private static let json: HTTPHeaders = ["Content-Type": "application/json"]
    private static let auth = "auth = { kind = \"api-key\", in = \"body\", name = \"/auth/key\", value = { credential = \"K\" } }"

    private func bodies(_ fixture: PipelineFixture) -> [String] { fixture.transport.requests.map { $0.body?.revealed() ?? "" } }

    private func keys(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in try StateRow<RequestTable>.all(in: worker).map(\.request) }
    }

    @Test func aKeyIsPutIntoJSONWhenItIsSent() async throws {
        let secret = Rotating("first \"secret\" \\ ü")
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("method = \"POST\"\njson = { auth = { key = \"\", user = \"me\" }, q = 1 }\n\(Self.auth)"), secrets: secret.resolver
        ) { _, _ in .response(status: 200, headers: Self.json, body: Array(#"[{"id": 1}]"#.utf8)) }
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(bodies(fixture) == [#"{"auth":{"key":"first \"secret\" \\ ü","user":"me"},"q":1}"#])
        let known = try await keys(fixture)
        // A page is known by what is asked, not by who asks: a key that is replaced makes nobody forget it.
        secret.rotate(to: "second-secret")
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        #expect(bodies(fixture).last == #"{"auth":{"key":"second-secret","user":"me"},"q":1}"#)
        #expect(try await keys(fixture) == known && known.count == 1)
        let auth = BodyValue.object([.init("key", .text("")), .init("user", .text("me"))])
        let body = RequestBody.json(.object([.init("auth", auth), .init("q", .number("1"))]))
        #expect(known == [PageRequest(method: .post, address: try HTTPAddress("https://api.example/people"), body: body).key])
        try await fixture.end()
    }

    @Test func aFieldIsPutIntoAForm() async throws {
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("method = \"POST\"\nform = { q = \"a\" }\nsecret_fields = { token = { credential = \"T\" } }"),
            secrets: Fixture.secret("a b&c=ü")
        ) { _, _ in .response(status: 200, headers: Self.json, body: Array("[]".utf8)) }
        try await fixture.sync()
        #expect(bodies(fixture) == ["q=a&token=a%20b%26c%3D%C3%BC"])
        #expect(fixture.transport.requests[0].headers["Content-Type"] == ["application/x-www-form-urlencoded"])
        try await fixture.end()
    }

    // A service whose only field is the key.
    @Test(arguments: [
        "secret_fields = { token = { credential = \"T\" } }",
        "auth = { kind = \"api-key\", in = \"body\", name = \"token\", value = { credential = \"T\" } }",
    ])
    func aFormWithoutFieldsHasPlaceForIt(secret: String) async throws {
        for form in ["{}", "{ token = \"\" }"] {
            let fixture = try await PipelineFixture(
                ScriptedAPI.people("method = \"POST\"\nform = \(form)\n\(secret)"), secrets: Fixture.secret("topsecret")
            ) { _, _ in .response(status: 200, headers: Self.json, body: Array("[]".utf8)) }
            try await fixture.sync()
            #expect(bodies(fixture) == ["token=topsecret"])
            #expect(fixture.transport.requests[0].headers["Content-Type"] == ["application/x-www-form-urlencoded"])
            try await fixture.end()
        }
    }

    @Test func pagesAndSecretsStandSideBySide() async throws {
        let lines = """
            method = "POST"
            json = { q = "a" }
            records = "$.items"
            pages = { kind = "cursor", path = "$.next", in = "body", param = "/paging/after" }
            secret_fields = { "/paging/token" = { credential = "T" } }
            \(Self.auth)
            """
        let fixture = try await PipelineFixture(ScriptedAPI.people(lines), secrets: Fixture.secret("topsecret")) { _, number in
            let body = number == 0 ? #"{"items": [{"id": 1}], "next": "b"}"# : #"{"items": [{"id": 2}]}"#
            return .response(status: 200, headers: Self.json, body: Array(body.utf8))
        }
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(
            bodies(fixture) == [
                #"{"q":"a","paging":{"token":"topsecret"},"auth":{"key":"topsecret"}}"#,
                #"{"q":"a","paging":{"after":"b","token":"topsecret"},"auth":{"key":"topsecret"}}"#,
            ])
        #expect(try await keys(fixture).count == 2)
        try await fixture.end()
    }

    // As it is, as JSON writes it, or as a form does.
    @Test(arguments: [#"bad key hunter2 "x"/y"#, #"bad key hunter2 \"x\"\/y"#, "bad key hunter2%20%22x%22%2Fy"])
    func whatAServerRepeatsIsMasked(text: String) async throws {
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("method = \"POST\"\njson = { q = \"a\" }\n\(Self.auth)"), secrets: Fixture.secret(#"hunter2 "x"/y"#)
        ) { _, _ in .response(status: 403, headers: Self.json, body: Array(text.utf8)) }
        let report = try #require(try await fixture.sync().first)
        #expect(report.error?.contains("bad key [redacted]") == true && report.error?.contains("hunter2") == false, "\(report)")
        #expect(!fixture.events.contains { "\($0)".contains("hunter2") })
        try await fixture.end()
    }

    @Test func noOtherOriginGetsIt() async throws {
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("method = \"POST\"\njson = { q = \"a\" }\nhttp.redirects = \"any\"\n\(Self.auth)"),
            secrets: Fixture.secret("topsecret")
        ) { request, _ in
            let path = request.address.url.path
            if path == "/people" { return .response(status: 307, headers: ["Location": "/moved"]) }
            if path == "/moved" { return .response(status: 307, headers: ["Location": "https://other.example/people"]) }
            return .response(status: 200, headers: Self.json, body: Array("[]".utf8))
        }
        #expect(try await fixture.sync().first?.outcome == .failed)
        #expect(fixture.transport.requests.map(\.address.origin.host) == ["api.example", "api.example"])
        #expect(bodies(fixture).allSatisfy { $0 == #"{"q":"a","auth":{"key":"topsecret"}}"# })
        try await fixture.end()
    }

    // Many services take the same parameters in a form and in the query, and make the next link of all of them.
    @Test(arguments: ["token=top%20secret%2F1&page=2", "page=2&old=top+secret/1", "page=2&token=top+secret%2F1&token=top%20secret/1"])
    func aLinkThatRepeatsItIsStoredWithoutIt(query: String) async throws {
        let lines = """
            method = "POST"
            form = { q = "a" }
            pages = { kind = "link-header" }
            secret_fields = { token = { credential = "T" } }
            """
        let fixture = try await PipelineFixture(ScriptedAPI.people(lines), secrets: Fixture.secret("top secret/1")) { _, number in
            var headers = Self.json
            if number == 0 { headers.add(name: "Link", value: "<https://api.example/people?\(query)>; rel=\"next\"") }
            return .response(status: 200, headers: headers, body: Array(#"[{"id": \#(number)}]"#.utf8))
        }
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(fixture.transport.requests.map(\.address.description) == ["https://api.example/people", "https://api.example/people?page=2"])
        #expect(bodies(fixture) == Array(repeating: "q=a&token=top%20secret%2F1", count: 2))
        let stored = try await fixture.document.withWorker { worker in
            try StateRow<RequestTable>.all(in: worker).map { "\($0.request) \($0.facts?.nextLink ?? "")" }
        }
        #expect(stored.count == 2 && !stored.contains { $0.contains("secret") }, "\(stored)")
        try await fixture.end()
    }

    @Test func whatTheConfigurationSaysInTheAddressIsNoSecret() async throws {
        let settings = try Fixture.settings("https://api.example/sixteen-letters-long", secrets: Fixture.secret("sixteen-letters-long")) {
            $0.parameters = [QueryParameter(name: "account", value: "sixteen-letters-long")]
            $0.secretHeaders = [SecretField(name: "X-Account", value: .secret(.credential("k")))]
        }
        _ = try await settings.authentication.credential()
        func followed(_ link: String) throws -> String { try PageFacts.follow(link, from: settings.first, settings: settings).description }
        let same = "https://api.example/sixteen-letters-long?account=sixteen-letters-long&page=2"
        #expect(try followed(same) == same)
        #expect(try followed("\(same)&key=sixteen-letters-long&x=a-sixteen-letters-long") == same)
        let short = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("1234")) {
            $0.secretHeaders = [SecretField(name: "X-Pin", value: .secret(.credential("k")))]
        }
        _ = try await short.authentication.credential()
        let link = "https://api.example/items?after=1234&x-pin=1234"
        #expect(try PageFacts.follow(link, from: short.first, settings: short).description == link)
        let other = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("sixteen-letters-long")) {
            $0.authentication = .bearer(.init(token: .credential("k")))
        }
        _ = try await other.authentication.credential()
        #expect(throws: Refusal.credentialInAddress) {
            try PageFacts.follow("/of/sixteen-letters-long/2", from: other.first, settings: other)
        }
    }

    // What is made of a request for another origin, however that came about, has none.
    @Test func aRequestForAnotherOriginIsMadeWithoutIt() async throws {
        let body = RequestBody.json(.object([.init("q", .text("a"))]))
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("topsecret")) {
            $0.method = .post
            $0.body = body
            $0.secretFields = [SecretField(name: "/k", value: .secret(.credential("k")))]
        }
        let page = PageRequest(method: .post, address: settings.first, body: body), credential = try await settings.authentication.credential()
        for (address, sent) in [("https://api.example/items", #"{"q":"a","k":"topsecret"}"#), ("https://other.example/items", #"{"q":"a"}"#)] {
            let request = settings.request(page, at: try HTTPAddress(address), credential: credential, validators: nil, cookies: nil)
            #expect(request.body?.revealed() == sent)
        }
        var dumped = ""
        dump((settings, page, credential), to: &dumped)
        #expect(!dumped.contains("topsecret"))
    }

    @Test func aSessionsTokenGoesIntoTheBody() async throws {
        let lines = """
            method = "POST"
            json = { method = "item.get" }
            auth = { kind = "session", login = { path = "/login", json = { p = { credential = "P" } } }, token_path = "$.t", send_as = { in = "body", name = "/auth" } }
            """
        let fixture = try await PipelineFixture(ScriptedAPI.people(lines), secrets: Fixture.secret("topsecret")) { request, _ in
            .response(status: 200, headers: Self.json, body: Array((request.address.url.path == "/login" ? #"{"t": "abc123"}"# : "[]").utf8))
        }
        try await fixture.sync()
        #expect(bodies(fixture) == [#"{"p":"topsecret"}"#, #"{"method":"item.get","auth":"abc123"}"#])
        try await fixture.end()
    }

    // The configuration refuses it; if it ever came to this, nobody is asked without the secret.
    @Test func aBodyWithoutAPlaceIsNotSent() async throws {
        let body = RequestBody.json(.object([.init("a", .number("1"))])), transport = StubTransport(.response(status: 200))
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("topsecret")) {
            $0.method = .post
            $0.body = body
            $0.secretFields = [SecretField(name: "/a/k", value: .secret(.credential("k")))]
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: ManualClock())
        let error = await PageFetch(PageRequest(method: .post, address: settings.first, body: body), environment: environment).run().error
        #expect(error?.kind == .credential && transport.requests.isEmpty)
    }
}
