import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What went wrong is told as a value, beside its sentence: nothing is decided by words.
@Suite struct RunFailureTests {
    @Test(arguments: [
        (StubTransport.Answer.failure(FetchError(.tls, detail: "expired")), RunFailure.tls),
        (.failure(FetchError(.dnsNotFound)), .fetch), (.response(status: 404, body: Array("TLS failed".utf8)), .fetch),
        (.response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[".utf8)), .page),
        (.response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"[{"id": "x"}]"#.utf8)), .page),
    ])
    func aRunThatFailsSaysOfWhat(_ answer: StubTransport.Answer, _ failure: RunFailure) async throws {
        let fixture = try await PipelineFixture(ScriptedAPI.people("retry = { attempts = 1 }")) { _, _ in answer }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.failure == failure, "\(report.error ?? "")")
        try await fixture.end()
    }

    // Whom nobody asked anything is not to blame.
    @Test func aBodyThatCannotBeSetAsideIsTheStoresFailure() {
        #expect(RunFailure(FetchError(.spool)) == .store)
        #expect(RunFailure(FetchError(.tooLarge(.body))) == .fetch)
    }

    @Test func aRunThatSucceedsHasNoFailure() async throws {
        let api = ScriptedAPI()
        api.set("/people", #"[{"id": 1}]"#)
        let fixture = try await api.fixture(ScriptedAPI.people())
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.failure == nil)
        try await fixture.end()
    }

    @Test(arguments: [(13, SaveFailureCause.full), (5, .passing), (11, .disk), (19, .refused)])
    func aSaveThatFailsSaysWhyAndTheNextOneThatItRecovered(_ code: Int, _ cause: SaveFailureCause) async throws {
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people())
        let error = NSError(domain: NSSQLiteErrorDomain, code: code)
        for _ in 1...2 { fixture.pipeline.documentDid(.saveFailed(error, kind: SaveFailure(error))) }
        for _ in 1...2 { fixture.pipeline.documentDid(.saved) }
        let told = fixture.events.compactMap { event -> SaveFailureCause?? in
            switch event {
            case .saveFailed(_, let cause): .some(cause)
            case .saveRecovered: .some(nil)
            default: nil
            }
        }
        #expect(told == [cause, cause, nil])
        try await fixture.end()
    }
}
