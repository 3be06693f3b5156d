import OpenCoreData
import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct ModelBuilderTests {
    @Test func theNumberOfTheModelIsInTheMetadataOfTheStore() async throws {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people() + "\n[model]\nversion = 7\n")
        let coordinator = try #require(fixture.document.root.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        #expect(coordinator.metadata(for: store)[NSStoreModelVersionIdentifiersKey] as? [String] == ["7"])
        try await fixture.end()
    }
}
