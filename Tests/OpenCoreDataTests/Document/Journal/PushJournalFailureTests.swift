import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import TestTraits
import Testing

/// A journal that can't be written: nothing lost, nothing half.
@Suite struct PushJournalFailureTests {
    static let full = NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC))

    // GB31
    @Test func aSaveWhoseEntryCannotBeWrittenThrowsAndLeavesEverythingAsItWas() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "before"]) }
        document.observePushJournal { _ in throw Self.full }
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try worker.performAndWait {
            let item = worker.make("Item", ["key": "new"])
            let error = #expect(throws: NSError.self) { try worker.save() }
            #expect(error?.code == 134030 && (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(ENOSPC))
            #expect(worker.hasChanges && item.isInserted && worker.insertedObjects == [item])
            #expect(try document.look { try $0.values("Item", "key") } == ["before"] && document.unsavedChangeCount == 1)
            #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["before"])
            document.observePushJournal(nil)
            try worker.save()
        }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["before", "new"])
    }

    // GB31
    @Test(.longProcess) func aFileThatMayNotGrowIsLikeAFullDisk() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "before"]) }
        let path = try fixture.crashed(document).path
        // The limit is the process's, so another one tries it.
        await #expect(processExitsWith: .success) { [path = path as String] in try Self.runIntoTheLimit(URL(fileURLWithPath: path)) }
        let again = try fixture.reopened(URL(fileURLWithPath: path))
        #expect(try again.look { try $0.values("Item", "key") } == ["after", "before", "later"] && again.errors.isEmpty)
    }

    private static func runIntoTheLimit(_ url: URL) throws {
        signal(SIGXFSZ, SIG_IGN)
        let document = JournalDocument(url, Company.model())
        try document.openStore(creating: false)
        try document.push { $0.make("Item", ["key": "after"]) }
        // Room for a part of the next entry.
        var limit = rlimit(rlim_cur: rlim_t(document.pushJournalSize ?? 0) + 20, rlim_max: rlim_t.max)
        guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }  // RLIMIT_FSIZE
        let error = #expect(throws: NSError.self) { try document.push { $0.make("Item", ["key": "too much"]) } }
        guard (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(EFBIG) else { exit(3) }
        guard try document.look({ try $0.values("Item", "key") }) == ["after", "before"] else { exit(4) }
        // Whatever was written of it is gone again.
        guard let size = document.pushJournalSize, size + 20 == Int(limit.rlim_cur) else { exit(5) }
        // With room again, what follows stands where it can be read.
        limit.rlim_cur = rlim_t.max
        guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(6) }
        try document.push { $0.make("Item", ["key": "later"]) }
    }

    private final class Unarchivable: NSObject {}

    // GB31
    @Test func aValueThatCannotBeKeptIsRefusedWhenTheWorkerSaves() throws {
        let fixture = try JournalFixture(StoreModels.everything()), document = try fixture.opened()
        let error = #expect(throws: NSError.self) { try document.push { $0.make("Thing", ["list": Unarchivable()]) } }
        #expect(error?.localizedDescription.contains("Thing.list") == true)
        #expect(try document.look { try $0.all("Thing").isEmpty } && !document.hasUnsavedChanges)
    }

    // GB31
    @Test func whereTheJournalCannotBeMadeTheDocumentDoesNotOpen() throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.off)
        let copy = try fixture.crashed(document)
        try Data().write(to: copy.appendingPathComponent("StoreContent/PushJournal"))
        let other = JournalDocument(copy, fixture.model)
        #expect(throws: (any Error).self) { try other.openStore(creating: false) }
        #expect(other.documentState.contains(.closed) && other.store(0) == nil)
        try FileManager.default.removeItem(at: other.pushJournalURL)
        try other.openStore(creating: false)
        #expect(other.documentState == .normal)
    }
}
