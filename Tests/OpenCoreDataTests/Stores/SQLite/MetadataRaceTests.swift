import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A store's file whose metadata several write: whoever saves leaves the mark of a push journal there.
@Suite struct MetadataRaceTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(Company.model()) }

    /// Saves one mark after the other, each beside one call of `meddle`, and compares it with what the file says when both are done.
    private func save(beside meddle: @escaping @Sendable (Int) throws -> Void) async throws {
        let store = fixture.store
        for turn in 1...150 {
            async let meddling: Void = Task.detached { try meddle(turn) }.value
            var changes = ChangeSet()
            changes.journaled = UInt64(turn)...UInt64(turn)
            _ = try store.save(changes)
            try await meddling
            try #require(try store.pushMark == UInt64(turn))
        }
    }

    @Test func metadataThatIsSetInTheFileTakesNoMarkBack() async throws {
        let file = fixture.file
        try await save { turn in
            try NSPersistentStoreCoordinator.setMetadata(["turn": turn], type: .sqlite, at: file)
        }
        #expect(try storedMetadata(at: file)["turn"] as? Int == 150)
    }

    @Test func viewsThatAreMadeAnewTakeNoMarkBack() async throws {
        let file = fixture.file
        try await save { turn in
            let model = Company.model()
            model.entitiesByName["Department"]?.userInfo = [ViewAnnotation.name: "department\(turn)"]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
            try coordinator.remove(store)
        }
    }
}
