import Crypto
import Foundation
import NIOHTTP1
import OpenCoreData
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Requests that are signed one by one, and a service that checks each signature by itself.
@Suite struct SignedRequestTests {
    /// Checks what requests carry as RFC 2104 defines it, and takes no nonce twice.
    private final class Service: Sendable {
        private struct State {
            var nonces: Set<String> = []
            var times: [String] = []
            var faults: [String] = []
        }

        private let state = Mutex(State())
        private let key: [UInt8]

        init(key: String) { self.key = Array(key.utf8) }

        var faults: [String] { state.withLock { $0.faults } }
        var times: [String] { state.withLock { $0.times } }

        /// RFC 2104, 2, in as many words.
        func code(_ message: String) -> [UInt8] {
            let block = key + [UInt8](repeating: 0, count: 64 - key.count)
            let inner = Array(SHA256.hash(data: block.map { $0 ^ 0x36 } + Array(message.utf8)))
            return Array(SHA256.hash(data: block.map { $0 ^ 0x5C } + inner))
        }

        /// Takes in a request whose signature is this.
        func check(_ signature: String?, of message: String, nonce: String?, time: String?) {
            let expected = code(message).map { String(format: "%02x", $0) }.joined()
            state.withLock { state in
                if signature != expected { state.faults.append("\(signature ?? "nothing") signs not “\(message)”") }
                if let nonce, !state.nonces.insert(nonce).inserted { state.faults.append("the nonce \(nonce) comes twice") }
                state.times.append(time ?? "")
            }
        }
    }

    private static let json: HTTPHeaders = ["Content-Type": "application/json"]
    private static let secret = "the-signing-key"

    private static let headers = """
        auth = { kind = "hmac", key = { credential = "K" }, key_id = "me", header_value = "HMAC {key_id}:{signature}", timestamp_header = "X-Time", \
        nonce_header = "X-Nonce", template = "{method}\\n{host}\\n{target}\\n{timestamp}\\n{nonce}\\n{header:X-Tenant}\\n{body_sha256}\\n{body}" }
        headers = { X-Tenant = "seven" }
        """

    private static func target(_ request: HTTPRequest) -> String {
        let url = request.address.url
        return url.path + (url.query.map { "?\($0)" } ?? "")
    }

    /// Checks a request of a resource with `headers`.
    private static func check(_ request: HTTPRequest, by service: Service) {
        func header(_ name: String) -> String { request.headers.first(name: name) ?? "" }
        let body = request.body?.revealed() ?? "", digest = SHA256.hash(data: Array(body.utf8)).map { String(format: "%02x", $0) }.joined()
        let message = [
            request.method.rawValue, "api.example", target(request), header("X-Time"), header("X-Nonce"), "seven", digest, body,
        ].joined(separator: "\n")
        let prefix = "HMAC me:"
        service.check(
            header("Authorization").hasPrefix(prefix) ? String(header("Authorization").dropFirst(prefix.count)) : nil, of: message,
            nonce: header("X-Nonce"), time: header("X-Time"))
    }

    // Pages, hops and runs.
    @Test func eachRequestHasASignatureOfItsOwn() async throws {
        let service = Service(key: Self.secret)
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("pages = { kind = \"link-header\" }\nparams = { q = \"a b\" }\n\(Self.headers)"),
            secrets: Fixture.secret(Self.secret)
        ) { request, _ in
            Self.check(request, by: service)
            switch Self.target(request) {
            case "/people?q=a%20b":
                return .response(status: 307, headers: ["Location": "/v2/people?q=a%20b"])
            case "/v2/people?q=a%20b":
                return .response(
                    status: 200, headers: ["Content-Type": "application/json", "Link": "</v2/people?page=2>; rel=next", "ETag": "\"1\""],
                    body: Array(#"[{"id": 1}]"#.utf8))
            default: return .response(status: 200, headers: Self.json, body: Array(#"[{"id": 2}]"#.utf8))
            }
        }
        for _ in 1...2 { #expect(try await fixture.sync("api/people").isComplete) }
        #expect(service.faults == [])
        #expect(fixture.transport.requests.count == 6 && Set(service.times).count == 2)
        // The clock is the pipeline's.
        #expect(service.times.last == "\(Int(fixture.clock.wallTime.timeIntervalSince1970))")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aBodyIsSignedAsItIsSent() async throws {
        let service = Service(key: Self.secret)
        let fixture = try await PipelineFixture(
            ScriptedAPI.people(
                "method = \"POST\"\njson = { q = \"ü\" }\nsecret_fields = { \"/token\" = { credential = \"T\" } }\n\(Self.headers)"),
            secrets: Fixture.secret(Self.secret)
        ) { request, _ in
            Self.check(request, by: service)
            return .response(status: 200, headers: Self.json, body: Array("[]".utf8))
        }
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(service.faults == [] && fixture.transport.requests.first?.body?.revealed().contains(Self.secret) == true)
        try await fixture.end()
    }

    // What is in the query says nothing of the page, and comes back from nowhere.
    @Test func aSignatureInTheQueryIsNoPartOfThePage() async throws {
        let auth = """
            auth = { kind = "hmac", key = { credential = "K" }, in = "query", name = "sig", timestamp_param = "ts", timestamp_format = "unix-ms", \
            template = "{query}" }
            pages = { kind = "body-link", path = "$.next" }
            records = "$.items"
            params = { a = "1" }
            """
        let service = Service(key: Self.secret)
        let fixture = try await PipelineFixture(ScriptedAPI.people(auth), secrets: Fixture.secret(Self.secret)) { request, _ in
            let query = request.address.url.query ?? "", pieces = query.split(separator: "&").map(String.init)
            let signature = pieces.last.flatMap { $0.hasPrefix("sig=") ? String($0.dropFirst(4)) : nil }
            service.check(signature, of: pieces.dropLast().joined(separator: "&"), nonce: nil, time: request.address.parameter("ts"))
            // A server that repeats what it was asked.
            let next = pieces.contains("page=2") ? "" : #", "next": "/people?page=2&\#(query)""#
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "\"\(pieces.contains("page=2") ? 2 : 1)\""]
            if request.headers.first(name: "If-None-Match") == headers.first(name: "ETag") { return .response(status: 304, headers: headers) }
            return .response(status: 200, headers: headers, body: Array(#"{"items": [{"id": \#(pieces.contains("page=2") ? 2 : 1)}]\#(next)}"#.utf8))
        }
        #expect(try await fixture.sync("api/people").isComplete)
        let keys = { try await fixture.document.withWorker { worker in try StateRow<RequestTable>.all(in: worker).map(\.request).sorted() } }
        let first = try await keys()
        #expect(first.count == 2 && first.allSatisfy { !$0.contains("sig=") && !$0.contains("ts=") }, "\(first)")
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.notModifiedPages == 2, "\(report)")
        #expect(try await keys() == first && service.faults == [])
        #expect(Set(service.times).count == 2 && service.times.allSatisfy { $0.count == 13 })
        try await fixture.end()
    }

    // What the service calls the key is a secret where it is configured as one, and a server may repeat it.
    @Test func aLinkThatRepeatsTheNameOfTheKeyIsStoredWithoutIt() async throws {
        let auth = """
            auth = { kind = "hmac", key = { credential = "K" }, key_id = { credential = "ID" }, header_value = "{key_id}:{signature}", \
            template = "{target}" }
            pages = { kind = "body-link", path = "$.next" }
            records = "$.items"
            """
        let fixture = try await PipelineFixture(ScriptedAPI.people(auth), secrets: Fixture.secret(Self.secret)) { request, _ in
            let isSecond = request.address.parameter("page") == "2", next = isSecond ? "" : #", "next": "/people?page=2&client=\#(Self.secret)""#
            return .response(status: 200, headers: Self.json, body: Array(#"{"items": [{"id": \#(isSecond ? 2 : 1)}]\#(next)}"#.utf8))
        }
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(fixture.transport.requests.map { Self.target($0) } == ["/people", "/people?page=2"])
        let keys = try await fixture.document.withWorker { worker in try StateRow<RequestTable>.all(in: worker).map(\.request) }
        #expect(keys.count == 2 && !keys.contains { $0.contains(Self.secret) }, "\(keys)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // A retry is another request, at another time.
    @Test func eachAttemptIsSignedAnew() throws {
        let template = try SignatureTemplate("{timestamp} {nonce}"), origin = try HTTPAddress("https://api.example/items").origin
        var signature = AuthenticationConfiguration.RequestSignature(key: .credential("k"), template: template, in: .query("sig"))
        signature.timestampParameter = "ts"
        let signer = try RequestSigner(signature, key: Secret(Array("k".utf8)), keyID: nil)
        let credential = Credential(origin: origin, place: .none, signer: signer)
        func sent(_ seconds: Double) throws -> String {
            var request = HTTPRequest(address: try HTTPAddress("https://api.example/items?sig=old&x=1"), headers: [:])
            credential.sign(&request, at: Date(timeIntervalSince1970: seconds))
            return request.address.description
        }
        let first = try sent(1), second = try sent(2), again = try sent(2)
        #expect(first.hasPrefix("https://api.example/items?x=1&ts=1&sig=") && second.contains("&ts=2&"))
        #expect(Set([first, second, again]).count == 3)
    }

    @Test func everyPlaceIsWhatTheRequestSays() throws {
        let text =
            "{method}\n{path}\n{query}\n{target}\n{host}\n{body}\n{body_sha256}\n{timestamp}\n{nonce}\n{key_id}\n{header:x-tenant}\n{header:None}"
        var signature = AuthenticationConfiguration.RequestSignature(
            key: .credential("k"), template: try SignatureTemplate(text), in: .header("X-Sig", .signatureAlone))
        signature.timestampFormat = .unix
        let signer = try RequestSigner(signature, key: Secret(Array("topsecret".utf8)), keyID: Secret(Array("k1".utf8)))
        var request = HTTPRequest(address: try HTTPAddress("https://api.example:8443/a%20b/items?x=1&y=%C3%BC"), headers: ["X-Tenant": "seven"])
        signer.sign(&request, at: Date(timeIntervalSince1970: 1_735_689_600), nonce: "n1")
        #expect(request.headers["X-Sig"] == ["5f46d85be905f24286ad24c88d5881be872220c3c40ccbeb93e2dd8b7d5af770"])
        // Where the path is empty, a slash is sent.
        var bare = signature
        bare.template = try SignatureTemplate("{target}")
        var root = HTTPRequest(address: try HTTPAddress("https://api.example"), headers: [:]), slash = root
        slash.address = try HTTPAddress("https://api.example/")
        let other = try RequestSigner(bare, key: Secret(Array("topsecret".utf8)), keyID: nil)
        other.sign(&root, at: Date())
        other.sign(&slash, at: Date())
        #expect(root.headers["X-Sig"] == slash.headers["X-Sig"])
    }

    @Test func aKeyMayBeWrittenInBase64() throws {
        var signature = AuthenticationConfiguration.RequestSignature(
            key: .credential("k"), template: try SignatureTemplate("{method}"), in: .header("X-Sig", .signatureAlone))
        func signed(_ key: String) throws -> [String] {
            var request = HTTPRequest(address: try HTTPAddress("https://api.example/"), headers: [:])
            try RequestSigner(signature, key: Secret(Array(key.utf8)), keyID: nil).sign(&request, at: Date())
            return request.headers["X-Sig"]
        }
        let plain = try signed("topsecret")
        signature.keyEncoding = .base64
        #expect(try signed("dG9wc2VjcmV0") == plain)
        let error = #expect(throws: FetchError.self) { try signed("hunter2!") }
        #expect(error?.kind == .credential && error?.detail.contains("key_encoding") == true && error?.detail.contains("hunter2") == false)
    }
}
