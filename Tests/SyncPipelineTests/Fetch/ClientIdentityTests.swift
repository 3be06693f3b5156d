import Foundation
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Certificates that the client shows. // N6, R10
@Suite(.serialized, .timeLimit(.minutes(60))) struct ClientIdentityTests {
    private static let secrets = SecretResolver(SecretReader(environment: [:]))
    fileprivate static let page: [RawHTTPServer.Step] = [.send(Fixture.response("[]")), .close]

    /// A server that wants certificates of the authority `Clients`, one such client, and one that it does not know.
    private final class Place: Sendable {
        let identity: TestIdentity
        let client: TestIdentity
        let stranger: TestIdentity
        let server: RawHTTPServer

        init(
            isRequired: Bool = true, identity known: TestIdentity? = nil,
            _ script: @escaping @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { _, _ in ClientIdentityTests.page }
        ) async throws {
            identity = try known ?? TestIdentity(for: ["IP:127.0.0.1"])
            client = try TestIdentity(for: ["DNS:client.example"], authority: "Clients")
            stranger = try TestIdentity(for: ["DNS:client.example"], authority: "Strangers")
            server = try await RawHTTPServer(identity: identity, clients: ClientDemand(authority: client.authority, isRequired: isRequired), script)
        }

        var url: String { "https://127.0.0.1:\(server.port)/" }

        func end() async {
            await server.shutdown()
            for one in [identity, client, stranger] { one.remove() }
        }
    }

    /// Fetches a page of the place over transports of a pool, or of one of its own.
    private func fetch(
        _ place: Place, from shared: TransportPool? = nil, to url: String? = nil,
        _ change: (inout SyncConfiguration.TLSConfiguration) -> Void = { _ in }
    ) async throws -> FetchOutcome {
        var tls = SyncConfiguration.TLSConfiguration()
        tls.ca = .file(place.identity.certificate)
        change(&tls)
        let resource = Fixture.resource(url ?? place.url) {
            $0.retry.attempts = 1
            $0.http.waitLong()
            $0.http.redirects = .any
            $0.tls = tls
        }
        let settings = try FetchSettings(resource: resource, daemon: DaemonConfiguration(), version: "1.0", secrets: .none)
        let options = TransportOptions(resource: resource, settings: settings, daemon: DaemonConfiguration())
        let pool = shared ?? TransportPool(secrets: Self.secrets)
        do {
            let environment = FetchEnvironment(settings: settings, transport: try await pool.transport(for: options), clock: SystemClock())
            let outcome = await PageFetch(PageRequest(address: settings.first), environment: environment).run()
            if shared == nil { await pool.shutdown() }
            return outcome
        } catch {
            if shared == nil { await pool.shutdown() }
            throw error
        }
    }

    private func isPage(_ outcome: FetchOutcome) -> Bool { if case .page = outcome { true } else { false } }

    @Test func aServerThatWantsACertificateGetsIt() async throws {
        let place = try await Place()
        let outcome = try await fetch(place) { tls in
            tls.clientCertificate = .file(place.client.certificate)
            tls.clientKey = .file(place.client.key)
        }
        #expect(isPage(outcome), "\(outcome)")
        #expect(place.server.requests.map(\.isIdentified) == [true])
        await place.end()
    }

    @Test func certificateAndKeyMayBeInOneFile() async throws {
        let place = try await Place(), file = place.client.certificate + "-both"
        let texts = try [place.client.key, place.client.certificate].map { try String(contentsOfFile: $0, encoding: .utf8) }
        for both in [texts, texts.reversed()] {
            try both.joined().write(toFile: file, atomically: true, encoding: .utf8)
            let outcome = try await fetch(place) { $0.clientCertificate = .file(file) }
            #expect(isPage(outcome), "\(outcome)")
        }
        await place.end()
    }

    @Test func withoutACertificateTheServerHearsNothing() async throws {
        let place = try await Place(), outcome = try await fetch(place)
        let error = try #require(outcome.error)
        #expect(error.kind == .tls || error.kind == .reset, "\(error)")
        #expect(error.kind != .tls || error.detail.contains("wants a certificate of its client"), "\(error)")
        #expect(place.server.requests.isEmpty)
        await place.end()
    }

    @Test func aCertificateThatTheServerDoesNotKnowIsRefused() async throws {
        let place = try await Place()
        let outcome = try await fetch(place) { tls in
            tls.clientCertificate = .file(place.stranger.certificate)
            tls.clientKey = .file(place.stranger.key)
        }
        let error = try #require(outcome.error)
        #expect(error.kind == .tls || error.kind == .reset, "\(error)")
        #expect(error.kind != .tls || error.detail.contains("the server refuses the certificate in tls.client_cert"), "\(error)")
        #expect(place.server.requests.isEmpty)
        await place.end()
    }

    @Test func aCertificateThatIsRenewedIsShownFromThenOn() async throws {
        let place = try await Place(), pool = TransportPool(secrets: Self.secrets)
        let certificate = place.client.certificate + "-used", key = place.client.key + "-used"
        func use(_ identity: TestIdentity) throws {
            for (from, to) in [(identity.certificate, certificate), (identity.key, key)] {
                try String(contentsOfFile: from, encoding: .utf8).write(toFile: to, atomically: true, encoding: .utf8)
            }
        }
        func outcome() async throws -> FetchOutcome {
            try await fetch(place, from: pool) { tls in
                tls.clientCertificate = .file(certificate)
                tls.clientKey = .file(key)
            }
        }
        try use(place.stranger)
        let refused = try await outcome()
        #expect(refused.error != nil && place.server.requests.isEmpty)
        try use(place.client)
        let served = try await outcome()
        #expect(isPage(served), "\(served)")
        // Without it nothing is asked, and no earlier connection is used.
        try FileManager.default.removeItem(atPath: key)
        await #expect(throws: FetchError.self) { try await outcome() }
        #expect(place.server.requests.count == 1)
        await pool.shutdown()
        await place.end()
    }

    // Whoever renews them writes one after the other.
    @Test func whileOnlyOneOfTheTwoIsRenewedThoseBeforeAreShown() async throws {
        let place = try await Place(), pool = TransportPool(secrets: Self.secrets)
        let next = try TestIdentity(for: ["DNS:next.example"], authority: "Strangers")
        defer { next.remove() }
        let certificate = place.client.certificate + "-used", key = place.client.key + "-used"
        func write(_ from: String, to: String) throws {
            try String(contentsOfFile: from, encoding: .utf8).write(toFile: to, atomically: true, encoding: .utf8)
        }
        func change(_ tls: inout SyncConfiguration.TLSConfiguration) {
            tls.clientCertificate = .file(certificate)
            tls.clientKey = .file(key)
        }
        // Where there was no pair before, the two are of no use.
        try write(next.certificate, to: certificate)
        try write(place.client.key, to: key)
        await #expect(throws: FetchError.self) { try await fetch(place, from: pool, change) }
        try write(place.client.certificate, to: certificate)
        let first = try await fetch(place, from: pool, change)
        #expect(isPage(first), "\(first)")
        for (from, to, before) in [(next.key, key, place.client.key), (next.certificate, certificate, place.client.certificate)] {
            try write(from, to: to)
            let still = try await fetch(place, from: pool, change)
            #expect(isPage(still), "\(still)")
            try write(before, to: to)
        }
        #expect(place.server.requests.map(\.isIdentified) == [true, true, true])
        // With both it is another pair, which this server does not take.
        try write(next.key, to: key)
        try write(next.certificate, to: certificate)
        let refused = try await fetch(place, from: pool, change)
        #expect(refused.error != nil)
        #expect(place.server.requests.count == 3)
        await pool.shutdown()
        await place.end()
    }

    @Test func aPairThatIsHalfRenewedIsTold() async throws {
        let one = try TestIdentity(for: ["DNS:client.example"]), other = try TestIdentity(for: ["DNS:client.example"])
        defer { for identity in [one, other] { identity.remove() } }
        let keys = try [one, other].map { try String(contentsOfFile: $0.key, encoding: .utf8) }
        let certificate = try String(contentsOfFile: one.certificate, encoding: .utf8), isRenewed = Mutex(false)
        let pool = TransportPool(
            secrets: SecretResolver { reference, _ in
                Secret(Array((reference == .credential("key") ? keys[isRenewed.withLock { $0 } ? 1 : 0] : certificate).utf8))
            })
        var options = TransportOptions.test
        options.tls.clientCertificate = .credential("certificate")
        options.tls.clientKey = .credential("key")
        let asked = options, before = try await pool.lease(for: asked)
        #expect(before.mismatch == nil)
        isRenewed.withLock { $0 = true }
        let still = try await pool.lease(for: asked)
        #expect(still.identity == before.identity && still.mismatch?.contains("does not belong to the certificate") == true)
        // A reload reads everything again, and finds nothing better.
        for _ in 0..<2 {
            await pool.renew()
            for _ in 0..<2 {
                let kept = try await pool.lease(for: asked)
                #expect(kept.identity == before.identity && kept.mismatch?.contains("does not belong to the certificate") == true)
            }
        }
        await pool.renew()
        await pool.renew()
        #expect(try await pool.lease(for: asked).identity == before.identity)
        isRenewed.withLock { $0 = false }
        #expect(try await pool.lease(for: asked).mismatch == nil)
        await pool.shutdown()
    }

    @Test func aServerThatARedirectLeadsToSeesNoCertificate() async throws {
        let other = try await Place(isRequired: false), target = other.url
        // Both servers are trusted, and both ask for a certificate; the second one does without.
        let place = try await Place(identity: other.identity) { _, _ in
            [.send(Array("HTTP/1.1 302 Found\r\nLocation: \(target)items\r\nContent-Length: 0\r\n\r\n".utf8)), .close]
        }
        let led = try await fetch(place) { tls in
            tls.clientCertificate = .file(place.client.certificate)
            tls.clientKey = .file(place.client.key)
        }
        #expect(isPage(led), "\(led)")
        #expect(place.server.requests.map(\.isIdentified) == [true] && other.server.requests.map(\.isIdentified) == [false])
        await place.end()
        await other.end()
    }

    /// What `tls.client_cert` and `tls.client_key` hold, and the words of the complaint.
    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var certificate: String
        var key: String?
        var words: String
    }

    static let wrong = [
        Wrong(
            testDescription: "a word", certificate: "hunter2",
            words: "tls.client_cert: { credential = \"certificate\" } holds no certificate in PEM form"),
        Wrong(testDescription: "no key", certificate: "CERTIFICATE", words: "holds a certificate and no key; put the key into the same place"),
        Wrong(
            testDescription: "no key either", certificate: "CERTIFICATE", key: "CERTIFICATE",
            words: "tls.client_key: { credential = \"key\" } holds “CERTIFICATE”"),
        Wrong(testDescription: "encrypted", certificate: "CERTIFICATE", key: SigningKeys.encryptedP256, words: "holds an encrypted key; decrypt it"),
        Wrong(
            testDescription: "of another", certificate: "CERTIFICATE", key: SigningKeys.p256,
            words: "a key that does not belong to the certificate"),
        Wrong(
            testDescription: "of another kind", certificate: "CERTIFICATE", key: SigningKeys.rsa,
            words: "a key that does not belong to the certificate"),
    ]

    @Test(arguments: wrong) func whatIsWrongWithACertificateIsSaidBeforeAnythingIsSent(wrong: Wrong) async throws {
        let identity = try TestIdentity(for: ["DNS:client.example"])
        defer { identity.remove() }
        let pem = try String(contentsOfFile: identity.certificate, encoding: .utf8)
        let secrets = SecretResolver { reference, _ in
            let text = reference == .credential("key") ? wrong.key ?? "" : wrong.certificate
            return Secret(Array((text == "CERTIFICATE" ? pem : text).utf8))
        }
        var options = TransportOptions.test
        options.tls.clientCertificate = .credential("certificate")
        options.tls.clientKey = wrong.key == nil ? nil : .credential("key")
        let pool = TransportPool(secrets: secrets), asked = options
        let error = await #expect(throws: FetchError.self) { try await pool.transport(for: asked) }
        #expect(error?.kind == .credential && error?.detail.contains(wrong.words) == true, "\(error?.detail ?? "")")
        #expect(error?.detail.contains("hunter2") == false)
    }

    private struct Alert: Error, CustomStringConvertible {
        let description: String
    }

    @Test func whatAServerSaysOfACertificateNamesTheTableThatItIsIn() async throws {
        let one = try TestIdentity(for: ["DNS:client.example"])
        defer { one.remove() }
        var options = TransportOptions.test
        options.tls.clientCertificate = .file(one.certificate)
        options.tls.clientKey = .file(one.key)
        options.tlsTable = "auth.tls"
        let identity = try #require(try ClientIdentity(try await ClientIdentity.Texts(options, Self.secrets)))
        let origin = try HTTPAddress("https://login.example/").origin, required = Alert(description: "ALERT_CERTIFICATE_REQUIRED")
        func said(_ error: Alert, shown: ClientIdentity? = nil, withheld: ClientIdentity? = nil) -> String {
            ClientIdentity.explanation(of: error, shown: shown, withheld: withheld.map { (identity: $0, origin: origin) }, now: Date()) ?? ""
        }
        #expect(said(Alert(description: "ALERT_UNKNOWN_CA"), shown: identity).contains("refuses the certificate in auth.tls.client_cert: "))
        #expect(said(required, withheld: identity).hasSuffix("that in auth.tls.client_cert is shown to https://login.example only"))
        #expect(said(required).contains("write tls = { client_cert"))
        options.tls.clientCertificate = .file("/does/not/exist.pem")
        let missing = options
        let error = await #expect(throws: FetchError.self) { try await ClientIdentity.Texts(missing, Self.secrets) }
        #expect(error?.detail.hasPrefix("auth.tls.client_cert: ") == true, "\(error?.detail ?? "")")
    }

    @Test func aFileThatIsMissingIsNamed() async throws {
        var options = TransportOptions.test
        options.tls.clientCertificate = .file("/does/not/exist.pem")
        let pool = TransportPool(secrets: Self.secrets), asked = options
        let error = await #expect(throws: FetchError.self) { try await pool.transport(for: asked) }
        let detail = error?.detail ?? ""
        #expect(error?.kind == .credential)
        #expect(detail.hasPrefix("tls.client_cert: the secret in /does/not/exist.pem cannot be read: No such file"), "\(detail)")
    }

    @Test func onlyACertificateTellsTransportsOfDifferentServersApart() throws {
        let one = try HTTPAddress("https://a.example/").origin, two = try HTTPAddress("https://b.example/").origin
        func options(_ origin: Origin, _ certificate: SecretReference?) -> TransportOptions {
            var tls = SyncConfiguration.TLSConfiguration()
            tls.clientCertificate = certificate
            return TransportOptions(
                tls: tls, allowsPrivateNetworks: true, connectTimeout: .seconds(1), connectionsPerHost: 1, ownOrigin: origin)
        }
        #expect(options(one, nil) == options(two, nil) && options(one, .file("/c")) != options(two, .file("/c")))
    }

    // MARK: Services of tokens

    /// The options that a request for a token has.
    private func rules(_ tls: SyncConfiguration.TLSConfiguration?, token: String) throws -> TransportOptions {
        var oauth2 = TokenFixture.client
        oauth2.tokenURL = token
        oauth2.tls = tls
        let resource = Fixture.resource("https://api.example/items") {
            $0.authentication = .oauth2(oauth2)
            $0.tls.ca = .file("/resource-ca")
            $0.tls.clientCertificate = .file("/resource-cert")
        }
        return TokenRules(resource, address: try HTTPAddress(token), daemon: DaemonConfiguration(), userAgent: "test/1").transport
    }

    @Test func aServiceOfTokensIsTrustedAsItsOwnTableSays() throws {
        var own = SyncConfiguration.TLSConfiguration()
        own.ca = .file("/own-ca")
        own.clientCertificate = .credential("own-cert")
        let elsewhere = try rules(own, token: "https://login.example/token"), login = try HTTPAddress("https://login.example/").origin
        #expect(elsewhere.tls == own && elsewhere.ownOrigin == login)
        // On the resource's own server as well.
        #expect(try rules(own, token: "https://api.example/token").tls == own)
        let without = try rules(nil, token: "https://login.example/token")
        #expect(without.tls == SyncConfiguration.TLSConfiguration() && without.ownOrigin == nil)
        let same = try rules(nil, token: "https://api.example/token"), api = try HTTPAddress("https://api.example/").origin
        #expect(same.tls.clientCertificate == .file("/resource-cert") && same.ownOrigin == api)
    }

    // RFC 8705, 3: a token may be bound to the certificate that it was asked for with.
    @Test func resourcesThatShowDifferentCertificatesShareNoToken() throws {
        func request(_ certificate: SecretReference?, token: String) throws -> TokenRequest {
            var oauth2 = TokenFixture.client
            oauth2.tokenURL = token
            let authentication = AuthenticationConfiguration.oauth2(oauth2)
            let resource = Fixture.resource("https://api.example/items") {
                $0.authentication = authentication
                $0.tls.clientCertificate = certificate
            }
            return try #require(try TokenRequest(resource))
        }
        let own = "https://api.example/token", other = "https://login.example/token", certificate = SecretReference.file("/c.pem")
        #expect(try request(certificate, token: own) != request(nil, token: own))
        #expect(try request(certificate, token: own) != request(.file("/d.pem"), token: own))
        #expect(try request(certificate, token: own) == request(certificate, token: own))
        // Elsewhere it is not shown.
        #expect(try request(certificate, token: other) == request(nil, token: other))
    }

    // RFC 8705, 2: the certificate is the credential, and what was said of another one is no answer.
    @Test func aServiceThatRefusedACertificateIsAskedAtOnceWithAnother() async throws {
        let place = try await Place { _, number in
            let text =
                number == 0 ? Fixture.response(#"{"error": "invalid_client"}"#, status: 401) : Fixture.response(#"{"access_token": "the-token"}"#)
            return [.send(text), .close]
        }
        let file = place.client.certificate + "-shown", pem = try String(contentsOfFile: place.client.certificate, encoding: .utf8)
        try pem.write(toFile: file, atomically: true, encoding: .utf8)
        var oauth2 = AuthenticationConfiguration.OAuth2(grant: .clientCredentials, tokenURL: "\(place.url)token", clientID: .text("me"))
        var tls = SyncConfiguration.TLSConfiguration()
        tls.ca = .file(place.identity.certificate)
        tls.clientCertificate = .file(file)
        tls.clientKey = .file(place.client.key)
        oauth2.tls = tls
        let authentication = AuthenticationConfiguration.oauth2(oauth2)
        let resource = Fixture.resource("https://api.example/items") {
            $0.http.waitLong()
            $0.retry.attempts = 1
            $0.authentication = authentication
        }
        let pool = TransportPool(secrets: Self.secrets), service = TokenService(pool: TokenPool(), transports: pool, clock: SystemClock())
        let issuer = TokenIssuer(
            try #require(try TokenRequest(resource)), resource: resource, daemon: DaemonConfiguration(), userAgent: "test/1", secrets: Self.secrets,
            service: service)
        for _ in 0..<2 {
            let error = await #expect(throws: FetchError.self) { try await issuer.text() }
            #expect(error?.kind == .credential, "\(error?.description ?? "")")
        }
        #expect(place.server.requests.count == 1)
        // The same one in another text is another one as far as anybody can see.
        try ("Renewed\n" + pem).write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await issuer.text() == "the-token")
        #expect(place.server.requests.map(\.isIdentified) == [true, true])
        await pool.shutdown()
        await place.end()
    }

    @Test func aTokenComesFromAServiceWithAnAuthorityOfItsOwn() async throws {
        let place = try await Place { request, _ in
            [.send(Fixture.response(request.form["client_id"] == "me" ? #"{"access_token": "the-token"}"# : "{}")), .close]
        }
        func text(_ change: (inout SyncConfiguration.TLSConfiguration) -> Void) async throws -> String {
            var tls = SyncConfiguration.TLSConfiguration()
            change(&tls)
            var oauth2 = AuthenticationConfiguration.OAuth2(grant: .clientCredentials, tokenURL: "\(place.url)token", clientID: .text("me"))
            oauth2.tls = tls
            let pool = TransportPool(secrets: Self.secrets), service = TokenService(pool: TokenPool(), transports: pool, clock: SystemClock())
            let request = try #require(try TokenRequest(.oauth2(oauth2)))
            let issuer = TokenIssuer(
                request,
                resource: Fixture.resource("https://api.example/items") {
                    $0.http.waitLong()
                    $0.retry.attempts = 1
                    $0.authentication = .oauth2(oauth2)
                }, daemon: DaemonConfiguration(), userAgent: "test/1", secrets: Self.secrets, service: service)
            do {
                let text = try await issuer.text()
                await pool.shutdown()
                return text
            } catch {
                await pool.shutdown()
                throw error
            }
        }
        let token = try await text { tls in
            tls.ca = .file(place.identity.certificate)
            tls.clientCertificate = .file(place.client.certificate)
            tls.clientKey = .file(place.client.key)
        }
        #expect(token == "the-token" && place.server.requests.map(\.isIdentified) == [true])
        let error = await #expect(throws: FetchError.self) { try await text { _ in } }
        #expect(error?.kind == .tls, "\(error?.description ?? "")")
        #expect(place.server.requests.count == 1)
        await place.end()
    }
}
