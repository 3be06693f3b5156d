import Foundation
import NIOSSL
import Secrets
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// The name and the keys that a configuration says of its server. // N6
@Suite(.serialized, .timeLimit(.minutes(60))) struct CertificatePinTests {
    private static let page: [RawHTTPServer.Step] = [.send(Fixture.response("[]")), .close]

    /// Fetches a page of a server over a transport of a pool, with a token, as a resource does whose `tls` this is.
    private func fetch(
        _ url: String, from pool: TransportPool, _ change: (inout ResourceConfiguration) -> Void
    ) async throws -> FetchOutcome {
        let resource = Fixture.resource(url) {
            $0.retry.attempts = 1
            $0.http.waitLong()
            $0.authentication = .bearer(.init(token: .credential("t")))
            change(&$0)
        }
        let settings = try FetchSettings(
            resource: resource, daemon: DaemonConfiguration(), version: "1.0", secrets: Fixture.secret("topsecret"))
        let options = TransportOptions(resource: resource, settings: settings, daemon: DaemonConfiguration())
        let environment = FetchEnvironment(settings: settings, transport: try await pool.transport(for: options), clock: SystemClock())
        return await PageFetch(PageRequest(address: settings.first), environment: environment).run()
    }

    /// The same from a server with this certificate; returns the outcome and what the server saw.
    private func ask(
        _ identity: TestIdentity, from shared: TransportPool? = nil, _ change: (inout SyncConfiguration.TLSConfiguration) -> Void
    ) async throws -> (FetchOutcome, [RawHTTPServer.Request], port: Int) {
        let server = try await RawHTTPServer(identity: identity) { _, _ in Self.page }
        let pool = shared ?? TransportPool(secrets: .none)
        let outcome = try await fetch("https://127.0.0.1:\(server.port)/", from: pool) {
            $0.tls.ca = .file(identity.authority)
            change(&$0.tls)
        }
        if shared == nil { await pool.shutdown() }
        let port = server.port
        await server.shutdown()
        return (outcome, server.requests, port)
    }

    private func pin(_ identity: TestIdentity) throws -> String { try pin(ofFile: identity.certificate) }

    private func pin(ofFile path: String) throws -> String {
        let certificate = try #require(try NIOSSLCertificate.fromPEMFile(path).first)
        return try CertificatePins.pin(of: certificate)
    }

    private func isPage(_ outcome: FetchOutcome) -> Bool { if case .page = outcome { true } else { false } }

    // As `openssl x509 -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64` says.
    @Test func aPinIsTheDigestOfTheKeyWithItsAlgorithm() throws {
        let pem = """
            -----BEGIN CERTIFICATE-----
            MIIBdjCCAR2gAwIBAgIUfKoLkXKupaqinltAOSSEXUVGXUAwCgYIKoZIzj0EAwIw
            ETEPMA0GA1UEAwwGcGlubmVkMB4XDTI2MTEzMDA5NTU0M1oXDTI2MTIzMDA5NTU0
            M1owETEPMA0GA1UEAwwGcGlubmVkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
            3tALYvuOZ5b7Hk8lQS5Q38R3Ois/QzzVBQqvaI8/0QO/sMJ9OnbqBDetK6p9e7GH
            Mnmb7opB4JOvVB5boOo986NTMFEwHQYDVR0OBBYEFNEEBDMroXcALZQLM9BRsPmx
            D1psMB8GA1UdIwQYMBaAFNEEBDMroXcALZQLM9BRsPmxD1psMA8GA1UdEwEB/wQF
            MAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgN5ecd9BUgXrpQ2oS1iwouv1qWClLjn9w
            7Okq3kojmPECIBOF2HOf8O2gdLlyYBxQXoEygVjrk3rDo1dVeTXgIhx8
            -----END CERTIFICATE-----
            """
        let certificate = try #require(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).first)
        #expect(try CertificatePins.pin(of: certificate) == "uqmD6DQMSHB7vXx4Avg5FxkyjbgkoQJ+rxfgYw+RfnY=")
    }

    @Test func aServerWithOneOfTheKeysIsAsked() async throws {
        let identity = try TestIdentity(for: ["IP:127.0.0.1"], authority: "Ours"), next = try TestIdentity(for: ["IP:127.0.0.1"])
        let pins = try [pin(next), pin(identity)]
        let (outcome, requests, _) = try await ask(identity) { $0.pinSHA256 = pins }
        #expect(isPage(outcome), "\(outcome)")
        #expect(requests.first?.headers["authorization"] == "Bearer topsecret")
        for one in [identity, next] { one.remove() }
    }

    @Test func aServerWithAnotherKeyHearsNothingAndIsNamedByIt() async throws {
        let identity = try TestIdentity(for: ["IP:127.0.0.1"], authority: "Ours"), other = try TestIdentity(for: ["IP:127.0.0.1"])
        // The key of the authority is not the server's.
        let authority = try pin(ofFile: identity.authority)
        let seen = try pin(identity), pins = try [pin(other), authority]
        for verifies in [true, false] {
            let (outcome, requests, _) = try await ask(identity) { tls in
                tls.pinSHA256 = pins
                tls.verify = verifies
                tls.insecureReason = "test"
            }
            let error = try #require(outcome.error)
            #expect(error.kind == .tls && error.detail.contains(seen) && error.detail.contains("tls.pin_sha256"), "\(error)")
            #expect(requests.isEmpty)
        }
        for one in [identity, other] { one.remove() }
    }

    @Test func theRightKeyMakesNoUnknownAuthorityKnown() async throws {
        let identity = try TestIdentity(for: ["IP:127.0.0.1"]), pins = try [pin(identity)]
        let (outcome, requests, _) = try await ask(identity) { tls in
            tls.pinSHA256 = pins
            tls.ca = .system
        }
        #expect(outcome.error?.kind == .tls && requests.isEmpty, "\(outcome)")
        identity.remove()
    }

    @Test func aServerWithoutEncryptionHasNoKey() async throws {
        let server = try await RawHTTPServer { _, _ in Self.page }, pool = TransportPool(secrets: .none)
        let outcome = try await fetch("http://127.0.0.1:\(server.port)/", from: pool) { $0.tls.pinSHA256 = [String(repeating: "A", count: 44)] }
        #expect(outcome.error?.kind == .tls && server.requests.isEmpty, "\(outcome)")
        await pool.shutdown()
        await server.shutdown()
    }

    @Test func otherKeysInTheConfigurationMakeAnotherConnection() async throws {
        let identity = try TestIdentity(for: ["IP:127.0.0.1"]), pins = try [pin(identity)]
        let server = try await RawHTTPServer(identity: identity) { _, _ in [.send(Fixture.response("[]")), .keepAlive] }
        let pool = TransportPool(secrets: .none)
        func isServed(_ pins: [String]) async throws -> Bool {
            let outcome = try await fetch("https://127.0.0.1:\(server.port)/", from: pool) { resource in
                resource.tls.ca = .file(identity.certificate)
                resource.tls.pinSHA256 = pins
            }
            return isPage(outcome)
        }
        #expect(try await isServed(pins))
        // The open connection is not used.
        #expect(try await !isServed([String(repeating: "A", count: 43) + "="]))
        #expect(server.requests.count == 1)
        await pool.shutdown()
        await server.shutdown()
        identity.remove()
    }

    // What is said of one server is not true of another.
    @Test func anotherServerHasNeitherTheNameNorTheKeys() async throws {
        let own = try TestIdentity(for: ["DNS:api.example"]), other = try TestIdentity(for: ["IP:127.0.0.1"], authority: "Another")
        let trusted = own.certificate + "-all"
        try [own.certificate, other.authority].map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
            .write(toFile: trusted, atomically: true, encoding: .utf8)
        let behind = try await RawHTTPServer(identity: other) { _, _ in Self.page }
        let location = "https://127.0.0.1:\(behind.port)/file"
        let server = try await RawHTTPServer(identity: own) { _, _ in
            [.send(Array("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8)), .close]
        }
        let pool = TransportPool(secrets: .none), pins = try [pin(own)]
        let outcome = try await fetch("https://127.0.0.1:\(server.port)/", from: pool) { resource in
            resource.http.redirects = .any
            resource.tls.ca = .file(trusted)
            resource.tls.serverName = "api.example"
            resource.tls.pinSHA256 = pins
        }
        #expect(isPage(outcome), "\(outcome)")
        #expect(server.requests.count == 1 && behind.requests.count == 1)
        #expect(behind.requests.first?.headers["authorization"] == nil)
        await pool.shutdown()
        for one in [server, behind] { await one.shutdown() }
        for one in [own, other] { one.remove() }
    }

    // MARK: Names

    @Test(arguments: [("api.example", "api.example"), ("API.Example", "api.example"), ("a.example.com", "*.example.com")])
    func aCertificateMayBeForTheNameThatIsSaid(name: String, inCertificate: String) async throws {
        let identity = try TestIdentity(for: ["DNS:\(inCertificate)"])
        let (outcome, requests, port) = try await ask(identity) { $0.serverName = name }
        #expect(isPage(outcome), "\(outcome)")
        // The name is that of the certificate, and not that of the service.
        #expect(requests.map { $0.headers["host"] } == ["127.0.0.1:\(port)"])
        identity.remove()
    }

    @Test func aCertificateForTheAddressIsNotOneForTheName() async throws {
        for names in [["IP:127.0.0.1"], ["DNS:other.example"], ["DNS:other.example", "IP:127.0.0.1"]] {
            let identity = try TestIdentity(for: names)
            let (outcome, requests, _) = try await ask(identity) { $0.serverName = "api.example" }
            let error = try #require(outcome.error)
            #expect(error.kind == .tls && requests.isEmpty)
            #expect(error.detail.contains("not for api.example; write one of its names as tls.server_name"), "\(error)")
            identity.remove()
        }
    }

    @Test(
        arguments: [
            ("https://10.0.0.1/a?b=1", "https://x.example:443/a?b=1"), ("https://[::1]:8443", "https://x.example:8443"),
            ("https://a.example:1/x%20y//z?u=https://b/", "https://x.example:1/x%20y//z?u=https://b/"),
        ])
    func anAddressKeepsEverythingButItsHost(address: String, text: String) throws {
        let address = try HTTPAddress(address)
        #expect(address.text(at: "x.example") == text)
        #expect(address.url.absoluteString.hasPrefix("https://\(address.authority)"))
    }
}
