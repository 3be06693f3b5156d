import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

// R10
@Suite struct AuthenticationTests {
    private let secret = "s3cr3t/+ värde"
    private let reference = SecretReference.credential("token")

    private func request(
        _ configuration: AuthenticationConfiguration, to url: String = "https://api.example/items?x=1", secret: String = "abc123"
    ) async throws -> HTTPRequest {
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret(secret)) {
            $0.authentication = configuration
            $0.headers = [HeaderField(name: "X-Tenant", value: "seven")]
        }
        let page = PageRequest(address: try HTTPAddress(url))
        return settings.request(
            page, at: page.address, credential: try await settings.authentication.credential(), validators: nil, cookies: nil)
    }

    @Test func bearerGoesIntoItsHeader() async throws {
        #expect(try await request(.bearer(.init(token: reference))).headers["Authorization"] == ["Bearer abc123"])
        let own = try await request(.bearer(.init(token: reference, header: "X-Token", scheme: "")))
        #expect(own.headers["X-Token"] == ["abc123"])
        #expect(own.headers["Authorization"] == [])
    }

    @Test func basicIsEncoded() async throws {
        let basic = AuthenticationConfiguration.basic(.init(username: .name("Aladdin"), password: reference))
        #expect(try await request(basic, secret: "open sesame").headers["Authorization"] == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func apiKeysGoWhereTheyAreConfigured() async throws {
        #expect(try await request(.apiKey(.init(value: reference))).headers["X-Api-Key"] == ["abc123"])
        #expect(try await request(.apiKey(.init(name: "sid", in: .cookie, value: reference))).headers["Cookie"] == ["sid=abc123"])
        let query = try await request(.apiKey(.init(name: "k", in: .query, value: reference)), to: "https://api.example/items?k=old&x=1")
        #expect(query.address.description == "https://api.example/items?x=1&k=abc123")
    }

    @Test func aSecretInACookieTakesThePlaceOfTheRunsOwnOfThatName() async throws {
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("abc123")) {
            $0.authentication = .apiKey(.init(name: "sid", in: .cookie, value: reference))
        }
        let page = PageRequest(address: settings.first), cookies = RunCookies()
        cookies.store(["Set-Cookie": "sid=anonymous; Path=/", "Set-Cookie": "sidecar=1; Path=/"], from: page.address, now: Date())
        let request = settings.request(
            page, at: page.address, credential: try await settings.authentication.credential(), validators: nil, cookies: cookies)
        #expect(request.headers["Cookie"] == ["sid=abc123; sidecar=1"])
    }

    @Test(arguments: ["https://other.example/items", "http://api.example/items", "https://api.example:8443/items", "https://sub.api.example/"])
    func anotherOriginGetsNothing(url: String) async throws {
        for kind in AuthenticationConfiguration.carrying(reference) {
            let request = try await request(kind, to: url)
            #expect(Set(request.headers.map { $0.name.lowercased() }) == ["user-agent", "accept", "accept-encoding"])
            #expect(request.address.description == url)
        }
    }

    @Test func aRunTakesItsOwnCredentialsOutOfTextsAndNobodyElses() async throws {
        let prepared = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("abc123")) {
            $0.authentication = .bearer(.init(token: reference))
            $0.headers = [HeaderField(name: "X-Api-Key", value: "fixed456")]
        }
        let first = prepared.anew(), second = prepared.anew()
        _ = try await first.authentication.credential()
        #expect(!first.redactor.redact("said abc123").contains("abc123"))
        #expect(second.redactor.redact("said abc123") == "said abc123" && prepared.redactor.redact("said abc123") == "said abc123")
        // What is configured is known to all.
        #expect(!second.redactor.redact("said fixed456").contains("fixed456"))
    }

    @Test func storedAddressesHoldNoKey() async throws {
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret("abc123")) {
            $0.authentication = .apiKey(.init(name: "k", in: .query, value: reference))
        }
        let echoed = try HTTPAddress("https://api.example/items?k=abc123&page=2")
        #expect(settings.authentication.stripping(echoed).description == "https://api.example/items?page=2")
        _ = try await settings.authentication.credential()
        #expect(settings.authentication.leaks(to: try HTTPAddress("https://other.example/?copy=abc123")))
        #expect(!settings.authentication.leaks(to: try HTTPAddress("https://api.example/?copy=abc123")))
    }

    @Test func nothingPrintsASecret() async throws {
        let settings = try Fixture.settings("https://api.example/items", secrets: Fixture.secret(secret)) {
            $0.authentication = .basic(.init(username: .name("user"), password: reference))
        }
        let page = PageRequest(address: settings.first)
        let credential = try await settings.authentication.credential()
        let request = settings.request(page, at: page.address, credential: credential, validators: nil, cookies: nil)
        let pair = Data("user:\(secret)".utf8).base64EncodedString()
        for value in [request, settings, credential, settings.authentication, settings.redactor] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for printed in [dumped, "\(value)", String(reflecting: value)] {
                #expect(!printed.contains(secret))
                #expect(!printed.contains(pair))
            }
        }
    }

    @Test func theRedactorKnowsEveryFormOfASecret() {
        let redactor = Redactor(secrets: [secret])
        let forms = [secret, HTTPAddress.encode(secret), Data(secret.utf8).base64EncodedString()]
        for form in forms { #expect(redactor.redact("a\(form)b") == "a[redacted]b") }
        for form in [#"s3cr3t\/+ värde"#, #"s3cr3t/+ v\u00e4rde"#, #"s3cr3t\/+ v\u00e4rde"#] {
            #expect(redactor.redact("a\(form)b") == "a[redacted]b")
        }
        let odd = Secret(Array("a\"\\\u{1}€😀".utf8)), forASCII = odd.jsonEscaped(isASCII: true).revealed()
        #expect(forASCII == #"a\"\\\u0001\u20ac\ud83d\ude00"# && odd.jsonEscaped().revealed() == #"a\"\\\u0001€😀"#)
        #expect(redactor.redact("nothing to hide") == "nothing to hide")
        #expect(Redactor(secrets: ["", "a"]).redact("abba") == "abba")
        #expect(Redactor(secrets: ["abcd", "abcdef"]).redact("abcdef") == "[redacted]")
    }

    @Test func tellingParametersAreHidden() throws {
        let address = try HTTPAddress("https://a.example/x?page=2&access_token=zzz&sig=1&key")
        #expect(Redactor().redact(address) == "https://a.example/x?page=2&access_token=[redacted]&sig=[redacted]&key")
    }

    @Test func unusableSecretsAreNamedNotShown() async throws {
        for (bad, configuration) in [
            ("a\nb secret", AuthenticationConfiguration.bearer(.init(token: reference))),
            ("a;b secret", .apiKey(.init(name: "k", in: .cookie, value: reference))), ("", .bearer(.init(token: reference))),
        ] {
            let error = await #expect(throws: FetchError.self) { try await request(configuration, secret: bad) }
            #expect(error?.kind == .credential)
            #expect(error?.description.contains("b secret") == false)
            #expect(error?.description.contains("token") == true)
        }
    }
}
