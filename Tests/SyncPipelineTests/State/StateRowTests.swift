import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

@Suite struct StateRowTests {
    /// A store may have been written by others.
    @Test(arguments: [Int64.max, .min, -1])
    func aCounterThatNothingCanHaveCountedStopsNoRun(_ value: Int64) async throws {
        let api = ScriptedAPI()
        let fixture = try await api.fixture(ScriptedAPI.people())
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        try await fixture.document.withWorker { worker in
            var row = try StateRow.find(StateModel.resource, key: [.string("api"), .string("people")], in: worker)
            for name in ["runNumber", "consecutiveFailures", "heldDeletes", "rows", "pages", "httpStatus"] { row[name] = .int64(value) }
            row.write(in: worker)
            try worker.save()
        }
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, etag: "\"2\"")
        #expect(try await fixture.sync().first?.outcome == .succeeded)
        api.set("/people", "[", etag: "\"3\"")
        #expect(try await fixture.sync().first?.outcome == .failed)
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        try await fixture.end()
    }
}
