import Testing

@testable import SyncConfiguration

/// What a configuration says of connections.
@Suite struct TransportReadingTests {
    private static let pin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private func resource(_ lines: String) throws -> ResourceConfiguration {
        try #require(try configuration(itemSource + lines).sources.first?.resources.first)
    }

    @Test func theNameTheKeysAndTheVersionOfTheServerAreRead() throws {
        let tls = try resource("tls = { server_name = \"api.example.com\", pin_sha256 = [\"\(Self.pin)\"], min_version = \"1.3\" }").tls
        #expect(tls.serverName == "api.example.com" && tls.pinSHA256 == [Self.pin] && tls.minVersion == .tls13 && tls.isOfOneServer)
        let built = try resource("").tls
        #expect(built.serverName == "" && built.pinSHA256 == [] && built.minVersion == .tls12 && !built.isOfOneServer)
    }

    @Test func theyAreShownAsTheyAreInForce() throws {
        let reading = read(itemSource + "tls = { pin_sha256 = [\"\(Self.pin)\"] }\nretry = { refresh_auth_on = [401, 419] }")
        let shown = try #require(reading.resolved?.toml())
        #expect(shown.contains("pin_sha256 = [\"\(Self.pin)\"]") && shown.contains("refresh_auth_on = [401, 419]"), "\(shown)")
        #expect(shown.contains("refresh_auth_on = \"auto\"") && shown.contains("server_name = \"\""))
    }

    @Test func cookiesAndCompressionMayBeDoneWithout() throws {
        let http = try resource("http = { cookies = \"off\", accept_encoding = [] }").http
        #expect(http.cookies == .off && http.acceptEncoding == [])
        let built = try resource("").http
        #expect(built.cookies == .run && built.acceptEncoding == [.gzip])
    }

    @Test func exchangesAreWrittenWhereThatIsSaid() throws {
        let log = try configuration("[log]\ntrace_http = \"headers\"\ntrace_http_max = \"1MiB\"").log
        #expect(log.traceHTTP == .headers && log.traceHTTPMax == .mebibytes(1))
        #expect(try configuration("").log.traceHTTP == .off)
    }

    @Test func keysOfAServerWithoutEncryptionAreAnError() throws {
        let text = itemSource.replacing("https://", with: "http://") + "tls.pin_sha256 = [\"\(Self.pin)\"]"
        #expect(errors(text).contains { $0.contains("without encryption") && $0.contains("tls.pin_sha256 = []") }, "\(errors(text))")
    }
}
