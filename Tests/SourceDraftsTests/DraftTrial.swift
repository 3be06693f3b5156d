import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncPipeline
import SyncTestSupport
import Testing

@testable import SourceDrafts

/// Drafts, and what a configuration and a page make of them.
enum DraftTrial {
    static let address = "https://api.example/items"

    static func draft(
        _ body: String, _ address: String = address, headers: [(name: String, value: String)] = []
    ) throws -> SourceDraft {
        try SourceDraft(Sample(body: Array(body.utf8), headers: headers, origin: try SampleOrigin(address)))
    }

    /// The text without comments, empty lines, and what each draft has.
    static func settings(_ draft: SourceDraft) -> [String] {
        draft.toml.split(separator: "\n").map { line in
            let remark = line.range(of: "  # ")
            return String(remark.map { line[..<$0.lowerBound] } ?? line)
        }.filter { line in
            !line.hasPrefix("#") && line != "version = 1" && line != "[[source]]" && !line.hasPrefix("name = \"") && !line.hasPrefix("url = \"")
        }
    }

    static func reading(_ draft: SourceDraft) -> ConfigurationReading {
        ConfigurationReader(path: "/draft.toml", files: ConfigurationTexts(["/draft.toml": draft.toml])).read()
    }

    /// A draft can be used, and makes a model.
    static func configuration(_ draft: SourceDraft) throws -> CisternConfiguration {
        let reading = reading(draft)
        let configuration = try #require(reading.configuration, "\(reading.errors)\n\(draft.toml)")
        _ = try SyncPipeline.model(for: configuration)
        return configuration
    }

    /// What the first page becomes of which the draft was made.
    static func page(_ draft: SourceDraft, body: [UInt8]) async throws -> PageTrial.Page {
        let configuration = try configuration(draft)
        let transport = StubTransport(.response(status: 200, headers: ["Content-Type": "application/json"], body: body))
        let pages = try await PageTrial.run(
            configuration.sources[0].resources[0], configuration: configuration, transports: TransportPool { _ in transport },
            clock: SystemClock(), secrets: .none, version: "test", pages: 1, objects: 1000)
        return try #require(pages.first)
    }
}
