import Foundation
import SyncConfiguration
import SyncPipeline
import TestTraits
import Testing

@testable import SourceDrafts

/// Answers of public services and published data sets.
@Suite(.enabled(if: TestData.has("SOURCES.md"), "needs the collected documents of the test data (CISTERN_TEST_DATA)"))
struct RealAnswerTests {
    @Test(.longComputation) func realAnswersHaveDraftsThatCanBeUsed() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: TestData.directory.path).filter {
            $0.hasSuffix(".json") && !$0.hasPrefix("JSONTestSuite")
        }
        var drafted = 0
        for path in paths {
            let bytes = try TestData.bytes(path)
            do {
                _ = try DraftTrial.configuration(try SourceDraft(Sample(body: bytes, origin: try SampleOrigin("https://api.example/\(path)"))))
                drafted += 1
            } catch is SourceDraftError {
                // Malformed, or without a record.
            }
        }
        #expect(drafted * 10 > paths.count * 7, "\(drafted) of \(paths.count)")
    }

    @Test(arguments: [
        ("simdjson-examples/twitter.json", "$.statuses", "id", 100), ("iso-codes/iso_3166-1.json", "$['3166-1']", "alpha_2", 249),
        ("geo/countries.json", "", "id", 250), ("github-recorded/issues-page5.json", "", "id", 100),
    ]) func recordsAndKeysAreThoseThatAPersonWouldChoose(_ path: String, _ records: String, _ key: String, _ count: Int) async throws {
        guard TestData.has(path) else { return }
        let bytes = try TestData.bytes(path)
        let draft = try SourceDraft(Sample(body: bytes, origin: try SampleOrigin("https://api.example/\(path)")))
        #expect(draft.recordCount == count)
        #expect(DraftTrial.settings(draft).contains("records = \"\(records)\"") == !records.isEmpty)
        let resource = try DraftTrial.configuration(draft).sources[0].resources[0]
        #expect(resource.key == [key])
        #expect(try await DraftTrial.page(draft, body: bytes).rejected.isEmpty)
    }
}
