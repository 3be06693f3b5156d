import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records that are packed while their page arrives.
@Suite struct PagePackingTests {
    /// So many people.
    private static func list(_ ids: Range<Int>, name: String = "Ada") -> [UInt8] {
        Array("[\(ids.map { #"{"id": \#($0), "name": "\#(name)"}"# }.joined(separator: ",\n"))]".utf8)
    }

    private static func answer(_ body: [UInt8]) -> StubTransport.Answer {
        .response(status: 200, headers: ["Content-Type": "application/json"], body: body)
    }

    /// A connection that breaks after this much of a body.
    private static func broken(_ body: [UInt8]) -> StubTransport.Answer {
        .pieces(status: 200, headers: ["Content-Type": "application/json"], [Array(body.dropLast(20)), nil])
    }

    /// A page that is fetched and then parsed, a step at a time.
    private final class Page: Sendable {
        let fixture: PipelineFixture
        let recipe: PageRecipe
        /// Where records are packed.
        let queue = OperationQueue()
        let packing: PagePacking
        private let transport: StubTransport
        private let counts = Mutex((taken: 0, attempts: 0))
        /// When the next attempt is made, after one that has failed.
        private let retry = Mutex<SyncInstant?>(nil)

        /// How many records were taken as they had been packed.
        var taken: Int { counts.withLock { $0.taken } }
        /// How often the page was read and found fit to be saved.
        var attempts: Int { counts.withLock { $0.attempts } }

        /// - Parameter answers: what the server says, one after the other.
        init(_ answers: [StubTransport.Answer]) async throws {
            let toml = ScriptedAPI.people(), configuration = try PipelineFixture.configuration(toml), left = Mutex(answers[...])
            transport = StubTransport { _, _ in left.withLock { $0.popFirst() } ?? .response(status: 500) }
            fixture = try await PipelineFixture(toml) { _, _ in .response(status: 500) }
            let resource = configuration.sources[0].resources[0]
            recipe = PageRecipe(
                resource: resource, mapping: ModelMapping(configuration.model, model: fixture.document.managedObjectModel),
                settings: try FetchSettings(resource: resource, daemon: configuration.daemon, version: "test", secrets: .none))
            let spill = try #require(fixture.document.root.persistentStoreCoordinator).blockSpill
            packing = try #require(PagePacking(recipe, run: 1, clock: fixture.clock, queue: queue, spill: spill))
            queue.maxConcurrentOperationCount = 2
        }

        /// - Parameters:
        ///   - listSize: about how many bytes are packed at once.
        ///   - isInFile: whether the lists wait in a file.
        func fetch(listSize: Int = 100, isInFile: Bool = false) async throws -> FetchedPage {
            var environment = FetchEnvironment(settings: recipe.settings, transport: transport, clock: fixture.clock) { [self] event in
                guard case .retrying(_, let delay) = event else { return }
                retry.withLock { $0 = fixture.clock.instant.advanced(by: delay) }
                Task {
                    await settle()
                    await waitsForRetry()
                    fixture.clock.advance(by: delay)
                }
            }
            environment.spool = SpoolPlace(folder: isInFile ? fixture.folder : nil, memory: 0, listSize: listSize)
            var fetch = PageFetch(PageRequest(address: recipe.settings.first), environment: environment)
            fetch.arrival = packing
            let outcome = await fetch.run()
            guard case .page(let page) = outcome else { throw outcome.error ?? SyncError.cancelled }
            return page
        }

        /// - Parameter saving: called before each time that the page is saved.
        func parse(_ page: FetchedPage, saving: @escaping @Sendable (_ attempt: Int) -> Void = { _ in }) async throws -> ParsedPage {
            let probe = ParseProbe(
                batchSize: 50,
                reached: { _, stage in
                    guard stage == .saving else { return }
                    let attempt = self.counts.withLock { counts in
                        counts.attempts += 1
                        return counts.attempts
                    }
                    saving(attempt)
                },
                taken: { count in self.counts.withLock { $0.taken += count } })
            let operation = ParseOperation(
                ParseOperation.Input(
                    document: fixture.document, recipe: recipe, scope: ResourceScope(source: "api", resource: "people"), run: 1, pageNumber: 1,
                    requestKey: "people", fingerprint: recipe.mapping.fingerprint(of: recipe.resource), isRemembered: true,
                    comparison: RecordComparison(), page: page, packing: packing, badRecords: 0, now: fixture.clock.wallTime, probe: probe))
            return try await OperationQueue().run(operation)
        }

        /// Returns when an attempt has failed and the next one is waited for: others sleep on the clock as well.
        func waitsForRetry() async {
            await fixture.clock.deadlines { [self] deadlines in retry.withLock { $0 }.map { deadlines.contains($0) } ?? false }
        }

        /// Returns when all that has arrived is packed.
        func settle() async {
            // An operation adds another before it ends.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [queue] in
                    queue.waitUntilAllOperationsAreFinished()
                    continuation.resume()
                }
            }
        }

        func people() async throws -> [Int: String] {
            try await fixture.document.withWorker { worker in
                try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).reduce(into: [:]) { people, person in
                    people[(person.value(forKey: "id") as? NSNumber)?.intValue ?? -1] = person.value(forKey: "name") as? String
                }
            }
        }
    }

    private static func named(_ ids: Range<Int>, _ name: String = "Ada") -> [Int: String] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, name) })
    }

    @Test func aPageTakesWhatWasPackedWhileItArrived() async throws {
        let page = try await Page([Self.answer(Self.list(1..<1001))])
        let fetched = try await page.fetch()
        await page.settle()
        let parsed = try await page.parse(fetched)
        #expect(parsed.counts.inserted == 1000 && parsed.isNew)
        // The last list is the reader's, unless it has the size of the others.
        #expect((900...1000).contains(page.taken))
        #expect(try await page.people() == Self.named(1..<1001))
        try await page.fixture.end()
    }

    // Nothing of what came of the first attempt is in the page, although all of it was packed by then.
    @Test func aPageThatBeginsAgainIsPackedAnew() async throws {
        let page = try await Page([Self.broken(Self.list(1..<500, name: "broken")), Self.answer(Self.list(100..<800))])
        let fetched = try await page.fetch()
        await page.settle()
        #expect(try await page.parse(fetched).counts.inserted == 700)
        #expect((600...700).contains(page.taken))
        #expect(try await page.people() == Self.named(100..<800))
        try await page.fixture.end()
    }

    // Until the next attempt, which may be hours away, the disk is the others'.
    @Test func ofAnAttemptThatHasFailedNothingIsKept() async throws {
        let page = try await Page([Self.broken(Self.list(1..<500)), .response(status: 404)])
        page.queue.isSuspended = true
        let fetch = Task { try await page.fetch(isInFile: true) }
        await page.waitsForRetry()
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return target?.hasPrefix(page.fixture.folder.path) == true && target?.hasSuffix(" (deleted)") == true
        }
        #expect(open == 0)
        page.queue.isSuspended = false
        await #expect(throws: FetchError.self) { try await fetch.value }
        try await page.fixture.end()
    }

    // What was taken for a reading that could not be saved is read by the next one.
    @Test func aPageThatIsReadAgainIsReadWhole() async throws {
        let page = try await Page([Self.answer(Self.list(1..<501))]), main = page.fixture.document.managedObjectContext
        /// Somebody else's say about one of the page's people.
        @Sendable func change(_ key: String, to value: Any) {
            let other = NSManagedObjectContext(.privateQueueConcurrencyType)
            other.parent = main
            other.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "id == 500")
                let known = (try? other.fetch(request))?.first
                let person = known ?? NSEntityDescription.insertNewObject(forEntityName: "Person", into: other)
                if known == nil { person.setValue(500, forKey: "id") }
                person.setValue(value, forKey: key)
                #expect(throws: Never.self) { try other.save() }
            }
        }
        change("name", to: "Grace")
        let fetched = try await page.fetch()
        await page.settle()
        let parsed = try await page.parse(fetched) { attempt in if attempt == 1 { change("age", to: 40) } }
        #expect(parsed.counts.inserted == 499 && parsed.counts.updated == 1 && page.attempts == 2)
        #expect((400...500).contains(page.taken))
        #expect(try await page.people() == Self.named(1..<501))
        try await page.fixture.end()
    }

    // The reader begins at once, among lists that are packed, that somebody packs now, and that wait.
    @Test func whoReadsAPageMeetsItsPackersAnywhere() async throws {
        for round in 1...20 {
            let page = try await Page([Self.answer(Self.list(1..<2001))])
            page.queue.maxConcurrentOperationCount = 1 + round % 3
            let fetched = try await page.fetch(listSize: [30, 100, 3000][round % 3], isInFile: round.isMultiple(of: 2))
            #expect(try await page.parse(fetched).counts.inserted == 2000)
            #expect(try await page.people() == Self.named(1..<2001))
            try await page.fixture.end()
        }
    }

    @Test func aReaderNeedsNobodyWhoPacks() async throws {
        let page = try await Page([Self.answer(Self.list(1..<501))])
        page.queue.isSuspended = true
        #expect(try await page.parse(page.fetch()).counts.inserted == 500)
        #expect(page.taken == 0)
        page.packing.end()
        page.queue.isSuspended = false
        await page.settle()
        try await page.fixture.end()
    }

    @Test func whatIsNotWantedIsPackedNoMore() async throws {
        let page = try await Page([Self.answer(Self.list(1..<501))])
        page.queue.isSuspended = true
        let fetched = try await page.fetch()
        page.packing.end()
        page.queue.isSuspended = false
        await page.settle()
        #expect((0..<500).allSatisfy { page.packing.take($0) == nil })
        #expect(try await page.parse(fetched).counts.inserted == 500)
        try await page.fixture.end()
    }

    // A record that is set aside is told as ever; only its own list is read.
    @Test func aListWithABadRecordIsReadAndTheOthersAreTaken() async throws {
        var body = Self.list(1..<501)
        body.removeLast()
        body += Array(#"  ,  {"id": 0, "name": "#.utf8)
        let at = body.count
        body += Array(#"1e999}, {"id": 501, "name": "Ada"}]"#.utf8)
        let page = try await Page([Self.answer(body)])
        let fetched = try await page.fetch(listSize: 2000)
        await page.settle()
        let parsed = try await page.parse(fetched)
        #expect(parsed.counts.inserted == 501 && parsed.rejected.map(\.record) == [500])
        #expect(parsed.firstRejection?.hasSuffix("at byte \(at)") == true, "\(parsed.firstRejection ?? "")")
        #expect(page.taken > 400)
        try await page.fixture.end()
    }

    // One text is too long for a packed row: only its own list goes the long way, wherever it stands.
    @Test(arguments: [1, 3001, 5999]) func aRecordThatIsNotPackedLeavesTheOthersPacked(long: Int) async throws {
        let text = String(repeating: "x", count: 70_000)
        var body = Self.list(1..<long + 1)
        body.removeLast(#"Ada"}]"#.utf8.count)
        body += Array(#"\#(text)"},"#.utf8) + Self.list(long + 1..<6001).dropFirst()
        let page = try await Page([Self.answer(body)])
        let fetched = try await page.fetch(listSize: 2000)
        await page.settle()
        #expect(try await page.parse(fetched).counts.inserted == 6000)
        #expect(page.taken > 5500)
        var people = try await page.people()
        #expect(people.updateValue("Ada", forKey: long) == text && people == Self.named(1..<6001))
        try await page.fixture.end()
    }

    // The first is not packed, and waits until more of its kind have come; the second is in a list that is, before that.
    @Test func ofTwoRecordsOfOneRowTheLaterOneCounts() async throws {
        let long = #"{"id": 1, "name": "\#(String(repeating: "x", count: 70_000))"}, "#
        let body = Array("[\(long)".utf8) + Self.list(2..<20).dropFirst().dropLast() + Array(#", {"id": 1, "name": "Ada"}, "#.utf8)
        let page = try await Page([Self.answer(body + Self.list(20..<601).dropFirst())])
        let fetched = try await page.fetch()
        await page.settle()
        _ = try await page.parse(fetched)
        #expect(page.taken > 0)
        #expect(try await page.people() == Self.named(1..<601))
        try await page.fixture.end()
    }

    // Through the pipeline: the first run of a resource packs, and the ones after it, which know its page, do not.
    @Test func onlyARunThatKnowsNothingOfAPagePacksIt() async throws {
        let bodies = [Self.list(1..<301), Self.list(100..<401, name: "Grace")]
        let fixture = try await PipelineFixture(ScriptedAPI.people()) { _, index in Self.answer(bodies[min(index, 1)]) }
        let packed = Mutex<Set<Int>>([]), poll = Mutex(1)
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 1000, listSize: 100, packs: { _ in packed.withLock { _ = $0.insert(poll.withLock { $0 }) } })
        }
        #expect(try await fixture.sync().first?.counts.inserted == 300)
        #expect(packed.withLock { $0 } == [1])
        poll.withLock { $0 = 2 }
        let second = try #require(try await fixture.sync().first)
        #expect(second.counts.inserted == 100 && second.counts.updated == 201 && second.counts.deleted == 99)
        #expect(packed.withLock { $0 } == [1])
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == Array(repeating: "Grace", count: 301))
        try await fixture.end()
    }

    // Without room rows that wait cost memory, and the body of a page costs the run.
    @Test func rowsThatWaitLeaveTheDiskToBodies() async throws {
        let toml = ScriptedAPI.people().replacing("[daemon]", with: "[store]\nmin_free_disk = \"600MiB\"\n[daemon]")
        let fixture = try await PipelineFixture(toml) { _, _ in Self.answer(Self.list(1..<3)) }
        _ = try await fixture.sync()
        let coordinator = try #require(fixture.document.root.persistentStoreCoordinator)
        #expect(coordinator.blockSpillLimits.leavesFree == 1200 << 20)
        try await fixture.end()
    }
}
