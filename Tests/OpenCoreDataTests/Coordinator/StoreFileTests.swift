import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// `destroyPersistentStore` and `replacePersistentStore`.
@Suite struct StoreFileTests {
    /// A filled store's file, and the coordinator that has let go of it.
    private func filled() throws -> (stack: MovingStack, file: URL, before: [String]) {
        let stack = try MovingStack(NSSQLiteStoreType)
        try stack.fill()
        let before = try MovingStack.dump(stack.store), file = stack.place("old.sqlite")
        try stack.coordinator.remove(stack.store)
        return (stack, file, before)
    }

    private func code(_ body: () throws -> Void) -> Int? {
        (#expect(throws: NSError.self) { try body() })?.code
    }

    // S11
    @Test func aDestroyedStoreIsEmptyAndCanBeAddedAsANewOne() throws {
        let (stack, file, before) = try filled()
        let size = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int), uuid = try uuid(file)
        try stack.coordinator.destroyPersistentStore(at: file, ofType: NSSQLiteStoreType)
        let left = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
        #expect(left < size / 4 && before.count > 20)
        #expect(try stack.dump(file: file).isEmpty)
        #expect(try self.uuid(file) != uuid)
    }

    private func uuid(_ file: URL) throws -> String? { try storedMetadata(at: file)[NSStoreUUIDKey] as? String }

    // S11
    @Test func whatIsOnlyInTheLogIsDestroyedToo() throws {
        let stack = try MovingStack(NSSQLiteStoreType)
        try stack.fill()
        let other = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        // The other has it open still, and what it committed is in the log.
        try other.destroyPersistentStore(at: stack.place("old.sqlite"), type: .sqlite)
        #expect(try SQLiteShell(file: stack.place("old.sqlite")).column("SELECT count(*) FROM sqlite_master") == ["0"])
    }

    // S11
    @Test func thereIsNothingToDestroyWhereThereIsNoFile() throws {
        let (stack, _, _) = try filled()
        let files = stack.files
        try stack.coordinator.destroyPersistentStore(at: stack.place("none"), ofType: NSSQLiteStoreType)
        try stack.coordinator.destroyPersistentStore(at: stack.place("none/none"), type: .sqlite)
        try stack.coordinator.destroyPersistentStore(at: stack.place("old.sqlite"), type: .inMemory)
        #expect(stack.files == files)
    }

    // S11
    @Test func whatIsNoStoreIsNeitherDestroyedNorReplaced() throws {
        let (stack, file, _) = try filled()
        let text = stack.place("text"), database = stack.place("database")
        try Data("just words, and not few of them".utf8).write(to: text)
        _ = try SQLiteShell(file: database).rows("CREATE TABLE mine(x); INSERT INTO mine VALUES (1)")
        for place in [text, database] {
            let content = try Data(contentsOf: place)
            #expect([134000, 134080].contains(code { try stack.coordinator.destroyPersistentStore(at: place, type: .sqlite) }))
            #expect(
                [134000, 134080].contains(
                    code { try stack.coordinator.replacePersistentStore(at: place, withPersistentStoreFrom: file, type: .sqlite) }))
            #expect(try Data(contentsOf: place) == content)
        }
        #expect(code { try stack.coordinator.destroyPersistentStore(at: file, ofType: "Granite") } == 134000)
        #expect(
            code { try stack.coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: text, type: .inMemory) } == 134000)
    }

    // S11
    @Test func aStoreThatIsOpenHereIsNeitherDestroyedNorReplaced() throws {
        let stack = try MovingStack(NSSQLiteStoreType), (_, file, _) = try filled()
        try stack.fill()
        let before = try MovingStack.dump(stack.store), open = stack.place("old.sqlite")
        #expect(code { try stack.coordinator.destroyPersistentStore(at: open, ofType: NSSQLiteStoreType) } == 134070)
        #expect(
            code { try stack.coordinator.replacePersistentStore(at: open, withPersistentStoreFrom: file, ofType: NSSQLiteStoreType) } == 134070)
        #expect(try MovingStack.dump(stack.store) == before)
    }

    // S11
    @Test func aStoreIsReplacedWithAnotherUUIDAndAll() throws {
        let (stack, file, _) = try filled(), source = try MovingStack(NSSQLiteStoreType)
        // Open, and with a log.
        try source.root.performAndWait { () throws in
            source.root.make("Person", ["name": "Ada"])
            try source.root.save()
        }
        let before = try MovingStack.dump(source.store)
        try stack.coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: source.place("old.sqlite"), type: .sqlite)
        #expect(try stack.dump(file: file) == before && uuid(file) == source.store.identifier)
        #expect(try MovingStack.dump(source.store) == before)
    }

    // S11
    @Test func aStoreIsPutWhereThereWasNone() throws {
        let (stack, file, before) = try filled()
        try stack.coordinator.replacePersistentStore(at: stack.place(), withPersistentStoreFrom: file, ofType: NSSQLiteStoreType)
        #expect(try stack.dump(file: stack.place()) == before)
    }

    // S11
    @Test func aSourceThatIsNotThereLeavesTheDestinationAsItWas() throws {
        let (stack, file, before) = try filled()
        let files = stack.files
        func replace(_ destination: URL, _ source: URL) throws {
            try stack.coordinator.replacePersistentStore(at: destination, withPersistentStoreFrom: source, type: .sqlite)
        }
        #expect(code { try replace(file, stack.place("none")) } == 134080)
        #expect(code { try replace(stack.place(), stack.place("none")) } == 134080)
        #expect(code { try replace(file, file) } == 134070)
        #expect(code { try replace(stack.place("none/new"), file) } == 134030)
        #expect(stack.files == files)
        #expect(try stack.dump(file: file) == before)
    }
}
