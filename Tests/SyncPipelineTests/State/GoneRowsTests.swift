import Foundation
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What is kept of rows whose records say that they are gone, until a run removes them.
@Suite struct GoneRowsTests {
    private let api = ScriptedAPI()
    private let scope = ResourceScope(source: "api", resource: "people")

    private func kept(_ fixture: PipelineFixture, _ entity: String = "Person") async throws -> KeyRuns {
        try await fixture.document.withWorker { [scope] worker in
            GoneRows.load(of: entity, among: try StoredKeys.entries(of: scope, in: worker))
        }
    }

    @Test func ofTwoPagesTheLaterOneCounts() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        try await fixture.document.withWorker { [scope] worker in
            func note(_ gone: KeyRuns, listed: KeyRuns, page: String, entity: String = "Person") throws {
                try GoneRows.note(gone, listed: listed, page: page, of: scope, entity: entity, in: worker)
            }
            try note([], listed: [1, 2], page: "1")
            #expect(try StoredKeys.entries(of: scope, in: worker).isEmpty)
            try note([1, 2, 3], listed: [], page: "2")
            try note([4], listed: [2], page: "3")
            try note([9], listed: [], page: "4", entity: "Team")
            try worker.save()
        }
        #expect(try await kept(fixture) == [1, 3, 4])
        try await fixture.document.withWorker { [scope] worker in
            #expect(try GoneRows.areThere(of: scope, entity: "Person", in: worker))
            GoneRows.keep([4], of: "Person", among: try StoredKeys.entries(of: scope, in: worker), in: worker)
            try worker.save()
        }
        // Keys of another entity mean nothing here.
        #expect(try await kept(fixture) == [4])
        #expect(try await kept(fixture, "Team") == [])
        try await fixture.end()
    }

    @Test func whatIsGoneAndHasNoRowIsSaidAllTheSame() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        for (gone, saysSo) in [([], true), ([1], true), ([], true), ([], false)] as [(KeyRuns, Bool)] {
            let isSaid = try await fixture.document.withWorker { [scope] worker in
                try GoneRows.note(gone, saysSo: saysSo, listed: [], page: "1", of: scope, entity: "Person", in: worker)
                try worker.save()
                return try GoneRows.areSaid(byPage: "1", of: scope, in: worker)
            }
            #expect(isSaid == saysSo)
        }
        try await fixture.end()
    }

    @Test func anUnchangedPageSaysWhatItSaid() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        try await fixture.document.withWorker { [scope] worker in
            try GoneRows.note([1, 2], listed: [], page: "1", of: scope, entity: "Person", in: worker)
            try GoneRows.note([], listed: [1, 2, 3], page: "2", of: scope, entity: "Person", in: worker)
            #expect(try !GoneRows.areThere(of: scope, entity: "Person", in: worker))
            try GoneRows.noteAgain(page: "1", of: scope, entity: "Person", in: worker)
            try worker.save()
        }
        #expect(try await kept(fixture) == [1, 2])
        // What it lists is there.
        try await fixture.document.withWorker { [scope] worker in
            try StoredKeys.set(KeyRuns([2]).data, .members, of: scope, page: "3", in: worker)
            try GoneRows.noteAgain(page: "3", of: scope, entity: "Person", in: worker)
            try worker.save()
        }
        #expect(try await kept(fixture) == [1])
        try await fixture.end()
    }

    // The process ended after the page was saved, and before anything followed from it. The page has not changed since.
    @Test func whatAnEarlierRunLeftUndoneIsDone() async throws {
        let fixture = try await api.fixture(DeletionRecordTests.people())
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        try await fixture.document.withWorker { [scope] worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "id == 2")
            let key = try #require(try worker.fetch(request).first).objectID.key
            try GoneRows.note([key], listed: [], page: "other", of: scope, entity: "Person", in: worker)
            try worker.save()
        }
        #expect(try await fixture.sync().map(\.counts.deleted) == [1])
        #expect(try await fixture.live() == ["1"])
        #expect(try await kept(fixture) == [])
        try await fixture.end()
    }

    // Rows are asked of their records no more, and what was said of them then says nothing.
    @Test func whatNobodyAsksForAnyMoreIsForgotten() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gone-\(UUID().uuidString)")
        let held = DeletionRecordTests.people("path = \"$.deleted\", max_count = 0")
        var fixture = try await PipelineFixture(held, folder: folder) { [api] request, _ in api.answer(request) }
        api.set("/people", #"[{"id": 1}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1, "deleted": true}]"#)
        try await fixture.sync()
        #expect(try await kept(fixture).count == 1)
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let plain = ScriptedAPI.configuration(ScriptedAPI.resource("people")), now = Date(timeIntervalSince1970: 1_735_776_000)
        fixture = try await PipelineFixture(plain, folder: folder, now: now) { [api] request, _ in api.answer(request) }
        try await fixture.sync()
        #expect(try await kept(fixture) == [])
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }
}
