import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline
import SyncReports

/// What one test runs on: a pipeline with a store, a clock and a transport, all of them nobody else's.
final class TestStage: Sendable {
    let configuration: CisternConfiguration
    let document: UIManagedDocument
    let pipeline: SyncPipeline
    let secrets: TestSecrets
    private let clock: TestClock
    private let transport: ExchangeTransport

    /// - Parameter folder: there, and empty.
    init(_ test: ConfigurationTest, _ configuration: CisternConfiguration, folder: URL, version: String) throws {
        self.configuration = configuration
        secrets = TestSecrets(values: test.secrets)
        clock = TestClock(test.start)
        let transport = ExchangeTransport(secrets: secrets)
        self.transport = transport
        document = UIManagedDocument(
            fileURL: folder, model: try SyncPipeline.model(for: configuration), autosavePolicy: AutosavePolicy(configuration.document))
        pipeline = try SyncPipeline(
            document: document, configuration: configuration, transports: TransportPool { _ in transport }, clock: clock,
            secrets: secrets.resolver, tokens: TokenPool(), version: version, random: RandomSource { 0.5 }
        ) { _ in }
    }

    func start() async throws {
        try document.openStore(creating: true)
        try await pipeline.start(armed: false)
    }

    func end() async throws {
        await pipeline.stop(grace: .zero)
        await pipeline.ended()
        try await document.close()
    }

    /// Makes a run, one resource after the other.
    func perform(_ run: TestRun, isFirst: Bool) async throws -> TestCourse {
        if !isFirst { clock.advance(by: run.delay.duration) }
        transport.begin(run.exchanges)
        var reports: [RunReport] = []
        let scopes = try run.scopes?.flatMap { try pipeline.scopes($0) } ?? pipeline.scopes(nil)
        for scope in scopes {
            if let soonest = pipeline.soonestRun(of: scope) { clock.advance(to: soonest) }
            reports += try await pipeline.sync("\(scope)", cause: .control, full: run.isFull, wait: true)
        }
        return TestCourse(reports: reports, asked: transport.asked)
    }
}

/// How a run went.
struct TestCourse: Sendable {
    /// One for each resource, in the order in which they were read.
    let reports: [RunReport]
    /// What was asked, in order.
    let asked: [ExchangeTransport.Asked]
}
