import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What a journal waits for when it promises to survive loss of power, and who may have a journal.
@Suite struct PushJournalDurabilityTests {
    /// The steps that a journal took.
    private final class Steps: Sendable {
        private let all = Mutex<[PushJournalStep]>([])

        func note(_ step: PushJournalStep) { all.withLock { $0.append(step) } }

        /// Those since the last call that wait for the disk.
        func waits() -> [PushJournalStep] {
            all.withLock { all in
                defer { all = [] }
                return all.filter { if case .write = $0 { false } else { true } }
            }
        }
    }

    // GB31
    @Test func aSynchronizedJournalWaitsForTheDiskWithEachPushAndBeforeItIsTrimmed() async throws {
        let fixture = try JournalFixture(), steps = Steps()
        let document = JournalDocument(fixture.folder.appendingPathComponent("synchronized"), fixture.model, .synchronized)
        document.observePushJournal { steps.note($0) }
        try document.openStore(creating: true)
        let content = document.pushJournalURL.deletingLastPathComponent()
        #expect(steps.waits().map(Self.path) == [content, document.fileURL, fixture.folder].map(\.path))
        try document.push { $0.make("Item", ["key": "a"]) }
        let file = try #require(document.journalFiles.first)
        let first = steps.waits()
        #expect(first.count == 2 && first.last.map(Self.path) == file.path && first.first.map(Self.path) == document.pushJournalURL.path)
        try document.push { $0.make("Item", ["key": "b"]) }
        #expect(steps.waits().map(Self.path) == [file.path])
        try await document.save()
        #expect(steps.waits() == [.synchronizeStores])
    }

    // GB31
    @Test func aWrittenJournalWaitsForNoDisk() async throws {
        let fixture = try JournalFixture(), steps = Steps(), document = try fixture.opened(.written)
        document.observePushJournal { steps.note($0) }
        try document.push { $0.make("Item", ["key": "a"]) }
        try await document.save()
        #expect(steps.waits().isEmpty)
    }

    private static func path(_ step: PushJournalStep) -> String {
        switch step {
        case .synchronize(let url), .synchronizeNames(let url): url.path
        default: ""
        }
    }

    // GB31
    @Test func aPushThatTheDiskDoesNotTakeIsNotTakenOver() throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.synchronized)
        try document.push { $0.make("Item", ["key": "before"]) }
        document.observePushJournal { if case .synchronize = $0 { throw PushJournalFailureTests.full } }
        let error = #expect(throws: NSError.self) { try document.push { $0.make("Item", ["key": "lost"]) } }
        #expect(error?.code == 134030 && document.unsavedChangeCount == 1)
        document.observePushJournal(nil)
        try document.push { $0.make("Item", ["key": "later"]) }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["before", "later"])
    }

    // GB31
    @Test func aFileWhoseNameTheDiskDoesNotTakeIsRemovedAgain() throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.synchronized)
        document.observePushJournal { if case .synchronizeNames = $0 { throw PushJournalFailureTests.full } }
        #expect(throws: NSError.self) { try document.push { $0.make("Item", ["key": "lost"]) } }
        #expect(document.journalFiles.isEmpty)
        document.observePushJournal(nil)
        try document.push { $0.make("Item", ["key": "later"]) }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["later"])
    }

    // GB31, GB30
    @Test func whatAnEarlierRunPromisedIsKeptWhateverThisOnePromises() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(.synchronized, memory: memory)
        try document.push { $0.make("Item", ["key": "a"]) }
        let copy = try fixture.crashed(document)
        memory.observe { if case .save = $0 { throw NSError.storeIsFull } }
        let again = try fixture.reopened(copy, .off, memory: memory)
        again.observePushJournal { if case .synchronizeStores = $0 { throw PushJournalFailureTests.full } }
        memory.observe(nil)
        try await again.save()
        #expect(again.journalFiles.count == 1)
        let later = try fixture.recovered(again, memory: memory)
        #expect(memory.rowCount == 1 && later.pushRecovery == nil && later.journalFiles.isEmpty)
    }

    // GB31
    @Test func theLogOfAStoreBehindALinkIsFound() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.off), elsewhere = fixture.folder.appendingPathComponent("elsewhere")
        try await document.close()
        try FileManager.default.moveItem(at: document.storeURL, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: document.storeURL, withDestinationURL: elsewhere)
        let again = try fixture.reopened(document.fileURL)
        try again.push { $0.make("Item", ["key": "a"]) }
        try await again.save()
        let log = try #require((again.store(0) as? SQLiteStore)?.logURL)
        // An empty one may be left where the file was.
        let size = try FileManager.default.attributesOfItem(atPath: log.path)[.size] as? NSNumber
        #expect(try #require(size).intValue > 0)
    }

    // GB31
    @Test func aJournalCountsOnFromWhereTheLastOneEndedAlsoIfThatWasAMomentAgo() async throws {
        let fixture = try JournalFixture(), first = try fixture.opened()
        let second = JournalDocument(first.fileURL, fixture.model) {
            // The stores of the second are open; the first goes on, commits and is closed only now.
            for key in ["a", "b", "c"] { try first.push { $0.make("Item", ["key": key]) } }
            let isClosed = DispatchSemaphore(value: 0)
            first.close { _ in isClosed.signal() }
            isClosed.wait()
        }
        // On the queue of its root, and not on one of a few threads that wait for nothing.
        let isOpen = await withCheckedContinuation { opened in second.open { opened.resume(returning: $0) } }
        #expect(isOpen && first.documentState.contains(.closed), "\(second.errors) \(first.errors)")
        try second.push { $0.make("Item", ["key": "d"]) }
        #expect(try fixture.recovered(second).look { try $0.values("Item", "key") } == ["a", "b", "c", "d"])
    }

    // GB31
    @Test func aFolderThatAnotherHasCostsNobodyAFile() async throws {
        let fixture = try JournalFixture(), path = fixture.folder.path
        // In a process whose descriptors are nobody else's.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let place = PushJournalPlace(folder: URL(fileURLWithPath: path), stores: [], observer: PushJournalObserver())
            guard let lock = try PushJournalLock(place) else { exit(2) }
            let isDone = Atomic(false)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 {
                    for _ in 0..<30_000 { if (try? PushJournalLock(place)) != nil { exit(3) } }
                    isDone.store(true, ordering: .releasing)
                } else {
                    while !isDone.load(ordering: .acquiring) {
                        let mine = open("/dev/null", O_RDONLY)
                        if mine < 0 || close(mine) != 0 { exit(4) }
                    }
                }
            }
            withExtendedLifetime(lock) {}
        }
    }
}
