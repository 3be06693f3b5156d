import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Credentials are read before each exchange.
@Suite(.timeLimit(.minutes(60))) struct CredentialTests: LoopbackTesting {
    /// A folder of credentials, as the service manager passes it.
    private final class Folder: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }

        var token: URL { url.appending(path: "token") }
        var secrets: SecretResolver { SecretResolver(SecretReader(environment: ["CREDENTIALS_DIRECTORY": url.path])) }

        func put(_ token: String) throws { try token.write(to: self.token, atomically: true, encoding: .utf8) }
    }

    private static let bearer = AuthenticationConfiguration.bearer(.init(token: .credential("token")))

    @Test func aCredentialThatIsRotatedOnDiskIsUsedByTheNextExchange() async throws {
        let folder = try Folder()
        let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { _, number in
            let echo = Fixture.response("no: first-token, second-token", status: 500)
            return [.send(number == 2 ? echo : Fixture.response("[]")), .keepAlive]
        }
        try await with(script) { server, transport in
            let settings = try Fixture.settings(server.url(), secrets: folder.secrets) {
                $0.retry.attempts = 1
                $0.http.waitLong()
                $0.authentication = Self.bearer
            }
            let environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock())
            let fetch = PageFetch(PageRequest(address: settings.first), environment: environment)
            try folder.put("first-token\n")
            guard case .page = await fetch.run() else { throw Unexpected() }
            try folder.put("second-token\n")
            guard case .page = await fetch.run() else { throw Unexpected() }
            let echoed = try #require(await fetch.run().error)
            #expect(echoed.excerpt == "no: [redacted], [redacted]")
            #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer first-token", "Bearer second-token", "Bearer second-token"])

            try FileManager.default.removeItem(at: folder.token)
            guard case .failed(let missing) = await fetch.run() else { throw Unexpected() }
            #expect(missing.kind == .credential)
            #expect(missing.attempts == 0)
            #expect(
                missing.description.contains("credential cannot be used (credential \"token\" is missing, looked for \(folder.token.path)"),
                "\(missing)")
            #expect(missing.url == server.url())
            #expect(server.requests.count == 3)

            try folder.put("third-token")
            guard case .page = await fetch.run() else { throw Unexpected() }
            #expect(server.requests.last?.headers["authorization"] == "Bearer third-token")
        }
    }

    @Test func everyAttemptReadsTheCredentialAgain() async throws {
        let folder = try Folder()
        try folder.put("first-token")
        let transport = StubTransport { _, number in
            try folder.put("second-token")
            return number == 0 ? .response(status: 503) : .response(status: 200, headers: ["Content-Type": "application/json"], body: [0x5B, 0x5D])
        }
        let settings = try Fixture.settings("https://a.example/items", secrets: folder.secrets) { $0.authentication = Self.bearer }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: ManualClock(), random: RandomSource { 0 })
        guard case .page = await PageFetch(PageRequest(address: settings.first), environment: environment).run() else { throw Unexpected() }
        #expect(transport.requests.map { $0.headers["Authorization"] } == [["Bearer first-token"], ["Bearer second-token"]])
    }

    /// A source of tokens that says when it is asked, and answers when it is told to.
    private struct Issuer {
        let resolver: SecretResolver
        let asked: AsyncStream<Void>
        let issue: AsyncStream<String>.Continuation

        init() {
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            let (tokens, issue) = AsyncStream.makeStream(of: String.self)
            self.asked = asked
            self.issue = issue
            resolver = SecretResolver { _, _ in
                ask.yield()
                for await token in tokens { return Secret(Array(token.utf8)) }
                throw CancellationError()
            }
        }
    }

    @Test func whoWaitsForATokenHoldsUpNobodyElse() async throws {
        let issuer = Issuer()
        let transport = StubTransport(.response(status: 200, headers: ["Content-Type": "application/json"], body: [0x5B, 0x5D]))
        let waiting = try Fixture.settings("https://a.example/items", secrets: issuer.resolver) { $0.authentication = Self.bearer }
        let other = try Fixture.settings("https://b.example/items")
        let slots = RequestSlots(1, clock: ManualClock())
        func fetch(_ settings: FetchSettings) -> PageFetch {
            PageFetch(
                PageRequest(address: settings.first),
                environment: FetchEnvironment(settings: settings, transport: transport, clock: ManualClock(), slots: slots))
        }
        let first = fetch(waiting), second = fetch(other)
        async let outcome = first.run()
        var asked = issuer.asked.makeAsyncIterator()
        await asked.next()
        guard case .page = await second.run() else { throw Unexpected() }
        #expect(transport.requests.map(\.address.origin.host) == ["b.example"])
        issuer.issue.yield("issued-token")
        guard case .page = await outcome else { throw Unexpected() }
        #expect(transport.requests.last?.headers["Authorization"] == ["Bearer issued-token"])
    }

    @Test func aFetchThatWaitsForATokenCanBeCancelled() async throws {
        let issuer = Issuer()
        let transport = StubTransport(.response(status: 200))
        let settings = try Fixture.settings("https://a.example/items", secrets: issuer.resolver) { $0.authentication = Self.bearer }
        let fetch = PageFetch(
            PageRequest(address: settings.first), environment: FetchEnvironment(settings: settings, transport: transport, clock: ManualClock()))
        let task = Task { await fetch.run() }
        var asked = issuer.asked.makeAsyncIterator()
        await asked.next()
        task.cancel()
        guard case .cancelled = await task.value else { throw Unexpected() }
        #expect(transport.requests.isEmpty)
    }

    @Test func aSecretIsOverwrittenWhenItsRunIsOver() async throws {
        // Set before the fetch returns, and read after it.
        nonisolated(unsafe) weak var lent: Secret?
        let transport = StubTransport(.response(status: 200, headers: ["Content-Type": "application/json"], body: [0x5B, 0x5D]))
        func run() async throws {
            let settings = try Fixture.settings(
                "https://a.example/items",
                secrets: SecretResolver { _, _ in
                    let secret = Secret(Array("passing-token".utf8))
                    lent = secret
                    return secret
                }
            ) { $0.authentication = .apiKey(.init(value: .credential("token"))) }
            let environment = FetchEnvironment(settings: settings, transport: transport, clock: ManualClock())
            guard case .page = await PageFetch(PageRequest(address: settings.first), environment: environment).run() else { throw Unexpected() }
            #expect(settings.redactor.redact("a passing-token") == "a [redacted]")
        }
        try await run()
        #expect(transport.requests[0].headers["X-Api-Key"] == ["passing-token"])
        #expect(lent == nil)
    }

    @Test func theNextPageOfARunHasTheCredentialThatTookThePlaceOfTheFirst() async throws {
        let folder = try Folder()
        try folder.put("first-token")
        let toml = ScriptedAPI.people("pages = { kind = \"page\" }\nauth = { kind = \"bearer\", token = { credential = \"token\" } }")
        let fixture = try await PipelineFixture(toml, secrets: folder.secrets) { request, _ in
            try folder.put("second-token")
            let body = request.address.parameter("page") == "2" ? "[]" : #"[{"id": 1}]"#
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(fixture.transport.requests.map { $0.headers["Authorization"] } == [["Bearer first-token"], ["Bearer second-token"]])

        try FileManager.default.removeItem(at: folder.token)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed)
        #expect(report.error?.contains("credential \"token\" is missing") == true, "\(report.error ?? "")")
        #expect(fixture.transport.requests.count == 2)
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        try await fixture.end()
    }
}
