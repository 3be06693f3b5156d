import Testing

@testable import AirbyteManifests

@Suite struct AirbyteConversionTests {
    private func convert(_ text: String) throws -> AirbyteConversion {
        try AirbyteConversion(manifest: Array(text.utf8), file: "m.yaml", name: "example")
    }

    @Test(arguments: ["", "a", "[]", "a: 1", "type: Other\nstreams: []", "{ \"type\": \"DeclarativeSource\" }", "\u{1}"])
    func whatIsNoManifestIsRefused(_ text: String) {
        #expect(throws: ManifestError.self) { try convert(text) }
    }

    @Test func whatIsLeftOutIsNamedByItsLine() throws {
        var manifest = ManifestText()
        manifest.requester = "http_method: DELETE"
        manifest.streams = """
            - name: others
              retriever:
                requester: { url_base: "https://api.example.com/v1", path: /others }
                record_selector: { extractor: { field_path: [] } }
            """
        let conversion = try manifest.converted()
        #expect(conversion.isPartial)
        #expect(conversion.streams == ["others"])
        let finding = try #require(conversion.findings.first { $0.isLeftOut })
        #expect(finding.stream == "items")
        #expect(finding.line == (try manifest.line(of: "http_method")))
        #expect(finding.says == "DELETE")
        #expect(finding.description == "\(finding.line): stream \"items\": requester.http_method: DELETE: only GET and POST can be said")
        #expect(conversion.toml?.contains("line \(finding.line): stream \"items\"") == true)
        #expect(conversion.toml?.contains("entity.Item]") == false)
    }

    @Test func streamsOfOtherKindsAreNamed() throws {
        var manifest = ManifestText()
        manifest.streams = """
            - { type: StateDelegatingStream, name: others }
            - { type: ConditionalStreams, condition: "{{ config.beta }}", streams: [{ name: never, retriever: {} }] }
            - { name: items, retriever: {} }
            """
        manifest.spec += ", beta: { type: boolean, default: false }"
        manifest.more = "dynamic_streams: [{ type: DynamicDeclarativeStream }]\napi_budget: { type: HTTPAPIBudget, policies: [] }"
        let conversion = try manifest.converted()
        #expect(conversion.streams == ["items"])
        let leftOut = conversion.findings.filter(\.isLeftOut)
        #expect(Set(leftOut.map(\.key)) == ["type", "streams", "dynamic_streams"])
        let remarks = conversion.findings.filter { !$0.isLeftOut }
        #expect(Set(remarks.map(\.key)) == ["ConditionalStreams.condition", "api_budget"])
    }

    @Test func aConditionThatHoldsLetsItsStreamsIn() throws {
        var manifest = ManifestText()
        manifest.streams = """
            - type: ConditionalStreams
              condition: "{{ config['beta'] }}"
              streams:
                - name: others
                  retriever:
                    requester: { url_base: "https://api.example.com/v1", path: /others }
                    record_selector: { extractor: { field_path: [] } }
            """
        manifest.spec += ", beta: { type: boolean, default: false }"
        #expect(try manifest.converted(["beta": "true"]).streams == ["items", "others"])
        #expect(try manifest.converted().streams == ["items"])
    }

    @Test func whatAnotherCheckRefusesIsLeftOut() throws {
        let text = ManifestText().text
        let conversion = try AirbyteConversion(manifest: Array(text.utf8), file: "m.yaml", name: "example", accepts: { _ in "it rains" })
        #expect(conversion.toml == nil)
        #expect(conversion.findings.first?.reason.contains("it rains") == true)
    }

    @Test func referencesAndParametersMakeOneStreamOfAnother() throws {
        let conversion = try convert(
            """
            type: DeclarativeSource
            definitions:
              base:
                retriever:
                  type: SimpleRetriever
                  requester: { type: HttpRequester, url_base: "https://api.example.com", authenticator: "#/definitions/auth" }
                  record_selector: { extractor: { field_path: ["{{ parameters['field'] }}"] } }
                schema_loader: { type: InlineSchemaLoader, schema: { $ref: "#/schemas/all" } }
              auth: { type: BearerAuthenticator, api_token: "{{ config['token'] }}" }
            schemas:
              all: { properties: { id: { type: integer } } }
            streams:
              - $ref: "#/definitions/base"
                type: DeclarativeStream
                $parameters: { name: users, path: /users, field: rows, primary_key: id }
              - $ref: "#/definitions/base"
                $parameters: { name: teams, path: /teams, field: list, primary_key: id }
            spec: { connection_specification: { properties: { token: { type: string, airbyte_secret: true } } } }
            """)
        let toml = try #require(conversion.toml)
        #expect(conversion.findings == [])
        #expect(conversion.streams == ["users", "teams"])
        for line in ["path = \"/users\"", "path = \"/teams\"", "records = \"$.rows\"", "records = \"$.list\"", "[entity.User]", "[entity.Team]"] {
            #expect(toml.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test func aCircleOfReferencesEndsWithALine() throws {
        var manifest = ManifestText()
        manifest.requester = "authenticator: \"#/definitions/a\""
        manifest.more = "definitions: { a: \"#/definitions/b\", b: \"#/definitions/a\" }"
        let refusals = try manifest.refusals()
        #expect(refusals.contains { $0.reason.contains("leads back to itself") && $0.line > 1 })
    }

    @Test func aTextOfTheManifestDoesNotBreakOutOfItsPlace() throws {
        var manifest = ManifestText()
        manifest.requester = "request_parameters: { a: \"x\\\"\\n]\\nb = 1\" }\nrequest_headers: { Host: \"a\\nb\" }"
        let toml = try #require(try manifest.converted().toml)
        #expect(!toml.contains("\nb = 1"))
        #expect(!toml.contains("\nb\""))
    }

    @Test func namesDoNotClash() throws {
        var manifest = ManifestText()
        manifest.streams = ["Items", "item", "zitems"].map {
            """
            - name: \($0)
              retriever:
                requester: { url_base: "https://api.example.com/v1", path: /\($0) }
                record_selector: { extractor: { field_path: [] } }
            """
        }.joined(separator: "\n")
        #expect(try manifest.converted().streams == ["items", "Items", "item", "zitems"])
        let entities = try manifest.lines().filter { $0.hasPrefix("entity = ") }
        #expect(Set(entities).count == 4)
    }
}
