import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What a run makes of a page and what a trial shows of it come from one recipe.
@Suite struct PageRecipeTests {
    /// A kind of listing: what its resource says, and its pages by path and query, each with its headers.
    struct Listing: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var resource: String
        var pages: [(path: String, body: String, headers: [(String, String)])]
    }

    /// Two records, and one that has no key.
    private static let first = #"[{"id": 1, "name": "Ada"}, {"name": "nobody"}, {"id": 2}]"#
    private static let second = #"[{"id": 3, "name": "Bo"}]"#

    static let listings = [
        Listing(testDescription: "none", resource: "", pages: [("/people", first, [])]),
        Listing(testDescription: "a lone object", resource: "", pages: [("/people", #"{"id": 1, "name": "Ada"}"#, [])]),
        Listing(
            testDescription: "link-header", resource: "pages = { kind = \"link-header\" }",
            pages: [("/people", first, [("Link", "</people?page=2>; rel=next")]), ("/people?page=2", second, [])]),
        Listing(
            testDescription: "page, with counts in the body",
            resource: """
                records = "/data"
                pages = { kind = "page", size_param = "", stop = { total = "$.total", total_pages = "/pages", has_more = "$.more" } }
                """,
            pages: [
                ("/people?page=1", "{\"total\": 4, \"pages\": \"2\", \"more\": true, \"data\": \(first)}", []),
                ("/people?page=2", "{\"total\": 4, \"pages\": \"2\", \"more\": false, \"data\": \(second)}", []),
            ]),
        Listing(
            testDescription: "page, with a count that cannot be read",
            resource: "records = \"$.data\"\npages = { kind = \"page\", size_param = \"\", stop = { total = \"$.total\" } }",
            pages: [("/people?page=1", "{\"total\": {}, \"data\": \(first)}", []), ("/people?page=2", "{\"total\": 3, \"data\": []}", [])]),
        Listing(
            testDescription: "offset", resource: "pages = { kind = \"offset\" }",
            pages: [
                ("/people?offset=0&limit=100", first, []), ("/people?offset=3&limit=100", second, []),
                ("/people?offset=4&limit=100", "[]", []),
            ]),
        Listing(
            testDescription: "keyset", resource: "pages = { kind = \"keyset\", from = \"$.id\" }",
            pages: [("/people", first, []), ("/people?after=2", second, []), ("/people?after=3", "[]", [])]),
        Listing(
            testDescription: "keyset, in a page that is not cut",
            resource: "records = \"$.data\"\npages = { kind = \"keyset\", from = \"$.id\", stop = { has_more = \"$.data[0].more\" } }",
            pages: [("/people", "{\"data\": \(first)}", []), ("/people?after=2", "{\"data\": []}", [])]),
        Listing(
            testDescription: "body-link", resource: "records = \"$.data\"\npages = { kind = \"body-link\", path = \"$.paging.next\" }",
            pages: [
                ("/people", "{\"paging\": {\"next\": \"?page=2\"}, \"data\": \(first)}", []),
                ("/people?page=2", "{\"paging\": {}, \"data\": \(second)}", []),
            ]),
        Listing(
            testDescription: "cursor in the body", resource: "records = \"$.data\"\npages = { kind = \"cursor\", path = \"$.next\" }",
            pages: [
                ("/people", "{\"next\": \"abc\", \"data\": \(first)}", []),
                ("/people?cursor=abc", "{\"next\": null, \"data\": \(second)}", []),
            ]),
        Listing(
            testDescription: "cursor in the body, behind several lists",
            resource: "records = \"$.groups[*].people\"\npages = { kind = \"cursor\", path = \"$.next\" }",
            pages: [
                ("/people", "{\"groups\": [{\"people\": \(first)}, {\"people\": []}, {\"people\": {\"id\": 4}}], \"next\": \"abc\"}", []),
                ("/people?cursor=abc", "{\"groups\": [{\"people\": \(second)}], \"next\": null}", []),
            ]),
        Listing(
            testDescription: "keyset, in a map", resource: "records = \"$.*\"\npages = { kind = \"keyset\", from = \"$.id\" }",
            pages: [
                ("/people", #"{"a": {"id": 1, "name": "Ada"}, "b": {"name": "nobody"}, "c": [{"id": 2}, {"id": 5}]}"#, []),
                ("/people?after=5", #"{"d": {"id": 3}}"#, []), ("/people?after=3", "{}", []),
            ]),
        Listing(
            testDescription: "cursor in the body, beside other objects",
            resource: """
                records = "$.data"
                pages = { kind = "cursor", path = "$.next" }
                also = [{ records = "$.parents[*]", entity = "Person" }]
                """,
            pages: [
                ("/people", "{\"parents\": [{\"id\": 7, \"name\": \"Cy\"}, {\"name\": \"nobody\"}, 5], \"data\": \(first), \"next\": \"abc\"}", []),
                ("/people?cursor=abc", "{\"data\": \(second), \"parents\": null, \"next\": null}", []),
            ]),
        Listing(
            testDescription: "cursor in a header", resource: "pages = { kind = \"cursor\", header = \"X-Next\" }",
            pages: [("/people", first, [("X-Next", "abc")]), ("/people?cursor=abc", second, [])]),
    ]

    @Test(arguments: listings) func aRunAndATrialMakeTheSameOfEachPage(listing: Listing) async throws {
        let api = ScriptedAPI()
        for page in listing.pages { api.set(page.path, page.body, headers: .init(page.headers)) }
        let toml = ScriptedAPI.people(listing.resource)
        let fixture = try await api.fixture(toml)
        let configuration = try PipelineFixture.configuration(toml)
        let resource = configuration.sources[0].resources[0]
        let run = try await parse(resource, configuration, of: fixture)

        let transport = StubTransport { request, _ in api.answer(request) }
        let trial = try await PageTrial.run(
            resource, configuration: configuration, transports: TransportPool { _ in transport }, clock: fixture.clock, secrets: .none,
            version: "test", pages: 10)
        let requests = listing.pages.map { "https://api.example\($0.path)" }
        #expect(fixture.transport.requests.map(\.address.description) == requests)
        #expect(transport.requests.map(\.address.description) == requests)
        #expect(trial.map(\.facts) == run.map(\.facts))
        #expect(trial.map(\.counts) == run.map(\.counts))
        let shown = trial.map { $0.rejected.map { "\($0.record) \($0.reason) \($0.path)" } }
        let kept = run.map { $0.rejected.map { "\($0.record) \($0.reason) \($0.path)" } }
        #expect(shown == kept)
        let ids = trial.flatMap(\.objects).flatMap(\.values).filter { $0.name == "id" }.map(\.value)
        #expect(try await Set(ids) == Set(fixture.values("id", of: "Person")))
        try await fixture.end()
    }

    /// The pages of the listing as a run reads and saves them.
    private func parse(
        _ resource: ResourceConfiguration, _ configuration: CisternConfiguration, of fixture: PipelineFixture
    ) async throws -> [ParsedPage] {
        let settings = try FetchSettings(resource: resource, daemon: configuration.daemon, version: "test", secrets: .none)
        let recipe = PageRecipe(
            resource: resource, mapping: ModelMapping(configuration.model, model: fixture.document.managedObjectModel).reading(resource),
            settings: settings)
        let environment = FetchEnvironment(settings: settings, transport: fixture.transport, clock: fixture.clock)
        var pagination = Pagination(resource.pagination, limits: resource.limits, first: settings.first)
        var result: [ParsedPage] = []
        while true {
            let request = pagination.request
            guard case .page(let page) = await PageFetch(request, environment: environment).run() else { throw Unexpected() }
            let operation = ParseOperation(
                ParseOperation.Input(
                    document: fixture.document, recipe: recipe, scope: ResourceScope(source: resource.source, resource: resource.name), run: 1,
                    pageNumber: result.count + 1, requestKey: request.key, fingerprint: recipe.mapping.fingerprint(of: resource),
                    isRemembered: true, comparison: RecordComparison(), page: page, packing: nil, badRecords: 0, now: fixture.clock.wallTime,
                    probe: nil))
            result.append(try await OperationQueue().run(operation))
            guard case .next = pagination.advance(result[result.count - 1].facts) else { return result }
        }
    }

    // What is too much for the memory is in a file that nobody sees, beside the store.
    @Test func aListTooLongForTheMemoryWaitsBesideTheStore() async throws {
        let records = (0..<6000).map { #"{"id": \#($0), "name": "\#(String(repeating: "x", count: 1000))"}"# }
        let api = ScriptedAPI()
        api.set("/people", "[\(records.joined(separator: ","))]")
        let fixture = try await api.fixture(ScriptedAPI.people())
        let folder = fixture.document.fileURL.path, files = Mutex<Set<String>>([])
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 1000) { _, _ in
                let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
                let targets = open.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                files.withLock { $0.formUnion(targets.filter { $0.hasPrefix(folder) && $0.hasSuffix(" (deleted)") }) }
            }
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.inserted == 6000)
        #expect(files.withLock { $0.count } == 1)
        try await fixture.end()
    }

    @Test func aTrialCountsBadRecordsOverItsPagesAsARunDoes() async throws {
        let api = ScriptedAPI()
        api.set("/people", #"[{"id": 1}, {}]"#, headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", #"[{"id": 2}, {}]"#)
        let toml = ScriptedAPI.people("pages = { kind = \"link-header\" }\nlimits = { max_bad_records = 1 }")
        let fixture = try await api.fixture(toml)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed)
        let configuration = try PipelineFixture.configuration(toml)
        let transport = StubTransport { request, _ in api.answer(request) }
        let error = await #expect(throws: SyncError.self) {
            try await PageTrial.run(
                configuration.sources[0].resources[0], configuration: configuration, transports: TransportPool { _ in transport },
                clock: fixture.clock, secrets: .none, version: "test", pages: 10)
        }
        #expect(report.error?.contains(try #require(error?.inWords)) == true)
        try await fixture.end()
    }
}
