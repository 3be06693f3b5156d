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
            var row = try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: worker)
            (row.runNumber, row.consecutiveFailures, row.heldDeletes) = (value, Int(value), Int(value))
            (row.rows, row.pages, row.httpStatus) = (Int(value), Int(value), Int(value))
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
