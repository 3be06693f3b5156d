package import Foundation
import OpenCoreData
package import SyncConfiguration
import SyncPipeline
import SyncReports

/// Runs tests: each through a whole pipeline of its own, over a store of its own, without network and on a clock of its own.
package struct TestRunner: Sendable {
    private let configuration: CisternConfiguration
    private let folder: URL
    private let version: String

    /// - Parameters:
    ///   - folder: where stores are made; none is left there.
    ///   - version: of the program, as it stands in requests.
    package init(_ configuration: CisternConfiguration, folder: URL, version: String) {
        self.configuration = configuration
        self.folder = folder
        self.version = version
    }

    /// What is different from what the test says; empty: nothing.
    /// - Throws: what keeps the test from being run at all: `SyncError` for a configuration that no pipeline can run or a resource that is not in it,
    ///   and what the disk says.
    package func run(_ test: ConfigurationTest) async throws -> [TestDifference] {
        try await with(test) { stage in
            var differences: [TestDifference] = []
            for (index, run) in test.runs.enumerated() {
                let course = try await stage.perform(run, isFirst: index == 0)
                differences += try await run.differences(from: course, on: stage)
            }
            return differences
        }
    }

    /// Makes what a test runs on, and removes it whatever happens.
    func with<Result: Sendable>(_ test: ConfigurationTest, _ body: (TestStage) async throws -> Result) async throws -> Result {
        let place = folder.appendingPathComponent("cistern-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let stage = try TestStage(test, prepared(for: test), folder: place, version: version)
        try await stage.start()
        let result: Result
        do {
            result = try await body(stage)
        } catch {
            try? await stage.end()
            throw error
        }
        try await stage.end()
        return result
    }

    /// The configuration as it is, but that disks may be full and that what a test names is read although it is switched off.
    private func prepared(for test: ConfigurationTest) -> CisternConfiguration {
        var configuration = configuration
        configuration.store.minFreeDisk = .bytes(0)
        let named = Set(test.runs.flatMap { $0.scopes ?? [] })
        for source in configuration.sources.indices {
            for resource in configuration.sources[source].resources.indices {
                let scope = configuration.sources[source].resources[resource].scope, name = configuration.sources[source].name
                // What is kept for a replay nobody would read.
                configuration.sources[source].resources[resource].schema.raw = .none
                if named.contains(scope) || named.contains(name) { configuration.sources[source].resources[resource].isEnabled = true }
                if let limit = test.maxPages {
                    let limits = configuration.sources[source].resources[resource].limits
                    configuration.sources[source].resources[resource].limits.maxPages = min(limits.maxPages, limit)
                }
            }
        }
        return configuration
    }
}

extension TestRunner {
    /// Makes a test's first run through other transports than those of its exchanges; what comes of it is kept nowhere.
    ///
    /// - Parameter transports: shut down afterwards.
    func fetch(
        _ test: ConfigurationTest, through transports: TransportPool, secrets: SecretResolver, clock: any SyncClock
    ) async throws -> RunReport? {
        let place = folder.appendingPathComponent("cistern-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let configuration = prepared(for: test)
        let document = UIManagedDocument(
            fileURL: place, model: try SyncPipeline.model(for: configuration), autosavePolicy: AutosavePolicy(configuration.document))
        try document.openStore(creating: true)
        let pipeline = try SyncPipeline(
            document: document, configuration: configuration, transports: transports, clock: clock, secrets: secrets, version: version
        ) { _ in }
        try await pipeline.start(armed: false)
        let result: Result<RunReport?, any Error>
        do {
            var report: RunReport?
            for scope in test.runs[0].scopes ?? [] { report = try await pipeline.sync(scope, cause: .control, wait: true).first ?? report }
            result = .success(report)
        } catch {
            result = .failure(error)
        }
        await pipeline.stop(grace: .zero)
        await pipeline.ended()
        try await document.close()
        return try result.get()
    }
}
