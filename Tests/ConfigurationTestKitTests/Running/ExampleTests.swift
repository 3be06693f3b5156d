import Foundation
import SyncConfiguration
import Testing

@testable import ConfigurationTestKit

/// The tests of the examples, as `cisternctl test` runs them.
@Suite struct ExampleTests {
    private static let examples = URL(fileURLWithPath: #filePath)
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("../../../Examples").standardizedFileURL.path

    @Test(arguments: ["chat", "github", "graphql", "maps", "stripe"])
    func theExamplesPassTheirTests(_ name: String) async throws {
        let file = try TestFile("\(Self.examples)/\(name)/cisternd.test.toml", in: DiskConfigurationFiles())
        let configuration = try ConfigurationReader(path: file.configurationPath).configuration()
        let runner = TestRunner(configuration, folder: FileManager.default.temporaryDirectory, version: "test")
        for test in file.tests {
            let differences = try await runner.run(test)
            #expect(differences.map(\.description) == [], "\(test.name)")
        }
    }
}
