import Foundation
import GRDB
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// A resource gets parts, has others than before, or has none any more.
@Suite struct PartitionChangeTests {
    private let api = ScriptedAPI()

    /// People, as one list or by region.
    private static func people(_ regions: String...) -> String {
        let parts =
            regions.isEmpty
            ? ""
            : "for_each = { values = [\(regions.map { "\"\($0)\"" }.joined(separator: ", "))], as = \"region\" }\nparams = { region = \"{region}\" }\n"
        return ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", parts + PartitionTests.deletion))
    }

    private func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        try await fixture.pipeline.reload(PipelineFixture.configuration(toml))
    }

    private func status(_ fixture: PipelineFixture) throws -> [String] {
        let queue = try DatabaseQueue(path: fixture.document.storeURL.path)
        defer { try? queue.close() }
        return try queue.read {
            try String.fetchAll($0, sql: "SELECT partition || ' ' || state FROM cistern_status WHERE partition <> '' ORDER BY partition")
        }
    }

    // What it had listed as one is nobody's to keep: a part's row goes when its part lets go of it.
    @Test func aListThatIsDividedVouchesForNothing() async throws {
        let fixture = try await api.fixture(Self.people())
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people?region=us", #"[{"id": 3}]"#)
        try await fixture.sync("api/people")
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // And the other way round: what its parts had is missing from the one list.
    @Test func oneListTakesOverWhatItsPartsHad() async throws {
        let fixture = try await api.fixture(Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people?region=us", #"[{"id": 3}]"#)
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people())
        api.set("/people", #"[{"id": 1}, {"id": 3}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "3"] && status(fixture) == [])
        api.set("/people", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // Who has tombstones to purge then: what was buried before goes in time.
    @Test(arguments: [true, false]) func whatWasBuriedBeforeIsPurgedAfterwards(isDivided: Bool) async throws {
        let one = Self.people(), parts = Self.people("eu", "us")
        let fixture = try await api.fixture(isDivided ? one : parts)
        api.set("/people?region=us", "[]")
        for path in ["/people", "/people?region=eu"] { api.set(path, #"[{"id": 1}, {"id": 2}]"#) }
        try await fixture.sync("api/people")
        for path in ["/people", "/people?region=eu"] { api.set(path, #"[{"id": 1}]"#) }
        try await fixture.sync("api/people")
        #expect(try await fixture.values("id", of: "Person", where: "cisternDeletedAt != nil") == ["2"])
        try await reload(fixture, isDivided ? parts : one)
        try await fixture.sync("api/people")
        fixture.clock.advance(by: .seconds(31 * 86_400))
        try await fixture.sync("api/people")
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        try await fixture.end()
    }

    // What a part had stays when it is none any more, and is its own again when it comes back.
    @Test func aPartThatIsNoneAnyMoreLosesNothing() async throws {
        let fixture = try await api.fixture(Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}, {"id": 2}]"#, etag: "\"1\"")
        api.set("/people?region=us", #"[{"id": 3}]"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people("us"))
        for _ in 1...2 { try await fixture.sync("api/people") }
        #expect(try await fixture.live() == ["1", "2", "3"])
        #expect(try status(fixture) == ["eu removed", "us ok"])
        try await reload(fixture, Self.people("eu", "us"))
        let report = try await fixture.sync("api/people")
        #expect(report.notModifiedPages == 2)
        #expect(try status(fixture) == ["eu ok", "us ok"])
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // It lists the row before the other part concludes that it lacks it.
    @Test func aRowThatMovesToAPartThatComesBackStays() async throws {
        let fixture = try await api.fixture(Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        api.set("/people?region=us", #"[{"id": 2}, {"id": 3}]"#)
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people("us"))
        try await fixture.sync("api/people")
        #expect(try status(fixture) == ["eu removed", "us ok"])
        try await reload(fixture, Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}, {"id": 3}]"#)
        api.set("/people?region=us", #"[{"id": 2}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    private func names(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
                "\($0.value(forKey: "id") ?? "-") \($0.value(forKey: "name") ?? "-")"
            }.sorted()
        }
    }

    // Records that are the same as before are left out only where nobody else writes their rows, and another part may.
    @Test func whatAnotherPartSaidIsReadOver() async throws {
        let fixture = try await api.fixture(Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1, "name": "a"}, {"id": 2}]"#)
        api.set("/people?region=us", #"[{"id": 1, "name": "b"}]"#)
        try await fixture.sync("api/people")
        #expect(try await names(fixture) == ["1 b", "2 -"])
        api.set("/people?region=eu", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "c"}]"#)
        api.set("/people?region=us", #"[{"id": 3}]"#)
        try await fixture.sync("api/people")
        #expect(try await names(fixture) == ["1 a", "2 c", "3 -"])
        try await fixture.end()
    }

    // A part wrote the row meanwhile, in a run that did not come to all of them.
    @Test func whatAPartSaidMeanwhileIsReadOver() async throws {
        let fixture = try await api.fixture(Self.people())
        api.set("/people", #"[{"id": 1, "name": "a"}, {"id": 2}]"#)
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1, "name": "b"}]"#)
        api.set("/people?region=us", "not JSON")
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await names(fixture) == ["1 b", "2 -"])
        try await reload(fixture, Self.people())
        api.set("/people", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "c"}]"#)
        try await fixture.sync("api/people")
        #expect(try await names(fixture) == ["1 a", "2 c"])
        try await fixture.end()
    }

    // Another part has taken its place: whoever lists a row now decides about it.
    @Test func aPartThatIsNoneAnyMoreKeepsNothingFromGoing() async throws {
        let fixture = try await api.fixture(Self.people("eu", "us"))
        api.set("/people?region=eu", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people?region=europe", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people?region=us", "[]")
        try await fixture.sync("api/people")
        try await reload(fixture, Self.people("europe", "us"))
        try await fixture.sync("api/people")
        api.set("/people?region=europe", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // What somebody has let through stays let through until a run could do it.
    @Test func acceptedDeletionsWaitForAPartThatCannotBeRead() async throws {
        let configuration = Self.people("eu", "us").replacing("max_fraction = 1.0", with: "max_fraction = 0.1")
            .replacing("[defaults.schedule]", with: "[defaults.retry]\nattempts = 1\n[defaults.schedule]")
        let fixture = try await PipelineFixture(configuration, savesAtOnce: true) { [api] request, _ in api.answer(request) }
        api.set("/people?region=eu", "[\((0..<30).map { #"{"id": \#($0)}"# }.joined(separator: ","))]")
        api.set("/people?region=us", "[]")
        try await fixture.sync("api/people")
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 29)
        api.set("/people?region=eu", "", status: 500)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.acceptDeletes("api/people")
        try await fixture.finished(3)
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1"])
        // Once is once.
        api.set("/people?region=eu", "[\((0..<30).map { #"{"id": \#($0)}"# }.joined(separator: ","))]")
        try await fixture.sync("api/people")
        api.set("/people?region=eu", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live().count == 30)
        try await fixture.end()
    }

    // A store that was written before there were parts.
    @Test func aStoreOfAnEarlierVersionIsOpened() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        let store = folder.appendingPathComponent("StoreContent/persistentStore")
        try FileManager.default.createDirectory(at: store.deletingLastPathComponent(), withIntermediateDirectories: true)
        let configuration = try PipelineFixture.configuration(Self.people()), model = try SyncPipeline.model(for: configuration)
        for entity in model.entities {
            let added = ["CisternResource": ["partition", "resumeAt"], "CisternQuarantine": ["partition"]][entity.name ?? ""] ?? []
            entity.properties.removeAll { added.contains($0.name) }
            entity.uniquenessConstraints = entity.uniquenessConstraints.map { $0.filter { "\($0)" != "partition" } }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: [SQLiteRowSumsOption: true])
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            let row = NSEntityDescription.insertNewObject(forEntityName: "CisternResource", into: context)
            for (key, value) in ["source": "api", "resource": "people"] { row.setValue(value, forKey: key) }
            row.setValue(true, forKey: "isPaused")
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let document = UIManagedDocument(fileURL: folder, model: try SyncPipeline.model(for: configuration), autosavePolicy: AutosavePolicy())
        document.persistentStoreOptions = [
            SQLiteRowSumsOption: true, NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        try document.openStore(creating: true)
        let (statuses, schedules) = try await RunState.loadAll(document: document)
        #expect(statuses.keys.map(\.description) == ["api/people"] && schedules.values.first?.isPaused == true)
        let isKnown = try await document.withWorker { worker in
            let scope = ResourceScope(source: "api", resource: "people")
            return try !ResourceTable.row(of: scope, in: worker).isNew && ResourceTable.parts(of: scope, in: worker).isEmpty
        }
        #expect(isKnown)
        try await document.close()
        try FileManager.default.removeItem(at: folder)
    }
}
