import Foundation
import GRDB
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What is remembered of the pages of a long listing is read at once, and is as good as if each page had been asked for.
@Suite struct KnownRequestsTests {
    private let api = ScriptedAPI()
    private static let scope = ResourceScope(source: "api", resource: "people")
    private static let count = 8
    private static let toml = ScriptedAPI.people("pages = { kind = \"page\", param = \"page\", size = 2, size_param = \"size\" }")
    private static let embedding = ScriptedAPI.people(
        "pages = { kind = \"page\", param = \"page\", size = 2, size_param = \"size\" }",
        attributes: "[entity.Person.relationships]\nboss = { to = \"Person\", match = \"embedded\" }")

    private static func path(_ page: Int) -> String { "/people?page=\(page)&size=2" }

    /// Page `number` has the people 2n - 1 and 2n.
    private func set(_ page: Int, boss: Int? = nil, isTagged: Bool = true, version: Int = 1) {
        let people = [2 * page - 1, 2 * page].map { id in
            let said = boss.map { #", "boss": {"id": \#($0), "name": "boss"}"# } ?? ""
            return #"{"id": \#(id), "name": "n\#(id)"\#(said)}"#
        }
        api.set(Self.path(page), "[\(people.joined(separator: ","))]", etag: isTagged ? "\"\(page).\(version)\"" : nil)
    }

    private func setAll(_ count: Int = count, isTagged: Bool = true) {
        for page in 1...count { set(page, isTagged: isTagged) }
        api.set(Self.path(count + 1), "[]", etag: isTagged ? "\"end\"" : nil)
    }

    private static let names = (1...2 * count).map { "n\($0)" }.sorted()

    private func fixture(_ toml: String = toml, folder: URL? = nil) async throws -> PipelineFixture {
        try await PipelineFixture(toml, folder: folder) { [api] request, _ in api.answer(request) }
    }

    private func restarted(_ fixture: PipelineFixture, _ toml: String = toml, meanwhile sql: String? = nil) async throws -> PipelineFixture {
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        if let sql {
            let queue = try DatabaseQueue(path: fixture.folder.appendingPathComponent("StoreContent/persistentStore").path)
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
        }
        return try await self.fixture(toml, folder: fixture.folder)
    }

    private static func selects(_ fixture: PipelineFixture) throws -> Int {
        let store = try #require(fixture.document.root.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        return store.statements.current.selects
    }

    /// The pages that were asked for without a condition.
    private static func unconditional(_ requests: some Sequence<HTTPRequest>) -> [String] {
        requests.filter { !$0.headers.contains(name: "If-None-Match") }.map { "\($0.address.url.path)?\($0.address.url.query ?? "")" }
    }

    private static func isSound(_ fixture: PipelineFixture) throws -> Bool {
        try SQLiteStoreVerification.verify(fixture.document.storeURL).isSound
    }

    // Asked for one by one, each page would take two at least. A save by the document's own clock may come in between.
    @Test(arguments: [true, false]) func aLongListingThatIsUnchangedTakesNoQueryForEachPage(isTagged: Bool) async throws {
        setAll(100, isTagged: isTagged)
        var fixture = try await fixture()
        #expect(try await fixture.sync().first?.counts.inserted == 200)
        fixture = try await restarted(fixture)
        let before = try Self.selects(fixture)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.notModifiedPages == 101)
        #expect(try Self.selects(fixture) - before < 100)
        #expect(try await fixture.values("name", of: "Person").count == 200)
        try await fixture.end()
    }

    @Test func pagesOfAFirstLoadAreNotLookedForInTheStore() async throws {
        setAll(100)
        let fixture = try await fixture(), before = try Self.selects(fixture)
        #expect(try await fixture.sync().first?.counts.inserted == 200)
        // Each has one: whether its records have rows.
        #expect(try Self.selects(fixture) - before < 200)
        #expect(try Self.isSound(fixture))
        try await fixture.end()
    }

    /// Something to do while a run goes on.
    private final class Deed: Sendable {
        private struct Body {
            let run: @Sendable () async throws -> Void
        }

        private let body = Mutex<Body?>(nil)

        func set(_ run: @escaping @Sendable () async throws -> Void) { body.withLock { $0 = Body(run: run) } }

        func isDone() async throws { try await body.withLock { $0.take() }?.run() }
    }

    // While the run goes on the store has nothing of them any more, and they are known all the same.
    @Test func whatIsKnownIsKeptForTheRunThatReadIt() async throws {
        setAll()
        let deed = Deed()
        let fixture = try await PipelineFixture(Self.toml) { [api] request, _ in
            if request.address.description.hasSuffix(Self.path(5)) { try await deed.isDone() }
            return api.answer(request)
        }
        try await fixture.sync()
        let before = fixture.transport.requests.count, document = fixture.document
        deed.set {
            try await document.withWorker { worker in
                for row in try StateRow<RequestTable>.all(in: worker) where row.request.hasSuffix(Self.path(7)) { row.delete(in: worker) }
                try worker.save()
            }
        }
        try await fixture.sync()
        #expect(Self.unconditional(fixture.transport.requests.dropFirst(before)).isEmpty)
        let left = try await document.withWorker { try StateRow<RequestTable>.all(in: $0).count }
        #expect(left == Self.count)
        try await fixture.end()
    }

    // Otherwise each would be fetched to be compared with what is no longer there, and then as a whole.
    @Test func pagesAreNotComparedWithWhatWasForgottenMeanwhile() async throws {
        setAll(isTagged: false)
        let deed = Deed()
        let fixture = try await PipelineFixture(Self.toml) { [api] request, _ in
            if request.address.description.hasSuffix(Self.path(5)) { try await deed.isDone() }
            return api.answer(request)
        }
        try await fixture.sync()
        for page in 5...Self.count {
            api.set(Self.path(page), #"[{"id": \#(2 * page - 1), "name": "new"}, {"id": \#(2 * page), "name": "n\#(2 * page)"}]"#)
        }
        let before = fixture.transport.requests.count, document = fixture.document
        deed.set {
            try await document.withWorker { worker in
                try StoredManifest.forget(Self.scope, in: worker)
                try worker.save()
            }
        }
        let report = try #require(try await fixture.sync().first), asked = fixture.transport.requests.dropFirst(before)
        #expect(report.isComplete && report.counts.updated == 4)
        for page in 7...Self.count { #expect(asked.filter { $0.address.description.hasSuffix(Self.path(page)) }.count == 1) }
        try await fixture.end()
    }

    // A short form inside of a record of the fifth page is one of the seventh.
    @Test func aPageThatCameIntoDoubtMeanwhileIsReadAnew() async throws {
        setAll()
        var fixture = try await fixture(Self.embedding)
        try await fixture.sync()
        fixture = try await restarted(fixture, Self.embedding)
        set(5, boss: 13, version: 2)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.notModifiedPages == Self.count - 1)
        #expect(Self.unconditional(fixture.transport.requests) == [Self.path(7)])
        #expect(try await fixture.values("name", of: "Person") == Self.names)
        #expect(try await fixture.sync().first?.notModifiedPages == Self.count + 1)
        try await fixture.end()
    }

    @Test(arguments: [
        "UPDATE ZPERSON SET ZNAME = 'Eve' WHERE ZID = 12", "DELETE FROM ZPERSON WHERE ZID = 12",
        "UPDATE ZPERSON SET ZCISTERNHASH = NULL WHERE ZID = 12",
    ]) func oneRowThatIsNotAsItWasLetsOnlyItsPageBeReadAnew(sql: String) async throws {
        setAll()
        var fixture = try await fixture()
        try await fixture.sync()
        fixture = try await restarted(fixture, meanwhile: sql)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.notModifiedPages == Self.count)
        #expect(Self.unconditional(fixture.transport.requests) == [Self.path(6)])
        #expect(try await fixture.values("name", of: "Person") == Self.names)
        #expect(try await fixture.sync().first?.notModifiedPages == Self.count + 1)
        try await fixture.end()
    }

    // What the run before has left of pages is not taken for nothing.
    @Test(arguments: [nil, "DELETE FROM ZCISTERNREQUEST", "DELETE FROM ZCISTERNREQUEST; DELETE FROM ZCISTERNKEYS", "DELETE FROM ZCISTERNKEYS"])
    func aRunThatWasCutOffIsContinued(damage: String?) async throws {
        setAll()
        api.set(Self.path(6), "", status: 403)
        var fixture = try await fixture()
        #expect(try await fixture.sync().first?.outcome == .failed)
        fixture = try await restarted(fixture, meanwhile: damage)
        set(6)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.outcome == .succeeded)
        #expect(try await fixture.values("name", of: "Person") == Self.names)
        #expect(try await fixture.sync().first?.notModifiedPages == Self.count + 1)
        #expect(try Self.isSound(fixture))
        try await fixture.end()
    }

    @Test func noPageIsKnownThatWasReadUnderOtherRules() async throws {
        setAll()
        var fixture = try await fixture()
        try await fixture.sync()
        fixture = try await restarted(fixture, Self.toml.replacingOccurrences(of: "pages =", with: "limits = { max_depth = 9 }\npages ="))
        #expect(try await fixture.sync().first?.notModifiedPages == 0)
        #expect(Self.unconditional(fixture.transport.requests).count == Self.count + 1)
        try await fixture.end()
    }

    @Test func moreThanAreKeptInMemoryAreAskedForOneByOne() async throws {
        setAll(isTagged: false)
        let fixture = try await fixture()
        try await fixture.sync()
        func known(pages: Int = 100, besides read: Set<String> = []) async throws -> KnownRequests {
            try await fixture.document.withWorker { worker in
                let mapping = try StateRow<RequestTable>.all(in: worker).first?.mapping
                return try KnownRequests(of: Self.scope, fingerprint: mapping ?? "", besides: read, most: pages, in: worker)
            }
        }
        let keys = (1...Self.count + 1).map { "GET https://api.example\(Self.path($0))" }, all = try await known()
        #expect(all.isWhole && !all.isBlank && all.group(from: keys[0]) { _, _ in true } == keys)
        #expect(all.group(from: keys[3]) { page, _ in page != keys[5] } == keys[3...].filter { $0 != keys[5] })
        #expect(try await !known(pages: Self.count).isWhole)
        #expect(try await known(pages: Self.count + 1).isWhole)
        let none = try await known(besides: Set(keys))
        #expect(none.isBlank && none[keys[0]] == nil)
        #expect(try await !known(besides: [keys[0]]).isBlank)
        // What pages vouch for is left.
        try await fixture.document.withWorker { worker in
            for row in try StateRow<RequestTable>.all(in: worker) { row.delete(in: worker) }
            try worker.save()
        }
        #expect(try await !known().isBlank)
        try await fixture.end()
    }
}
