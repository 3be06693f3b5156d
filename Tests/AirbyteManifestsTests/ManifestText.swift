import SyncConfiguration
import Testing

@testable import AirbyteManifests

/// A manifest of one stream, with lines added where a test wants them.
struct ManifestText {
    var requester = ""
    var selector = ""
    var retriever = ""
    var stream = ""
    /// The properties of `connection_specification`, as one flow mapping, and what is required.
    var spec = "api_key: { type: string, title: API key, airbyte_secret: true }"
    var required = "[api_key]"
    /// Further entries of the file.
    var more = ""
    /// Further streams.
    var streams = ""
    var fieldPath = "[data]"
    var base = "https://api.example.com/v1"
    var path = "/items"
    var schema = "{ id: { type: string }, name: { type: [\"null\", string] } }"
    var key = "id"

    var text: String {
        """
        version: 6.0.0
        type: DeclarativeSource
        check: { type: CheckStream, stream_names: [items] }
        streams:
          - type: DeclarativeStream
            name: items
            primary_key: \(key)
            retriever:
              type: SimpleRetriever
              requester:
                type: HttpRequester
                url_base: \(base)
                path: \(path)
        \(Self.indented(requester, 8))
              record_selector:
                type: RecordSelector
                extractor: { type: DpathExtractor, field_path: \(fieldPath) }
        \(Self.indented(selector, 8))
        \(Self.indented(retriever, 6))
            schema_loader: { type: InlineSchemaLoader, schema: { type: object, properties: \(schema) } }
        \(Self.indented(stream, 4))
        \(Self.indented(streams, 2))
        spec:
          type: Spec
          connection_specification: { type: object, required: \(required), properties: { \(spec) } }
        \(more)
        """
    }

    private static func indented(_ text: String, _ depth: Int) -> String {
        let blanks = String(repeating: " ", count: depth)
        return text.split(separator: "\n").map { blanks + $0 }.joined(separator: "\n")
    }

    func converted(_ settings: [String: String] = [:]) throws -> AirbyteConversion {
        try AirbyteConversion(manifest: Array(text.utf8), file: "manifest.yaml", name: "example", settings: settings)
    }

    /// The lines of the configuration, which is read once more, as `cisternctl check` would.
    func lines(_ settings: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
        let conversion = try converted(settings)
        let findings = conversion.findings.map(\.description)
        let toml = try #require(conversion.toml, "\(findings)", sourceLocation: sourceLocation)
        let reading = ConfigurationReader(path: "/cisternd.toml", files: ConfigurationTexts(["/cisternd.toml": toml])).read()
        #expect(reading.errors == [], sourceLocation: sourceLocation)
        return toml.split(separator: "\n").map(String.init)
    }

    /// What stands in the way of the one stream; the configuration has nothing of it.
    func refusals(sourceLocation: SourceLocation = #_sourceLocation) throws -> [AirbyteFinding] {
        let conversion = try converted()
        #expect(!conversion.streams.contains("items"), sourceLocation: sourceLocation)
        #expect(conversion.toml?.contains("name = \"items\"") != true, sourceLocation: sourceLocation)
        return conversion.findings.filter(\.isLeftOut)
    }

    /// The line of the text that has this in it, counted from 1.
    func line(of part: String) throws -> Int {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return try #require(lines.firstIndex { $0.contains(part) }) + 1
    }
}
