import Testing

@testable import SyncConfiguration

/// Requests that are signed.
@Suite struct SignatureReadingTests {
    private func auth(_ table: String) throws -> AuthenticationConfiguration {
        try #require(try configuration(itemSource + "auth = \(table)").sources.first?.resources.first).authentication
    }

    private func problem(_ table: String) -> String { errors(itemSource + "auth = \(table)").joined(separator: "\n") }

    @Test func aSignatureIsReadWithItsDefaults() throws {
        let read = try auth("{ kind = \"hmac\", key = { credential = \"k\" }, template = \"{method}{target}\" }")
        let template = try SignatureTemplate("{method}{target}")
        #expect(read == .hmac(.init(key: .credential("k"), template: template, in: .header("Authorization", .signatureAlone))))
        guard case .hmac(let signature) = read else { throw Unexpected() }
        #expect(signature.algorithm == .sha256 && signature.encoding == .hex && signature.timestampFormat == .unix && signature.keyEncoding == .text)
        #expect(read.secrets == [.credential("k")] && read.names(in: .header) == ["Authorization"] && read.names(in: .query) == [])
    }

    @Test func everyKeyOfASignatureIsRead() throws {
        let table = """
            { kind = "hmac", key = { file = "/k" }, key_encoding = "base64", key_id = { credential = "id" }, algorithm = "sha512", encoding = "base64", \
            template = "{timestamp}{nonce}{body_sha256:base64}{header:Content-Type}{{x}}", header = "X-Auth", header_value = "v1 {key_id} {signature}", \
            timestamp_format = "http-date", timestamp_header = "Date", timestamp_param = "ts", nonce_header = "X-Nonce", nonce_param = "nonce" }
            """
        guard case .hmac(let signature) = try auth(table) else { throw Unexpected() }
        #expect(signature.keyEncoding == .base64 && signature.keyID == .secret(.credential("id")) && signature.algorithm == .sha512)
        #expect(signature.encoding == .base64 && signature.timestampFormat == .httpDate)
        #expect(signature.carrier == .header("X-Auth", try SignatureTemplate("v1 {key_id} {signature}")))
        #expect(
            signature.template.parts == [
                .place(.timestamp), .place(.nonce), .place(.bodyDigest(.base64)), .place(.header("Content-Type")), .text("{x}"),
            ])
        let all = AuthenticationConfiguration.hmac(signature)
        #expect(all.names(in: .header) == ["X-Auth", "Date", "X-Nonce"] && all.names(in: .query) == ["ts", "nonce"])
        #expect(Set(all.secrets) == [.file("/k"), .credential("id")])
    }

    @Test func aSignatureMayStandInTheQuery() throws {
        let table =
            "{ kind = \"hmac\", key = { credential = \"k\" }, template = \"{query}\", in = \"query\", name = \"sig\", timestamp_param = \"ts\" }"
        let read = try auth(table)
        #expect(read.names(in: .query) == ["sig", "ts"] && read.names(in: .header) == [])
        guard case .hmac(let signature) = read else { throw Unexpected() }
        #expect(signature.carrier == .query("sig"))
    }

    // What is shown of it can be read again.
    @Test(arguments: [
        "", ", in = \"query\", name = \"sig\"", ", header_value = \"HMAC {key_id}:{signature}\", key_id = \"me\", algorithm = \"sha1\"",
    ])
    func whatIsInForceCanBeReadAgain(more: String) throws {
        let reading = read(itemSource + "auth = { kind = \"hmac\", key = { credential = \"k\" }, template = \"{method}\\n{path}\"\(more) }")
        #expect(reading.errors.isEmpty, "\(reading.errors)")
        let again = try configuration(try #require(reading.resolved).toml())
        #expect(again.sources[0].resources[0].authentication == reading.configuration?.sources[0].resources[0].authentication)
    }

    @Test func whatIsWrongWithASignatureIsSaid() {
        let key = "kind = \"hmac\", key = { credential = \"k\" }", whole = "\(key), template = \"{method}\""
        #expect(problem("{ kind = \"hmac\", template = \"{method}\" }").contains("\"key\" is missing; kind = \"hmac\" needs it"))
        #expect(problem("{ \(key) }").contains("\"template\" is missing; kind = \"hmac\" needs it"))
        #expect(problem("{ \(key), template = \"{methd}\" }").contains("there is no place {methd}; write {method}, {path}"))
        #expect(problem("{ \(key), template = \"{signature}\" }").contains("cannot be part of it"))
        for name in ["Content-Length", "transfer-encoding", "Connection"] {
            #expect(problem("{ \(key), template = \"{header:\(name)}\" }").contains("the header \(name) is written when the request is sent"))
        }
        #expect(problem("{ \(key), template = \"{header:authorization}\" }").contains("the header Authorization carries the signature"))
        #expect(problem("{ \(key), template = \"{timestamp}\" }").contains("the time that is signed is not sent"))
        #expect(problem("{ \(key), template = \"{nonce}\" }").contains("the nonce that is signed is not sent"))
        #expect(problem("{ \(key), template = \"{key_id}\" }").contains("\"key_id\" is missing"))
        #expect(problem("{ \(whole), key_id = \"me\" }").contains("key_id stands nowhere"))
        #expect(problem("{ \(whole), header_value = \"{body}{signature}\" }").contains("a header does not hold that"))
        #expect(problem("{ \(whole), header_value = \"HMAC\" }").contains("the signature is not in it"))
        #expect(problem("{ \(whole), algorithm = \"RS256\" }").contains("RS256 signs tokens; write algorithm = \"sha256\""))
        #expect(problem("{ \(whole), algorithm = \"sha265\" }").contains("did you mean \"sha256\"?"))
        #expect(problem("{ \(whole), in = \"body\" }").contains("a signature stands in a header or in the query"))
        #expect(problem("{ \(whole), in = \"query\" }").contains("\"name\" is missing; in = \"query\" needs it"))
        #expect(problem("{ \(whole), in = \"query\", name = \"s\", header = \"X\" }").contains("\"header\" belongs to in = \"header\""))
        #expect(problem("{ \(whole), name = \"X-Sig\" }").contains("\"name\" belongs to in = \"query\"; write header = \"X-Sig\""))
        #expect(problem("{ \(whole), timestamp_header = \"authorization\" }").contains("has two values"))
        #expect(problem("{ \(whole), send_as = { in = \"header\" } }").contains("send_as"))
        #expect(problem("{ kind = \"jwt\", key = { credential = \"k\" }, algorithm = \"sha256\" }").contains("signs requests, and no tokens"))
        #expect(problem("{ kind = \"jwt\", key = { credential = \"k\" }, template = \"{method}\" }").contains("template"))
    }

    // Both would be sent, and the service would take either.
    @Test(arguments: [
        ("{ kind = \"hmac\", key = { credential = \"k\" }, template = \"{query}\", in = \"query\", name = \"a\" }", "auth.name"),
        ("{ kind = \"hmac\", key = { credential = \"k\" }, template = \"{query}\", timestamp_param = \"a\" }", "auth.timestamp_param"),
        ("{ kind = \"hmac\", key = { credential = \"k\" }, template = \"{query}\", nonce_param = \"a\" }", "auth.nonce_param"),
        ("{ kind = \"api-key\", in = \"query\", name = \"a\", value = { credential = \"k\" } }", "auth.name"),
        ("{ kind = \"jwt\", key = { credential = \"k\" }, send_as = { in = \"query\", name = \"a\" } }", "auth.send_as.name"),
    ])
    func aParameterThatIdentifiesIsNoneOfTheOthers(table: String, key: String) {
        for (other, value) in [("params", "\"1\""), ("secret_params", "{ credential = \"c\" }")] {
            func problems(_ name: String) -> [String] { errors(itemSource + "\(other) = { \(name) = \(value) }\nauth = \(table)") }
            let found = problems("a")
            #expect(found.count == 1 && found[0].contains("\(key) and \(other) (/c/cisternd.toml:"), "\(found)")
            #expect(found.first?.contains("name the same parameter, a: both would be sent") == true, "\(found)")
            // Names of parameters are told apart by their case.
            #expect(problems("b") == [] && problems("A") == [])
        }
        let header = "{ kind = \"api-key\", in = \"header\", name = \"a\", value = { credential = \"k\" } }"
        #expect(errors(itemSource + "params = { a = 1 }\nauth = \(header)") == [])
    }

    @Test(arguments: ["", "{", "{}", "{ a }", "{\"a\": 1}", "a}b", "{{method}}", "{{{"]) func whatIsNoWordInBracesIsText(text: String) throws {
        let template = try SignatureTemplate(text)
        #expect(template.places.isEmpty && template.description == text)
        #expect(template.parts == (text.isEmpty ? [] : [.text(text.replacing("{{method}}", with: "{method}"))]))
    }

    private struct Unexpected: Error {}
}
