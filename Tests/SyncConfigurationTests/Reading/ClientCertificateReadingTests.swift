import Testing

@testable import SyncConfiguration

/// Certificates that clients show.
@Suite struct ClientCertificateReadingTests {
    private func resource(_ lines: String) throws -> ResourceConfiguration {
        try #require(try configuration(itemSource + lines).sources.first?.resources.first)
    }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    private static let oauth =
        "kind = \"oauth2\", grant = \"client-credentials\", token_url = \"https://login.example.com/token\", client_id = \"me\""
    private static let session = "kind = \"session\", login = { path = \"/login\" }, token_path = \"$.t\""

    @Test func certificateAndKeyAreFilesOrCredentials() throws {
        let both = try resource("tls = { client_cert = \"/c.pem\", client_key = { credential = \"k\" } }")
        #expect(both.tls.clientCertificate == .file("/c.pem") && both.tls.clientKey == .credential("k"))
        #expect(both.identity == [.file("/c.pem"), .credential("k")] && both.keysOfTLS == [.credential("k")])
        #expect(both.secrets == [] && both.keysOfSeveralLines == both.identity)
        let one = try resource("tls = { client_cert = { file = \"/both.pem\" } }")
        #expect(one.tls.clientKey == nil && one.identity == [.file("/both.pem")] && one.keysOfTLS == [.file("/both.pem")])
        #expect(try resource("").identity == [])
    }

    @Test func aResourceHasTheCertificateOfItsSourceUnlessItSaysAnother() throws {
        let text = """
            [defaults.tls]
            client_cert = "/default.pem"
            \(itemModel)
            [[source]]
            name = "s"
            base_url = "https://api.example.com"
            tls.client_key = "/key.pem"
            [[source.resource]]
            name = "a"
            path = "/a"
            entity = "Item"
            [[source.resource]]
            name = "b"
            path = "/b"
            entity = "Item"
            tls = { client_cert = "/b.pem" }
            """
        let resources = try #require(try configuration(text).sources.first?.resources)
        #expect(resources.map(\.tls.clientCertificate) == [.file("/default.pem"), .file("/b.pem")])
        // The key is that of the certificate that it was written for.
        #expect(resources.map(\.tls.clientKey) == [.file("/key.pem"), nil])
    }

    // In whichever order a table says both.
    @Test(
        arguments: [
            ("client_cert = \"/b.pem\"", "/b.pem", nil), ("client_key = \"/b.key\", client_cert = \"/b.pem\"", "/b.pem", "/b.key"),
            ("client_cert = \"/b.pem\", client_key = \"/b.key\"", "/b.pem", "/b.key"), ("client_key = \"/b.key\"", "/a.pem", "/b.key"),
            ("client_cert = \"\"", nil, nil), ("client_key = \"\"", "/a.pem", nil), ("ca = \"system\"", "/a.pem", "/a.key"),
        ] as [(String, String?, String?)])
    func aTableSaysAnotherCertificateOrNone(own: String, certificate: String?, key: String?) throws {
        let below = "tls = { client_cert = \"/a.pem\", client_key = \"/a.key\" }", secret = "client_secret = { credential = \"s\" }"
        let text = """
            \(itemModel)
            [[source]]
            name = "s"
            base_url = "https://api.example.com"
            \(below)
            auth = { \(Self.oauth), \(secret), \(below) }
            [[source.resource]]
            name = "a"
            path = "/a"
            entity = "Item"
            tls = { \(own) }
            auth = { tls = { \(own) } }
            """
        let resource = try #require(try configuration(text).sources.first?.resources.first), token = try #require(resource.authentication.tls)
        for tls in [resource.tls, token] {
            #expect(tls.clientCertificate == certificate.map(SecretReference.file))
            #expect(tls.clientKey == key.map(SecretReference.file))
        }
    }

    @Test func whatIsNoPlaceOfACertificateIsRefused() {
        #expect(problem("tls = { client_cert = \"cert.pem\" }").contains("\"cert.pem\" is not an absolute path"))
        #expect(problem("tls = { client_cert = { env = \"CERT\" } }").contains("PEM text does not come from the environment"))
        #expect(problem("tls = { client_key = \"/k\" }").contains("a key needs its certificate; write client_cert"))
        #expect(problem("auth = { \(Self.session), tls = { client_key = \"/k\" } }").contains("a key needs its certificate"))
        let kind = problem("auth = { kind = \"tls\" }")
        #expect(kind.contains("a certificate goes with any kind; write client_cert and client_key in tls"), "\(kind)")
    }

    @Test(arguments: [("http://api.example.com", true), ("https://api.example.com", false), ("http://127.0.0.1", false)])
    func whereItIsNeverShownThatIsSaid(url: String, isSaid: Bool) {
        let text = itemModel + "[[source]]\nname = \"s\"\nurl = \"\(url)/items\"\nentity = \"Item\"\ntls = { client_cert = \"/c.pem\" }\n"
        let warnings = read(text).warnings
        #expect(warnings.contains { $0.message.contains("is shown no certificate") && $0.suggestion?.isEmpty == false } == isSaid, "\(warnings)")
    }

    @Test func aServiceOfTokensHasATableOfItsOwn() throws {
        let secret = "client_secret = { credential = \"s\" }"
        guard case .oauth2(let oauth2) = try resource("auth = { \(Self.oauth), \(secret), tls = { ca = \"/ca.pem\" } }").authentication else {
            throw Unexpected()
        }
        #expect(oauth2.tls?.ca == .file("/ca.pem") && oauth2.tls?.clientCertificate == nil)
        let read = try resource("auth = { \(Self.session), tls = { client_cert = \"/c.pem\" } }")
        #expect(read.authentication.tls?.clientCertificate == .file("/c.pem") && read.tls.clientCertificate == nil)
        #expect(read.identity == [.file("/c.pem")] && read.keysOfTLS == [.file("/c.pem")])
        #expect(try resource("auth = { \(Self.oauth), \(secret) }").authentication.tls == nil)
        #expect(problem("auth = { \(Self.oauth), \(secret), tls = { verify = false } }").contains("turning off certificate checks needs a reason"))
        #expect(problem("auth = { \(Self.oauth), \(secret), tls = { cas = 1 } }").contains("unknown key \"cas\""))
        #expect(problem("auth = { kind = \"bearer\", token = { credential = \"t\" }, tls = {} }").contains("\"tls\" belongs to kind = \"oauth2\""))
    }

    // RFC 8705, 2
    @Test func aClientThatShowsACertificateToTheServiceNeedsNoSecret() throws {
        guard case .oauth2(let oauth2) = try resource("auth = { \(Self.oauth), tls = { client_cert = \"/c.pem\" } }").authentication else {
            throw Unexpected()
        }
        #expect(oauth2.clientSecret == nil && oauth2.clientID == .text("me"))
        #expect(problem("tls = { client_cert = \"/c.pem\" }\nauth = { \(Self.oauth) }").contains("\"client_secret\" is missing"))
    }

    private struct Unexpected: Error {}
}
