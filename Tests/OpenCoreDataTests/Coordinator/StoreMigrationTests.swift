import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// `migratePersistentStore`: Save As.
@Suite(.timeLimit(.minutes(60))) struct StoreMigrationTests {
    struct Way: CustomTestStringConvertible, Sendable {
        let from: String
        let to: String
        var testDescription: String { "\(from) to \(to)" }
    }

    static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType]
    static let ways = types.flatMap { from in types.map { Way(from: from, to: $0) } }

    // G7
    @Test(arguments: ways) func allThatAStoreHoldsGoesOver(way: Way) throws {
        let stack = try MovingStack(way.from)
        try stack.fill()
        let old = stack.store, before = try MovingStack.dump(old), uuid = old.identifier
        #expect(before.contains { $0.hasPrefix("Person.") && $0.contains(" v4") } && before.contains { $0.contains("in order") } && before.count > 20)
        let new = try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: way.to)
        #expect(stack.coordinator.persistentStores == [new] && new.type == way.to && new.url == stack.place())
        let difference = try Set(MovingStack.dump(new)).symmetricDifference(before).sorted()
        #expect(difference == [])
        #expect(new.identifier != uuid && UUID(uuidString: new.identifier) != nil && new.configurationName == old.configurationName)
        #expect(new.persistentStoreCoordinator === stack.coordinator)
        try stack.coordinator.remove(new)
        if way.to == NSSQLiteStoreType { #expect(try stack.dump(file: stack.place()) == before) }
        if way.from == NSSQLiteStoreType { #expect(try stack.dump(file: stack.place("old.sqlite")) == before) }
        #expect(!stack.files.contains { $0.hasPrefix(".") })
    }

    // G7
    @Test(arguments: ways) func theOldStoreLeavesTheCoordinatorAndKeepsItsUUID(way: Way) throws {
        let stack = try MovingStack(way.from)
        let old = stack.store, uuid = old.identifier
        let new = try stack.coordinator.migratePersistentStore(old, to: stack.place(), type: NSPersistentStore.StoreType(rawValue: way.to))
        #expect(old.identifier == uuid && old.metadata[NSStoreUUIDKey] as? String == uuid && old.persistentStoreCoordinator == nil)
        #expect(new.metadata[NSStoreUUIDKey] as? String == new.identifier && new.metadata[NSStoreTypeKey] as? String == way.to)
        #expect(stack.coordinator.persistentStore(for: stack.place()) === new)
        if way.from == NSSQLiteStoreType {
            let again = try stack.coordinator.addPersistentStore(ofType: way.from, configurationName: nil, at: old.url)
            #expect(again.identifier == uuid)
        }
    }

    // G7
    @Test(arguments: ways) func contextsGoOnWithTheirObjectsAndUnsavedChanges(way: Way) throws {
        let stack = try MovingStack(way.from)
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = stack.root
        let (ada, fault, unsaved, gone) = try stack.root.performAndWait { () throws in
            let people = ["Ada", "Bea", "Cleo"].map { stack.root.make("Person", ["name": $0, "age": 1]) }
            try stack.root.save()
            people[0].setValue("Ida", forKey: "name")
            stack.root.refresh(people[1], mergeChanges: false)
            stack.root.delete(people[2])
            return (people[0], people[1], stack.root.make("Person", ["name": "Dora"]), people[2].objectID)
        }
        let pushed = try child.performAndWait { () throws in
            let eve = child.make("Person", ["name": "Eve"])
            try child.save()
            return eve.objectID
        }
        let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: way.to)
        try stack.root.performAndWait { () throws in
            #expect(try MovingStack.dump(new).count == 3)
            #expect(stack.root.insertedObjects.contains(unsaved) && stack.root.updatedObjects == [ada] && stack.root.deletedObjects.count == 1)
            #expect(ada.objectID.persistentStore === new && unsaved.objectID.isTemporaryID && pushed.isTemporaryID)
            #expect(fault.isFault && fault.value(forKey: "name") as? String == "Bea")
            #expect(ada.objectID.uriRepresentation().host == new.identifier)
            try stack.root.save()
            #expect(unsaved.objectID.persistentStore === new && pushed.persistentStore === new)
            #expect(try stack.root.names("Person") == ["Bea", "Dora", "Eve", "Ida"])
        }
        #expect(try MovingStack.dump(new).count == 4 && new.rows(for: [gone]).isEmpty)
        if way.from == NSSQLiteStoreType { #expect(try stack.dump(file: stack.place("old.sqlite")).count == 3) }
    }

    // G7
    @Test func anIDIsFoundByItsNewURIAndNotByItsOldOne() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        let id = try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person")
            try stack.root.save()
            return ada.objectID
        }
        let old = id.uriRepresentation()
        try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: NSSQLiteStoreType)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: old) == nil)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id && id.uriRepresentation() != old)
    }

    // G7, P1
    @Test(arguments: ways) func versionsGoOnSoThatNoSaveAfterwardsIsAConflict(way: Way) throws {
        let stack = try MovingStack(way.from), other = stack.context()
        try stack.fill()
        let ada = try stack.root.performAndWait { try #require(stack.root.all("Person").first) }
        let same = other.performAndWait { () -> NSManagedObject in
            let same = other.object(with: ada.objectID)
            _ = same.value(forKey: "age")
            return same
        }
        let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: way.to)
        try stack.root.performAndWait { () throws in
            ada.setValue(50, forKey: "age")
            try stack.root.save()
        }
        #expect(try new.rows(for: [ada.objectID])[ada.objectID]?.version == 5)
        other.performAndWait {
            same.setValue(60, forKey: "age")
            #expect((#expect(throws: NSError.self) { try other.save() })?.code == CocoaError.Code.managedObjectMerge.rawValue)
        }
    }

    // G7
    @Test(arguments: ways) func keysThatWereHandedOutBeforeAreNotHandedOutAgain(way: Way) throws {
        let stack = try MovingStack(way.from)
        try stack.root.performAndWait { () throws in
            for _ in 0..<3 { stack.root.make("Dog") }
            try stack.root.save()
            var keys = Set((0..<10).map { _ in stack.root.make("Puppy").objectID.key })
            let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: way.to)
            // More than there are in stock.
            for _ in 0..<3000 { keys.insert(stack.root.make("Puppy").objectID.key) }
            for _ in 0..<3000 { keys.insert(stack.root.make("Animal").objectID.key) }
            #expect(keys.count == 6010)
            try stack.root.save()
            #expect(try MovingStack.dump(new).count == 6013)
            #expect(try new.largestKey(for: #require(stack.coordinator.managedObjectModel.entitiesByName["Animal"])) >= #require(keys.max()))
        }
    }

    // T13
    @Test func theChangeOfUUIDIsAnnouncedWithTheOldAndTheNewStore() throws {
        let stack = try MovingStack(NSInMemoryStoreType), old = stack.store
        let seen = Mutex<[String]>([]), stores = Unchecked(value: Stores())
        let tokens = [
            NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: old, queue: nil) { _ in
                seen.withLock { $0.append("will remove") }
            },
            NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreCoordinatorStoresDidChange, object: stack.coordinator, queue: nil
            ) { notification in
                seen.withLock { $0 += (notification.userInfo ?? [:]).keys.compactMap { $0 as? String } }
                stores.value.found = notification.userInfo?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore] ?? []
            },
        ]
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        let new = try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
        #expect(seen.withLock { $0 } == ["will remove", "UUIDChanged"] && stores.value.found == [old, new])
    }

    // Used on the test's thread only.
    private final class Stores { var found: [NSPersistentStore] = [] }

    // G7
    @Test func anObserverMaySaveBeforeTheStoreIsRead() throws {
        let stack = try MovingStack(NSInMemoryStoreType), old = stack.store, root = stack.root
        root.performAndWait { _ = root.make("Person", ["name": "late"]) }
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: old, queue: nil) { _ in
            root.performAndWait { () -> Void in #expect(throws: Never.self) { try root.save() } }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let new = try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
        #expect(try MovingStack.dump(new).count == 1)
    }

    // G7, S5
    @Test(arguments: ways) func metadataOfOnesOwnGoesOverAndWhatAStoreSaysOfItselfDoesNot(way: Way) throws {
        let stack = try MovingStack(way.from)
        try stack.root.performAndWait { () throws in
            stack.coordinator.setMetadata(["author": "Ada", NSStoreUUIDKey: "made up"], for: stack.store)
            try stack.root.save()
        }
        let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: way.to)
        #expect(new.metadata["author"] as? String == "Ada" && new.metadata[NSStoreUUIDKey] as? String == new.identifier)
        #expect((new.metadata[NSStoreModelVersionHashesKey] != nil) == (way.to != NSInMemoryStoreType) && !new.hasUnsavedMetadata)
        if way.to == NSSQLiteStoreType { #expect(try storedMetadata(at: stack.place())["author"] as? String == "Ada") }
    }

    // G7, S5
    @Test func unsavedMetadataStaysUnsavedAndIsWrittenToTheNewStore() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        stack.coordinator.setMetadata(["author": "Ada"], for: stack.store)
        let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: NSSQLiteStoreType)
        #expect(new.hasUnsavedMetadata && new.metadata["author"] as? String == "Ada")
        #expect(try storedMetadata(at: stack.place())["author"] == nil)
        try stack.root.performAndWait { try stack.root.save() }
        #expect(try storedMetadata(at: stack.place())["author"] as? String == "Ada")
        #expect(try storedMetadata(at: stack.place("old.sqlite"))["author"] == nil)
    }

    // G7
    @Test(arguments: types) func aFileThatIsThereIsNotWrittenOver(type: String) throws {
        let stack = try MovingStack(type)
        try stack.fill()
        let before = try MovingStack.dump(stack.store), old = stack.store
        for content in ["", "somebody's"] {
            try Data(content.utf8).write(to: stack.place())
            let error = #expect(throws: NSError.self) {
                try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
            }
            #expect(error?.code == CocoaError.Code.migrationManagerDestinationStore.rawValue)
            #expect(error?.localizedDescription.contains("exists already") == true)
            #expect(try String(contentsOf: stack.place(), encoding: .utf8) == content)
        }
        #expect(stack.coordinator.persistentStores == [old])
        #expect(try MovingStack.dump(old) == before)
    }

    // G7
    @Test func aPlaceThatIsNoGoodIsRefusedBeforeAnythingIsDone() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        try Data("log".utf8).write(to: stack.place("other.sqlite-wal"))
        let files = stack.files
        func refused(_ url: URL, _ type: String = NSSQLiteStoreType) -> Int? {
            (#expect(throws: NSError.self) { try stack.coordinator.migratePersistentStore(stack.store, to: url, withType: type) })?.code
        }
        #expect(refused(stack.place("nowhere/new.sqlite")) == 134160)
        #expect(refused(try #require(URL(string: "https://example.org/x"))) == 134160)
        #expect(refused(stack.place("other.sqlite")) == 134160)
        #expect(refused(stack.place("old.sqlite")) == 134160)
        #expect(refused(stack.place(), "Granite") == 134000)
        #expect(stack.files == files)
    }

    // G7
    @Test func aStoreOfAnotherCoordinatorIsRefused() throws {
        let stack = try MovingStack(NSInMemoryStoreType), other = try MovingStack(NSInMemoryStoreType)
        let error = #expect(throws: NSError.self) {
            try stack.coordinator.migratePersistentStore(other.store, to: stack.place(), withType: NSSQLiteStoreType)
        }
        #expect(error?.code == CocoaError.Code.persistentStoreOperation.rawValue && stack.files.isEmpty)
    }

    // G7
    @Test(arguments: types) func whereReadingFailsTheOldStoreStaysAndNothingIsLeftOver(type: String) throws {
        let stack = try MovingStack(NSInMemoryStoreType)
        try stack.fill()
        let old = try #require(stack.store as? InMemoryStore), uuid = old.identifier, before = try MovingStack.dump(old)
        struct Broken: Error {}
        old.observe { request in if case .related = request { throw Broken() } }
        #expect(throws: Broken.self) { try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: type) }
        old.observe(nil)
        #expect(stack.files.isEmpty && stack.coordinator.persistentStores == [old] && old.identifier == uuid)
        try stack.root.performAndWait { () throws in
            #expect(try stack.root.all("Person").first?.objectID.persistentStore === old)
            stack.root.make("Person")
            try stack.root.save()
        }
        #expect(try MovingStack.dump(old).count == before.count + 1)
    }

    // G7
    @Test(arguments: types) func whereTheNewStoreCannotBeOpenedTheOldOneStaysAndNothingIsLeftOver(type: String) throws {
        let stack = try MovingStack(type)
        try stack.fill()
        let old = stack.store, files = stack.files
        let error = #expect(throws: NSError.self) {
            try stack.coordinator.migratePersistentStore(
                old, to: stack.place(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]], withType: NSSQLiteStoreType)
        }
        #expect(error?.code == CocoaError.Code.persistentStoreOpen.rawValue)
        #expect(stack.files == files && stack.coordinator.persistentStores == [old])
        try stack.root.performAndWait { () throws in
            stack.root.make("Person")
            try stack.root.save()
        }
    }

    // G7
    @Test func aSaveThatComesMeanwhileWaitsAndGoesToTheNewStore() throws {
        let stack = try MovingStack(NSInMemoryStoreType), other = stack.context()
        try stack.fill()
        let old = try #require(stack.store as? InMemoryStore)
        let isMade = DispatchSemaphore(value: 0), isSaved = DispatchSemaphore(value: 0), isFirst = Mutex(true)
        old.observe { request in
            guard case .fetch = request, isFirst.withLock({ $0 }) else { return }
            isFirst.withLock { $0 = false }
            Thread.detachNewThread {
                other.performAndWait {
                    other.make("Tag", ["word": "late"])
                    isMade.signal()
                    #expect(throws: Never.self) { try other.save() }
                }
                isSaved.signal()
            }
            isMade.wait()
        }
        let count = old.rowCount
        let new = try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
        isSaved.wait()
        #expect(old.rowCount == count)
        let late = try stack.root.performAndWait { try stack.root.all("Tag", "word == 'late'").map(\.objectID) }
        #expect(late.map(\.persistentStore) == [new])
    }

    // G7
    @Test func fetchesAndFaultsGoOnWhileStoresAreMigrated() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        try stack.fill()
        let coordinator = stack.coordinator, isOver = Atomic(false), readers = DispatchGroup(), rounds = Mutex([0, 0, 0])
        for reader in 0..<3 {
            let context = stack.context()
            readers.enter()
            Thread.detachNewThread {
                while !isOver.load(ordering: .acquiring) {
                    context.performAndWait {
                        #expect(throws: Never.self) {
                            let books = try context.all("Book")
                            #expect(books.count == 5)
                            for book in books { _ = (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") }
                            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
                        }
                        context.reset()
                    }
                    coordinator.rowCache.removeAll()
                    rounds.withLock { $0[reader] += 1 }
                }
                readers.leave()
            }
        }
        for number in 0..<12 {
            try stack.coordinator.migratePersistentStore(
                stack.store, to: stack.place("\(number)"), withType: number % 3 == 2 ? NSInMemoryStoreType : NSSQLiteStoreType)
        }
        isOver.store(true, ordering: .releasing)
        readers.wait()
        #expect(rounds.withLock { $0 }.allSatisfy { $0 > 0 })
    }

    // G7
    @Test(arguments: types) func whatOthersWriteMeanwhileIsThereWholeOrNotAtAll(type: String) throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "0"])
            stack.root.make("Tag", ["word": "0"])
            try stack.root.save()
        }
        let other = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.place("old.sqlite"))
        let writer = NSManagedObjectContext(.privateQueueConcurrencyType), isOver = Atomic(false), hasEnded = DispatchSemaphore(value: 0)
        let hasBegun = DispatchSemaphore(value: 0)
        writer.persistentStoreCoordinator = other
        Thread.detachNewThread {
            writer.performAndWait { () -> Void in
                #expect(throws: Never.self) {
                    let person = try #require(writer.all("Person").first), tag = try #require(writer.all("Tag").first)
                    var number = 0
                    while !isOver.load(ordering: .acquiring) {
                        number += 1
                        person.setValue("\(number)", forKey: "name")
                        tag.setValue("\(number)", forKey: "word")
                        try writer.save()
                        if number == 1 { hasBegun.signal() }
                    }
                }
            }
            hasEnded.signal()
        }
        hasBegun.wait()
        try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: type)
        isOver.store(true, ordering: .releasing)
        hasEnded.wait()
        try stack.root.performAndWait { () throws in
            stack.root.reset()
            let name = try stack.root.names("Person"), word = try stack.root.names("Tag", "word")
            #expect(name == word && name != ["0"])
        }
    }

    // G7
    @Test func aRequestForAStoreAsksTheOneInItsPlace() throws {
        let stack = try MovingStack(NSInMemoryStoreType), old = stack.store
        try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try stack.root.performAndWait { () throws in
            stack.root.make("Person")
            try stack.root.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.affectedStores = [old]
            try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
            #expect(try stack.root.fetch(request).count == 1)
            request.affectedStores = [stack.coordinator.persistentStores[1]]
            #expect(try stack.root.fetch(request).isEmpty)
        }
    }

    // G7, S9
    @Test func theNewStoreStandsWhereTheOldOneStood() throws {
        let stack = try MovingStack(NSInMemoryStoreType)
        let second = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let first = stack.store
        let id = try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person")
            try stack.root.save()
            return ada.objectID
        }
        let new = try stack.coordinator.migratePersistentStore(first, to: stack.place(), withType: NSSQLiteStoreType)
        #expect(stack.coordinator.persistentStores == [new, second] && id.persistentStore === new)
        let newer = try stack.coordinator.migratePersistentStore(second, to: stack.place("2"), withType: NSSQLiteStoreType)
        #expect(stack.coordinator.persistentStores == [new, newer] && id.persistentStore === new)
        #expect(try MovingStack.dump(newer).isEmpty)
    }

    // G7, S6
    @Test func aStoreForReadingOnlyCanBeMigratedFromAndTo() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        try stack.fill()
        let before = try MovingStack.dump(stack.store)
        let frozen = try stack.coordinator.migratePersistentStore(
            stack.store, to: stack.place(), options: [NSReadOnlyPersistentStoreOption: true], withType: NSSQLiteStoreType)
        #expect(frozen.isReadOnly)
        #expect(try MovingStack.dump(frozen) == before)
        let free = try stack.coordinator.migratePersistentStore(frozen, to: stack.place("free"), withType: NSSQLiteStoreType)
        #expect(!free.isReadOnly)
        #expect(try MovingStack.dump(free) == before)
        try stack.root.performAndWait { () throws in
            stack.root.make("Person")
            try stack.root.save()
        }
    }

    // G7, GB31
    @Test func aStoreWhosePushJournalIsKeptIsNotMigrated() throws {
        let stack = try MovingStack(NSInMemoryStoreType)
        stack.coordinator.pushRecorder.withLock { $0 = Recorder() }
        let error = #expect(throws: NSError.self) {
            try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: NSSQLiteStoreType)
        }
        #expect(error?.code == CocoaError.Code.persistentStoreOperation.rawValue && error?.localizedDescription.contains("push journal") == true)
    }

    private final class Recorder: PushRecorder {
        func inTurn<T>(_ body: () throws -> T) rethrows -> T { try body() }
        func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> { ids }
        func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64 { 1 }
        func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?) {}
        func willCommit(_ turn: PushTurn) {}
        func didCommit(through entry: UInt64) {}
        func turned(_ turn: PushTurn) {}
    }

    // G7, GB31
    @Test(arguments: ways) func howFarAJournalWasCommittedGoesOver(way: Way) throws {
        let stack = try MovingStack(way.from)
        var changes = ChangeSet()
        changes.journaled = 3...7
        _ = try stack.store.save(changes)
        let new = try stack.coordinator.migratePersistentStore(stack.store, to: stack.place(), withType: way.to)
        #expect(try new.pushMark == 7)
    }

    // G7
    @Test func metadataThatNoFileCanKeepIsRefusedBeforeAnythingIsDone() throws {
        let stack = try MovingStack(NSInMemoryStoreType)
        try stack.fill()
        let old = stack.store, before = try MovingStack.dump(old)
        stack.coordinator.setMetadata(["origin": stack.place()], for: old)
        let error = #expect(throws: NSError.self) {
            try stack.coordinator.migratePersistentStore(old, to: stack.place(), withType: NSSQLiteStoreType)
        }
        #expect(error?.code == 134160 && error?.localizedDescription.contains("origin") == true)
        #expect(stack.store === old && stack.files.isEmpty)
        #expect(try MovingStack.dump(old) == before)
    }
}
