import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What a reload puts into force besides resources: what the configuration's difference calls settings that take effect at once.
@Suite struct ReloadTests {
    private static func configuration(slots: Int, parses: Int, interval: String, names: Int = 2) -> String {
        let resources = (0..<names).map { number in
            """
              [[source.resource]]
              name = "items\(number)"
              entity = "Item"
              path = "/items\(number)"
            """
        }
        return """
            version = 1
            [daemon]
            contact = "test@localhost"
            max_parallel_requests = \(slots)
            max_parallel_parses = \(parses)
            [document]
            autosave_interval = "\(interval)"
            autosave_changes = \(slots * 10)
            [defaults.schedule]
            every = "1h"
            [[source]]
            name = "api"
            base_url = "https://api.example"
            \(resources.joined(separator: "\n"))
            [entity.Item]
            key = ["id"]
            [entity.Item.attributes]
            id = { type = "int64", optional = false }
            """
    }

    @Test func limitsOfWorkAndAutosavingAreInForceAtOnce() async throws {
        let gate = Gate()
        let fixture = try await PipelineFixture(Self.configuration(slots: 1, parses: 1, interval: "15s")) { _, _ in
            await gate.wait()
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8))
        }
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        while fixture.pipeline.slots.waiting != 1 { await Task.yield() }
        try await fixture.pipeline.reload(PipelineFixture.configuration(Self.configuration(slots: 2, parses: 3, interval: "4s")))
        while gate.count != 2 { await Task.yield() }
        #expect(fixture.pipeline.slots.waiting == 0)
        #expect(fixture.pipeline.parseQueue.maxConcurrentOperationCount == 3)
        #expect(fixture.document.autosavePolicy == AutosavePolicy(interval: 4, changes: 20))
        gate.open()
        try await fixture.finished(2)
        try await fixture.end()
    }

    /// A page that was answered says nothing of the server that answers no more: the tool's exit status is that of a server that cannot be reached.
    @Test func aRequestWithoutAnAnswerHasNoStatusOfAnEarlierPage() async throws {
        let text = Self.configuration(slots: 1, parses: 1, interval: "15s", names: 1).replacingOccurrences(
            of: "path = \"/items0\"", with: "path = \"/items0\"\n  pages = { kind = \"link-header\" }\n  retry = { attempts = 1 }")
        let fixture = try await PipelineFixture(text) { request, _ in
            guard request.address.url.path.hasSuffix("items0") else { throw FetchError(.connect, detail: "refused") }
            return .response(
                status: 200, headers: ["Content-Type": "application/json", "Link": "<https://api.example/next>; rel=\"next\""],
                body: Array(#"[{"id": 1}]"#.utf8))
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.failure == .fetch && report.httpStatus == nil)
        try await fixture.end()
    }
}
