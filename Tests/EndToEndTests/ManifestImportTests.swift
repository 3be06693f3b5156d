import Foundation
import ManifestTestSupport
import SyncTestSupport
import Testing

/// Manifests of Airbyte through the programs, against services that behave as they say.
@Suite struct ManifestImportTests {
    /// The traits that streams have most often, on services that authenticate in different ways.
    private static let services: [String] = (try? ManifestTraits.fixture()).map { StreamFacts.grouped($0).map(\.connector) } ?? []

    @Test(.timeLimit(.minutes(60)), arguments: services) func whatIsImportedIsMirroredAsTheServiceHasIt(service: String) async throws {
        let facts = try ManifestTraits.fixture().filter { $0.connector == service }
        let results = try await ManifestTrial(connector: service, facts: facts).run()
        var report = ManifestReport()
        report.add(service, results)
        for line in report.lines { Evidence.note(line) }
        #expect(report.failures == [], "\(service)")
        #expect(results.count >= facts.count)
    }

    @Test func theMostFrequentTraitsAreThere() throws {
        let facts = try ManifestTraits.fixture()
        #expect(Self.services.count == 14 && facts.count >= 60)
    }
}

/// The same with the traits of whole connectors, where they are to be had: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct ManifestImportStress {
    @Test(.enabled(if: ManifestTraits.sample != nil, "\(TestData.absent)"))
    func whatIsImportedOfEveryConnectorIsMirroredAsTheServiceHasIt() async throws {
        let path = try #require(ManifestTraits.sample)
        let facts = try StreamFacts.list(json: Data(contentsOf: URL(fileURLWithPath: path)))
        let wanted = ProcessInfo.processInfo.environment["CISTERN_CONNECTOR"]
        let groups = StreamFacts.grouped(facts).filter { wanted == nil || $0.connector == wanted }
        var report = ManifestReport()
        await withTaskGroup(of: (String, [ManifestTrial.Result]).self) { group in
            var rest = groups[...]
            func start() {
                guard let next = rest.popFirst() else { return }
                group.addTask {
                    do {
                        let results = try await ManifestTrial(connector: next.connector, facts: next.streams).run()
                        return (next.connector, results)
                    } catch {
                        return (next.connector, next.streams.map { ManifestTrial.Result(stream: $0.stream, outcome: .failed("\(error)")) })
                    }
                }
            }
            // Each is a daemon and its tool at work.
            for _ in 0..<2 { start() }
            while let (connector, results) = await group.next() {
                report.add(connector, results)
                start()
            }
        }
        for line in report.lines {
            print(line)
            Evidence.note(line)
        }
        #expect(report.failures == [])
    }
}
