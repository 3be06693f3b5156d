import Foundation
import SyncConfiguration
import SyncControl
import Testing

@testable import cisternctl

@Suite struct ImportVerbTests {
    private let outcome = Outcome()
    private let manifest = """
        type: DeclarativeSource
        streams:
          - type: DeclarativeStream
            name: users
            primary_key: id
            retriever:
              type: SimpleRetriever
              requester:
                type: HttpRequester
                url_base: "https://{{ config['host'] }}"
                path: /users
                authenticator: { type: BearerAuthenticator, api_token: "{{ config['token'] }}" }
              record_selector: { extractor: { field_path: [] } }
            schema_loader: { type: InlineSchemaLoader, schema: { properties: { id: { type: integer } } } }
        spec:
          connection_specification:
            required: [host, token]
            properties: { host: { type: string }, token: { type: string, airbyte_secret: true } }
        """

    private func run(_ arguments: String..., manifest: String? = nil, existing: Set<String> = []) async -> ControlExitCode {
        let files = ["/source-acme/manifest.yaml": manifest ?? self.manifest]
        return await Cisternctl.run(arguments: ["import", "airbyte"] + arguments, surroundings: outcome.surroundings(files, existing: existing))
    }

    @Test func theOutputIsAConfiguration() async {
        #expect(await run("/source-acme/manifest.yaml") == .success)
        let reading = ConfigurationReader(path: "/c.toml", files: ConfigurationTexts(["/c.toml": outcome.out])).read()
        #expect(reading.errors == [])
        #expect(reading.configuration?.sources.map(\.name) == ["acme"])
        #expect(outcome.error.contains("Provide the credential acme_token: token\n"))
        #expect(outcome.error.contains("Fill in host: fill-in-host\n"))
        #expect(outcome.error.hasSuffix("1 stream converted\n"))
    }

    @Test func whatTheUserSetsStandsThere() async {
        #expect(await run("/source-acme/manifest.yaml", "--name", "mine", "--set", "host=api.example.com") == .success)
        #expect(outcome.out.contains("base_url = \"https://api.example.com\""))
        #expect(outcome.out.contains("name = \"mine\""))
        #expect(!outcome.error.contains("Fill in"))
    }

    @Test func somethingThatIsLeftOutEndsWithOneAndItsLine() async {
        let more = manifest.replacing("streams:\n", with: "streams:\n  - { type: StateDelegatingStream, name: others }\n")
        #expect(await run("/source-acme/manifest.yaml", manifest: more) == .failure)
        #expect(outcome.error.contains("/source-acme/manifest.yaml:3: stream \"others\": type: StateDelegatingStream: "))
        #expect(outcome.error.hasSuffix("1 stream converted, 1 left out\n"))
        #expect(outcome.out.contains("name = \"users\""))
    }

    @Test func whatIsNoManifestEndsWith65() async {
        #expect(await run("/source-acme/manifest.yaml", manifest: "a: [") == .dataError)
        #expect(outcome.error.contains("/source-acme/manifest.yaml:"))
        #expect(await run("/elsewhere.yaml") == .dataError)
        let nothing = manifest.replacing("type: SimpleRetriever", with: "type: AsyncRetriever")
        #expect(await run("/source-acme/manifest.yaml", manifest: nothing) == .dataError)
        #expect(outcome.out.isEmpty)
    }

    @Test func asJSONEverythingIsOneObject() async throws {
        #expect(await run("/source-acme/manifest.yaml", "--json") == .success)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.out.utf8)) as? [String: Any])
        #expect((object["configuration"] as? String)?.contains("[[source.resource]]") == true)
        #expect(object["streams"] as? [String] == ["users"])
        #expect(((object["credentials"] as? [[String: Any]])?.first?["name"] as? String) == "acme_token")
        #expect(outcome.error.isEmpty)
    }

    @Test func aFileThatIsThereIsNotWrittenOver() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("acme.toml")
        #expect(await run("/source-acme/manifest.yaml", "-o", file.path) == .success)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("[[source]]"))
        #expect(outcome.out.isEmpty)
        try Data("mine".utf8).write(to: file)
        #expect(await run("/source-acme/manifest.yaml", "-o", file.path, existing: [file.path]) == .usage)
        // Also where it comes between the look and the writing.
        #expect(await run("/source-acme/manifest.yaml", "-o", file.path) == .ioError)
        #expect(try String(contentsOf: file, encoding: .utf8) == "mine")
        #expect(await run("/source-acme/manifest.yaml", "-o", file.path, "--force", existing: [file.path]) == .success)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("[[source]]"))
    }

    @Test(arguments: [["--set", "host"], ["--set", "=x"], []]) func aBadCommandLineIs64(_ arguments: [String]) async {
        let manifest = arguments.isEmpty ? [] : ["/source-acme/manifest.yaml"]
        let surroundings = outcome.surroundings(["/source-acme/manifest.yaml": self.manifest])
        #expect(await Cisternctl.run(arguments: ["import", "airbyte"] + manifest + arguments, surroundings: surroundings) == .usage)
    }

    @Test func aSourceIsCalledAsItsFileOrDirectoryIs() {
        #expect(ImportAirbyte.name(of: "a/source-aha/manifest.yaml") == "aha")
        #expect(ImportAirbyte.name(of: "weather.yml") == "weather")
        #expect(ImportAirbyte.name(of: "manifest.yaml") == "imported")
        #expect(ImportAirbyte.name(of: "/x/source-") == "source-")
    }
}
