import Foundation
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

// N6
@Suite(.serialized, .timeLimit(.minutes(60))) struct TLSTests: LoopbackTesting {
    /// Asks a server with a certificate for `names`, with the TLS options a test wants; returns the outcome and what the server saw.
    private func ask(
        names: [String], host: String = "127.0.0.1", validity: ClosedRange<Int>? = nil, authority: String? = nil,
        steps: [RawHTTPServer.Step] = [.send(Fixture.response("[]")), .close],
        secrets: SecretResolver = Fixture.secret("topsecret"), _ change: (inout SyncConfiguration.TLSConfiguration, TestIdentity) -> Void
    ) async throws -> (FetchOutcome, [RawHTTPServer.Request]) {
        let identity = try TestIdentity(for: names, validity: validity, authority: authority)
        defer { identity.remove() }
        let server = try await RawHTTPServer(identity: identity) { _, _ in steps }
        var options = TransportOptions.test
        change(&options.tls, identity)
        let transport = try await AsyncHTTPClientTransport(options, secrets: secrets)
        let settings = try Fixture.settings("https://\(host):\(server.port)/", secrets: Fixture.secret("topsecret")) {
            $0.retry.attempts = 1
            $0.http.waitLong()
            $0.authentication = .bearer(.init(token: .credential("t")))
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock())
        let outcome = await PageFetch(PageRequest(address: settings.first), environment: environment).run()
        let requests = server.requests
        await transport.shutdown()
        await server.shutdown()
        return (outcome, requests)
    }

    @Test func aKnownAuthorityIsBelieved() async throws {
        let (outcome, requests) = try await ask(names: ["IP:127.0.0.1"]) { $0.ca = .file($1.certificate) }
        guard case .page = outcome else { throw Unexpected() }
        #expect(requests.first?.headers["authorization"] == "Bearer topsecret")
    }

    @Test func anAuthorityMayBeACredential() async throws {
        let identity = try TestIdentity(for: ["IP:127.0.0.1"])
        defer { identity.remove() }
        let pem = try String(contentsOfFile: identity.certificate, encoding: .utf8)
        try await AsyncHTTPClientTransportProbe.make(ca: .credential("ca"), secrets: Fixture.secret(pem))
        let error = await #expect(throws: FetchError.self) {
            try await AsyncHTTPClientTransportProbe.make(ca: .credential("ca"), secrets: Fixture.secret("no certificate"))
        }
        #expect(error?.kind == .tls)
        let missing = await #expect(throws: FetchError.self) {
            try await AsyncHTTPClientTransportProbe.make(ca: .file("/does/not/exist.pem"), secrets: .none)
        }
        #expect(missing?.kind == .tls)
    }

    @Test func anUnknownAuthorityIsNotBelievedAndHearsNothing() async throws {
        let (outcome, requests) = try await ask(names: ["IP:127.0.0.1"]) { _, _ in }
        #expect(outcome.error?.kind == .tls)
        #expect(requests.isEmpty)
    }

    @Test func aCertificateForAnotherNameIsNotBelieved() async throws {
        for (names, host) in [(["DNS:other.example"], "127.0.0.1"), (["IP:127.0.0.1"], "localhost"), (["DNS:*.localhost"], "localhost")] {
            let (outcome, requests) = try await ask(names: names, host: host) { $0.ca = .file($1.certificate) }
            #expect(outcome.error?.kind == .tls, "\(names) \(host)")
            #expect(requests.isEmpty)
        }
    }

    /// What is wrong with a certificate, and what the error says.
    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var names = ["IP:127.0.0.1"]
        var host = "127.0.0.1"
        var validity: ClosedRange<Int>?
        var authority: String?
        /// Whether `tls.ca` names the authority.
        var isKnown = true
        var words: [String]
    }

    static let faults = [
        Fault(
            testDescription: "expired", validity: 2020...2021,
            words: ["the certificate of 127.0.0.1 expired on Fri, 01 Jan 2021 00:00:00 GMT", "has to renew it", "the clock of this machine says"]),
        Fault(
            testDescription: "expired, of a known authority", validity: 2020...2021, authority: "Our own authority",
            words: ["the certificate of 127.0.0.1 expired on Fri, 01 Jan 2021"]),
        Fault(
            testDescription: "not yet valid", validity: 2090...2091,
            words: ["the certificate of 127.0.0.1 is not valid before Sun, 01 Jan 2090 00:00:00 GMT", "the clock of this machine says"]),
        Fault(
            testDescription: "signed by itself", isKnown: false,
            words: ["the certificate of 127.0.0.1 is self-signed, and this machine does not know it", "name its file with tls.ca"]),
        Fault(
            testDescription: "of an unknown authority", authority: "Our own authority", isKnown: false,
            words: ["is signed by an authority that this machine does not know, “Our own authority”", "tls.ca", "update ca-certificates"]),
        Fault(
            testDescription: "for another address", names: ["IP:127.0.0.2", "DNS:a.example"],
            words: ["the certificate of 127.0.0.1 is for 127.0.0.2, a.example, not for 127.0.0.1"]),
        Fault(
            testDescription: "for another name", names: ["DNS:a.example", "DNS:b.example"], host: "localhost",
            words: ["the certificate of localhost is for a.example, b.example, not for localhost", "in the URL"]),
        Fault(
            testDescription: "for the address only", names: ["IP:127.0.0.1"], host: "localhost",
            words: ["the certificate of localhost is for 127.0.0.1, not for localhost"]),
    ]

    @Test(arguments: faults) func theErrorSaysWhatIsWrongWithTheCertificate(fault: Fault) async throws {
        let (outcome, requests) = try await ask(names: fault.names, host: fault.host, validity: fault.validity, authority: fault.authority) {
            if fault.isKnown { $0.ca = .file($1.authority) }
        }
        let error = try #require(outcome.error)
        #expect(error.kind == .tls)
        for words in fault.words { #expect(error.description.contains(words), "\(error)") }
        #expect(requests.isEmpty)
    }

    @Test func whichAuthorityWasAskedIsSaid() async throws {
        let other = try TestIdentity(for: ["IP:127.0.0.1"], authority: "Another")
        defer { other.remove() }
        let (outcome, _) = try await ask(names: ["IP:127.0.0.1"], authority: "Our own authority") { tls, _ in tls.ca = .file(other.authority) }
        let error = try #require(outcome.error)
        #expect(error.description.contains("that tls.ca = \"\(other.authority)\" does not know, “Our own authority”"), "\(error)")
    }

    @Test func aCertificateForTheNameIsBelieved() async throws {
        let (outcome, _) = try await ask(names: ["IP:127.0.0.1", "DNS:localhost"], host: "localhost") { $0.ca = .file($1.certificate) }
        guard case .page = outcome else { throw Unexpected() }
    }

    // Under a number's other spellings a server is another host.
    @Test func hostsShareTheClientOfALoopAndItsTLSContext() async throws {
        let hosts = ["127.0.0.1", "localhost", "127.1", "127.0.1", "0x7f.1", "0177.1", "2130706433"]
        try await withServer(names: ["IP:127.0.0.1"]) { server, options in
            var options = options
            options.tls.verify = false
            options.tls.insecureReason = "test"
            let transport = try await AsyncHTTPClientTransport(options)
            for host in hosts {
                guard case .page = try await fetch("https://\(host):\(server.port)/", transport) else { throw Unexpected() }
            }
            #expect(Set(server.requests.map { $0.headers["host"] }).count == hosts.count)
            #expect(server.connectionCount == hosts.count)
            #expect(transport.clients.count <= AsyncHTTPClientTransport.mostLoops)
            await transport.shutdown()
        }
    }

    @Test func whatOneHostIsAllowedAnotherIsNot() async throws {
        try await withServer(names: ["IP:127.0.0.1"]) { server, options in
            let transport = try await AsyncHTTPClientTransport(options)
            for _ in 0..<3 {
                guard case .page = try await fetch("https://127.0.0.1:\(server.port)/", transport) else { throw Unexpected() }
                let error = try await fetch("https://localhost:\(server.port)/", transport).error
                #expect(error?.kind == .tls)
                #expect(error?.description.contains("is for 127.0.0.1, not for localhost") == true)
            }
            #expect(server.requests.map { $0.headers["host"] } == Array(repeating: "127.0.0.1:\(server.port)", count: 3))
            await transport.shutdown()
        }
    }

    @Test(
        arguments: [
            (["a.example"], ["a.example"], true), (["a.example"], ["a.example:8443"], true), (["a.example"], ["A.Example.:8443"], true),
            (["*.example.com"], ["b.example.com"], true),
            // Addresses have been compared by the library.
            ([], ["127.0.0.1:8443"], true), ([], ["[::1]:8443"], true), ([], ["[::1]"], true),
            (["a.example"], ["b.example"], false), (["127.0.0.1", "::1"], ["localhost:8443"], false), ([], ["a.example"], false),
            (["a.example"], [], false), (["a.example"], [""], false), (["a.example"], ["a.example", "b.example"], false),
            (["a.example"], ["a.example@b.example"], false), (["a.example"], ["b.example/a.example"], false),
        ] as [([String], [String], Bool)])
    func aRequestGoesOnlyToAHostThatTheCertificateNames(names: [String], fields: [String], goes: Bool) {
        let check = RequestHeadCheck(names: names)
        for _ in 0..<2 { #expect((check.judge(fields) == nil) == goes) }
        // What was let through before makes no other host right.
        #expect(check.judge(["other.example"])?.kind == .tls)
    }

    /// A server with a certificate for `names`, and the options of a transport that knows its authority.
    private func withServer(names: [String], _ body: (RawHTTPServer, TransportOptions) async throws -> Void) async throws {
        try await withServer(TestIdentity(for: names), body)
    }

    private func withServer(_ identity: TestIdentity, _ body: (RawHTTPServer, TransportOptions) async throws -> Void) async throws {
        defer { identity.remove() }
        let server = try await RawHTTPServer(identity: identity) { _, _ in [.send(Fixture.response("[]")), .keepAlive] }
        var options = TransportOptions.test
        options.tls.ca = .file(identity.certificate)
        do {
            try await body(server, options)
            await server.shutdown()
        } catch {
            await server.shutdown()
            throw error
        }
    }

    @Test(arguments: [
        ("a.example", "a.example", true), ("A.Example.", "a.example", true), ("b.example", "a.example", false),
        ("*.example.com", "a.example.com", true), ("*.example.com", "b.a.example.com", false), ("*.example.com", "example.com", false),
        ("*.com", "example.com", false), ("*", "localhost", false), ("a*.example.com", "ab.example.com", false), ("", "", false),
    ])
    func namesAreComparedLabelByLabel(name: String, host: String, covers: Bool) {
        #expect(ConnectionCheck.covers(name, host) == covers)
    }

    @Test func aServerThatSpeaksNothingNewerThanTLS11IsNotTalkedTo() async throws {
        var identity = try TestIdentity(for: ["IP:127.0.0.1"])
        identity.isOutdated = true
        try await withServer(identity) { server, options in
            let transport = try await AsyncHTTPClientTransport(options)
            let error = try await fetch("https://127.0.0.1:\(server.port)/", transport).error
            #expect(error?.kind == .tls, "\(error.map { "\($0)" } ?? "a page")")
            #expect(server.requests.isEmpty)
            await transport.shutdown()
        }
    }

    @Test(arguments: [SyncConfiguration.TLSConfiguration.Version.tls12, .tls13])
    func aServerWithoutTLS13IsTalkedToUnlessThatIsWanted(version: SyncConfiguration.TLSConfiguration.Version) async throws {
        var identity = try TestIdentity(for: ["IP:127.0.0.1"])
        identity.lacksTLS13 = true
        try await withServer(identity) { server, options in
            var options = options
            options.tls.minVersion = version
            let transport = try await AsyncHTTPClientTransport(options)
            let error = try await fetch("https://127.0.0.1:\(server.port)/", transport).error
            #expect(error?.kind == (version == .tls13 ? .tls : nil), "\(error.map { "\($0)" } ?? "a page")")
            #expect(server.requests.count == (version == .tls13 ? 0 : 1))
            await transport.shutdown()
        }
    }

    @Test func verificationIsOffOnlyWhenSaidSo() async throws {
        let (outcome, _) = try await ask(names: ["DNS:other.example"]) { tls, _ in
            tls.verify = false
            tls.insecureReason = "test"
        }
        guard case .page = outcome else { throw Unexpected() }
    }

    @Test func aTruncatedBodyIsNotAPage() async throws {
        // Nothing but the end of the connection ends this body; without the goodbye of TLS anybody could have ended it.
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[1, 2]".utf8)
        let (cut, _) = try await ask(names: ["IP:127.0.0.1"], steps: [.send(head), .truncate]) { $0.ca = .file($1.certificate) }
        #expect(cut.error?.kind == .shortBody)
        let (whole, _) = try await ask(names: ["IP:127.0.0.1"], steps: [.send(head), .close]) { $0.ca = .file($1.certificate) }
        guard case .page(let page) = whole else { throw Unexpected() }
        #expect(try page.content.digest == Fixture.content(Array("[1, 2]".utf8)).digest)
    }
}

/// Makes a transport, and shuts it down, only to see whether its options are accepted.
private enum AsyncHTTPClientTransportProbe {
    static func make(ca: SyncConfiguration.TLSConfiguration.CertificateAuthority, secrets: SecretResolver) async throws {
        var options = TransportOptions.test
        options.tls.ca = ca
        let transport = try await AsyncHTTPClientTransport(options, secrets: secrets)
        await transport.shutdown()
    }
}
