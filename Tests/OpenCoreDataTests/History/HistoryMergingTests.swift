import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What history is for: to follow what others save to the same file.
@Suite(.timeLimit(.minutes(60))) struct HistoryMergingTests {
    private let folder: HistoryFolder

    init() throws { folder = try HistoryFolder() }

    /// Merges what is new after a token into a stack's context, oldest first: the token to go on from.
    private func follow(_ stack: HistoryStack, after token: NSPersistentHistoryToken?) throws -> NSPersistentHistoryToken? {
        let new = try stack.transactions(after: token)
        stack.context.performAndWait {
            for transaction in new { stack.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
        }
        return new.last?.token ?? token
    }

    // H3
    @Test func aTransactionsNotificationNamesWhatChanged() throws {
        let stack = try HistoryStack(folder.file)
        try stack.saveCities("a", "b")
        try stack.save { context in
            context.delete(try stack.city("a"))
            try stack.city("b").setValue(1, forKey: "population")
        }
        let found = try stack.transactions(), notification = found[1].objectIDNotification()
        typealias Key = NSManagedObjectContext.NotificationKey
        #expect(notification.name == NSManagedObjectContext.didSaveObjectIDsNotification)
        let changes = found[0].changes ?? []
        #expect(notification.userInfo?[Key.deletedObjectIDs.rawValue] as? Set == [changes[0].changedObjectID])
        #expect(notification.userInfo?[Key.updatedObjectIDs.rawValue] as? Set == [changes[1].changedObjectID])
        #expect(notification.userInfo?[Key.insertedObjectIDs.rawValue] == nil)
    }

    // H3
    @Test func mergingHistoryBringsAnotherCoordinatorInStep() throws {
        let mine = try HistoryStack(folder.file), other = try HistoryStack(folder.file)
        try other.save { context in
            let city = context.make("City", ["code": "a", "name": "old"])
            context.make("City", ["code": "gone"])
            context.make("Person", ["name": "Ann", "home": city])
        }
        var token = try follow(mine, after: nil)
        let (city, gone, ann) = try mine.context.performAndWait { () throws in
            (try mine.city("a"), try mine.city("gone"), try #require(try mine.context.all("Person").first))
        }
        // All of it is in use, and known to the row cache.
        mine.context.performAndWait {
            #expect(city.value(forKey: "name") as? String == "old" && gone.value(forKey: "code") as? String == "gone")
            #expect((ann.value(forKey: "home") as? NSManagedObject) === city && city.mutableSetValue(forKey: "visitors").count == 0)
        }
        try other.save { context in
            let city = try other.city("a"), ann = try #require(try context.all("Person").first)
            city.setValue("new", forKey: "name")
            city.mutableSetValue(forKey: "visitors").add(ann)
            ann.setValue(nil, forKey: "home")
            context.delete(try other.city("gone"))
            context.make("City", ["code": "b", "name": "another"])
        }
        try other.save { _ in try other.city("b").setValue("later", forKey: "name") }
        mine.context.performAndWait { city.setValue(7, forKey: "population") }
        token = try follow(mine, after: token)
        mine.context.performAndWait {
            #expect(city.value(forKey: "name") as? String == "new" && city.value(forKey: "population") as? Int == 7)
            #expect(ann.value(forKey: "home") == nil && city.mutableSetValue(forKey: "visitors").contains(ann))
            #expect(city.mutableSetValue(forKey: "citizens").count == 0 && gone.isDeleted)
        }
        #expect(try mine.context.performAndWait { try mine.context.names("City") } == ["later", "new"])
        // In step, so that this is no conflict.
        try mine.save { _ in }
        #expect(try mine.transactions(after: token).map { $0.changes?.map(\.updatedNames) } == [[["population"]]])
    }

    // H1, H3
    @Test func whatAnotherProcessSavedIsFollowed() async throws {
        let path = folder.file.path, mine = try HistoryStack(folder.file)
        try mine.saveCities("a", "b")
        let city = try mine.context.performAndWait { try mine.city("a") }, token = try #require(mine.token)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try HistoryStack(URL(fileURLWithPath: path))
            other.context.performAndWait {
                other.context.name = "elsewhere"
                other.context.transactionAuthor = "another process"
            }
            try other.save { context in
                try other.city("a").setValue("theirs", forKey: "name")
                context.delete(try other.city("b"))
                context.make("Officer", ["name": "Eve", "rank": 3])
            }
        }
        let new = try mine.transactions(after: token)
        #expect(new.map(\.author) == ["another process"] && new.map(\.contextName) == ["elsewhere"])
        #expect(new.first?.changes?.map(\.changeType) == [.insert, .update, .delete])
        #expect(new.first?.changes?.last?.tombstone?["name"] as? String == "city b")
        _ = try follow(mine, after: token)
        #expect(mine.context.performAndWait { city.value(forKey: "name") as? String } == "theirs")
        #expect(try mine.context.performAndWait { try mine.context.names("Officer") } == ["Eve"])
    }

    // T15
    @Test func aRemoteChangeSaysHowFarTheHistoryGoes() async throws {
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
        let mine = try HistoryStack(folder.file, options: options), other = try HistoryStack(folder.file, options: options)
        let (tokens, teller) = AsyncStream.makeStream(of: NSPersistentHistoryToken.self)
        let observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: mine.coordinator, queue: nil) {
            guard let token = $0.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken else { return teller.finish() }
            teller.yield(token)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        var told = tokens.makeAsyncIterator()
        let start = try #require(mine.token)
        try mine.saveCities("a")
        var last = try await Self.next(&told, after: start)
        #expect(last == mine.token)
        for code in ["b", "c"] {
            try other.saveCities(code)
            let before = last
            last = try await Self.next(&told, after: before)
            // Just what is new.
            let new = try mine.transactions(after: before), city = try other.context.performAndWait { try other.city(code).objectID }
            #expect(new.count == 1 && new.last?.token == last)
            #expect(new.first?.changes?.map { $0.changedObjectID.uriRepresentation() } == [city.uriRepresentation()])
        }
    }

    /// The next that is another one: opening a second store may have been told, too.
    private static func next(
        _ told: inout AsyncStream<NSPersistentHistoryToken>.AsyncIterator, after known: NSPersistentHistoryToken
    ) async throws -> NSPersistentHistoryToken {
        while let token = await told.next() {
            if token != known { return token }
        }
        throw CancellationError()
    }

    // T15
    @Test func withoutAHistoryARemoteChangeHasNoToken() throws {
        let stack = try HistoryStack(folder.file, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let told = Told()
        let observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: stack.coordinator, queue: nil) {
            told.hasToken($0.userInfo?[NSPersistentHistoryTokenKey] != nil)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try stack.saveCities("a")
        #expect(told.all == [false])
    }

    private final class Told: Sendable {
        private let flags = Mutex<[Bool]>([])

        func hasToken(_ flag: Bool) { flags.withLock { $0.append(flag) } }
        var all: [Bool] { flags.withLock { $0 } }
    }
}
