import Foundation
import Glibc
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// `.NSPersistentStoreRemoteChange`: who hears of whose changes.
@Suite(.timeLimit(.minutes(60))) struct RemoteChangeTests {
    /// Hears what one coordinator posts.
    // The token is only handed back to the centre that made it.
    private final class Ear: @unchecked Sendable {
        private struct Heard: Sendable {
            var count = 0
            var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
            /// Nobody waits any more: the test takes too long.
            var isGivenUp = false
            var lastUUID: String?
            var lastURL: URL?
        }

        private let heard = Mutex(Heard())
        private var token: (any NSObjectProtocol)?

        init(_ coordinator: NSPersistentStoreCoordinator) {
            token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) { [weak self] in
                self?.hear($0)
            }
        }

        deinit { token.map { NotificationCenter.default.removeObserver($0) } }

        private func hear(_ notification: Notification) {
            let uuid = notification.userInfo?[NSStoreUUIDKey] as? String, url = notification.userInfo?[NSPersistentStoreURLKey] as? URL
            let ready = heard.withLock { heard in
                heard.count += 1
                heard.lastUUID = uuid
                heard.lastURL = url
                defer { heard.waiters.removeAll { $0.count <= heard.count } }
                return heard.waiters.filter { $0.count <= heard.count }.map(\.continuation)
            }
            for continuation in ready { continuation.resume() }
        }

        var count: Int { heard.withLock { $0.count } }
        var uuid: String? { heard.withLock { $0.lastUUID } }
        var url: URL? { heard.withLock { $0.lastURL } }

        /// Returns when it has heard that many, by now or later.
        func hears(_ count: Int) async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = heard.withLock { heard in
                        if heard.count >= count || heard.isGivenUp { return true }
                        heard.waiters.append((count, continuation))
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                let waiters = heard.withLock { heard in
                    defer { heard.waiters = [] }
                    heard.isGivenUp = true
                    return heard.waiters
                }
                for waiter in waiters { waiter.continuation.resume() }
            }
        }
    }

    /// A stack of its own on a file.
    private final class Stack {
        let coordinator: NSPersistentStoreCoordinator
        let store: SQLiteStore
        let context: NSManagedObjectContext
        let ear: Ear

        init(_ store: SQLiteStore, _ model: NSManagedObjectModel) {
            self.store = store
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            ear = Ear(coordinator)
            coordinator.add(store)
            context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
        }

        deinit { try? store.close() }

        func save(_ key: String) throws {
            try context.performAndWait { () throws in
                context.make("Item", ["key": key])
                try context.save()
            }
        }
    }

    private static var posting: [AnyHashable: Any] { [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] }

    // T15
    @Test func aSaveThroughTheCoordinatorItselfIsToldOnceByTheTimeItReturns() throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        let mine = Stack(fixture.store, fixture.model)
        try mine.save("a")
        #expect(mine.ear.count == 1 && mine.ear.uuid == fixture.store.identifier && mine.ear.url == fixture.file)
        try mine.save("b")
        #expect(mine.ear.count == 2)
        // Refused, and so nothing was written.
        #expect(throws: NSError.self) { try mine.save("b") }
        mine.context.performAndWait { mine.context.rollback() }
        try mine.context.performAndWait { try mine.context.save() }
        #expect(mine.ear.count == 2)
        mine.coordinator.setMetadata(["city": "Bern"], for: mine.store)
        try mine.context.performAndWait { try mine.context.save() }
        #expect(mine.ear.count == 3)
    }

    // T15
    @Test func aCoordinatorBesideOnTheSameFileHearsOfIt() async throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        let mine = Stack(fixture.store, fixture.model), other = Stack(try fixture.second(options: Self.posting), fixture.model)
        for number in 1...5 {
            let before = mine.ear.count
            try other.save("\(number)")
            await mine.ear.hears(before + 1)
            // When it is heard, it is there to be read.
            #expect(try mine.context.performAndWait { try mine.context.all("Item").count } == number)
        }
        #expect(mine.ear.uuid == fixture.store.identifier && other.ear.count >= 5)
    }

    // T15
    @Test func anotherProgramThatWritesToTheFileIsHeard() async throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        let mine = Stack(fixture.store, fixture.model)
        try mine.save("a")
        let before = mine.ear.count
        _ = try fixture.shell.rows("UPDATE ZITEM SET ZA = 7")
        await mine.ear.hears(before + 1)
        let told = try mine.context.performAndWait { () throws in
            mine.context.reset()
            mine.coordinator.rowCache.removeAll()
            return try mine.context.all("Item").map { $0.value(forKey: "a") as? Int }
        }
        #expect(told == [7])
    }

    // T15
    @Test func aStoreThatIsReachedThroughALinkHearsOfItToo() async throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        try fixture.save(ChangeSet())
        let folder = fixture.directory.appendingPathComponent("links"), link = folder.appendingPathComponent("link.sqlite")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.file)
        let store = try SQLiteStore(
            model: fixture.model, entities: fixture.model.entities, configurationName: nil, url: link, options: Self.posting)
        let linked = Stack(store, fixture.model)
        try linked.save("a")
        let before = linked.ear.count
        _ = try fixture.shell.rows("UPDATE ZITEM SET ZA = 7")
        await linked.ear.hears(before + 1)
        #expect(linked.ear.url == link)
    }

    /// What the kernel has seen happen to the files of a directory: all that another process can go by.
    private final class Kernel {
        private let descriptor: Int32

        init(_ directory: URL) throws {
            descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            try #require(inotify_add_watch(descriptor, directory.path, UInt32(IN_MODIFY | IN_ATTRIB)) >= 0)
        }

        deinit { close(descriptor) }

        /// What happened to the file of that name since the last call.
        func events(of name: String) -> [UInt32] {
            var bytes = [UInt8](repeating: 0, count: 64 << 10), result: [UInt32] = []
            let count = read(descriptor, &bytes, bytes.count), header = MemoryLayout<inotify_event>.size
            var offset = 0
            bytes.withUnsafeBytes { bytes in
                while offset + header <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let text = bytes[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
                    if String(decoding: text, as: UTF8.self) == name { result.append(event.mask) }
                    offset += header + Int(event.len)
                }
            }
            return result
        }
    }

    // T15
    @Test func theLastThatOtherProcessesSeeOfASaveIsASignThatItIsCommitted() throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        let mine = Stack(fixture.store, fixture.model)
        try mine.save("a")
        let kernel = try Kernel(fixture.directory)
        try mine.save("b")
        let events = kernel.events(of: "store.sqlite-wal")
        #expect(events.contains(UInt32(IN_MODIFY)) && events.last == UInt32(IN_ATTRIB))
    }

    // T15
    @Test func whatIsCommittedWhileFollowingBeginsIsTold() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("followed-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let version = Atomic<Int64>(0)
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        // Each time it is asked, somebody has just committed; the first time is before anything is watched.
        let commits = try ForeignCommits(file: file.path) {
            version.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged ? 0 : 1
        } handler: {
            teller.yield()
        }
        var isTold = false
        for await _ in told {
            isTold = true
            break
        }
        #expect(isTold)
        commits.stop()
    }

    // T15
    @Test func withoutTheOptionNothingIsTold() async throws {
        let fixture = try StoreFixture(Company.model())
        let silent = Stack(fixture.store, fixture.model), other = Stack(try fixture.second(options: Self.posting), fixture.model)
        let before = other.ear.count
        try silent.save("a")
        await other.ear.hears(before + 1)
        try other.save("b")
        #expect(silent.ear.count == 0)
    }

    // T15
    @Test func aStoreThatWasRemovedIsNotFollowedAnyMore() async throws {
        let fixture = try StoreFixture(Company.model(), options: Self.posting)
        let mine = Stack(fixture.store, fixture.model), other = Stack(try fixture.second(options: Self.posting), fixture.model)
        let third = Stack(try fixture.second(options: Self.posting), fixture.model)
        try mine.coordinator.remove(mine.store)
        // What was on its way when the store was removed is through by the time the first of these is heard elsewhere.
        var heard: [Int] = []
        for key in ["a", "b", "c"] {
            let before = third.ear.count
            try other.save(key)
            await third.ear.hears(before + 1)
            heard.append(mine.ear.count)
        }
        #expect(Set(heard).count == 1)
    }
}
