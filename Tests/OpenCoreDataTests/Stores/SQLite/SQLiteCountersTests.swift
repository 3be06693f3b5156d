import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a store counts, where another program has left numbers that nobody can have counted to.
@Suite struct SQLiteCountersTests {
    private let fixture: StoreFixture
    private let coordinator: NSPersistentStoreCoordinator
    private let context = NSManagedObjectContext(.privateQueueConcurrencyType)

    init() throws {
        let model = Company.model()
        fixture = try StoreFixture(model)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        coordinator.add(fixture.store)
        context.persistentStoreCoordinator = coordinator
    }

    private func person() throws -> NSManagedObjectID {
        try context.performAndWait { [context] in
            let person = context.make("Person", ["name": "Ada"])
            try context.save()
            context.reset()
            return person.objectID
        }
    }

    // P1
    @Test(arguments: ["9223372036854775807", "9223372036854775806", "9.3e18", "-9.3e18", "NULL", "'none'", "2.5", "-9223372036854775808"])
    func aRowIsSavedWhateverItsVersionHasBecome(_ version: String) throws {
        let id = try person()
        _ = try fixture.shell.rows("UPDATE ZPERSON SET Z_OPT = \(version)")
        try context.performAndWait { [context] in
            let person = context.object(with: id)
            context.refresh(person, mergeChanges: false)
            for name in ["Bo", "Cy", "Di"] {
                person.setValue(name, forKey: "name")
                // Where another context has read the row before, its version has changed under it.
                do { try context.save() } catch {
                    #expect((error as NSError).code == 133020, "\(error)")
                    context.refresh(person, mergeChanges: true)
                    try context.save()
                }
            }
            #expect(try fixture.shell.rows("SELECT ZNAME, typeof(Z_OPT) FROM ZPERSON").map { $0[0] } == ["Di"])
            // Somebody else's change is noticed as ever.
            let other = NSManagedObjectContext(.privateQueueConcurrencyType)
            other.persistentStoreCoordinator = coordinator
            try other.performAndWait {
                other.object(with: id).setValue("Eve", forKey: "nick")
                try other.save()
            }
            person.setValue("Flo", forKey: "nick")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == 133020)
            context.rollback()
            context.refresh(person, mergeChanges: false)
            context.delete(context.object(with: id))
            try context.save()
        }
        #expect(try fixture.shell.column("SELECT count(*) FROM ZPERSON") == ["0"])
    }

    // P1
    @Test func aVersionThatCannotBeCountedOnBeginsAnewAsAnInteger() throws {
        let id = try person()
        _ = try fixture.shell.rows("UPDATE ZPERSON SET Z_OPT = 9223372036854775807")
        var changes = ChangeSet()
        try changes.update(id, from: try #require(try fixture.stored(id)), ["name": .string("Bo")])
        #expect(try fixture.store.save(changes).version(of: id, .updated) == 1)
        #expect(try fixture.shell.rows("SELECT ZNAME, Z_OPT, typeof(Z_OPT) FROM ZPERSON") == [["Bo", "1", "integer"]])
    }

    // GB8
    @Test(arguments: ["9223372036854775807", "9223372036854775806", "9.3e18"]) func newObjectsAreSavedThoughNoKeysAreLeft(_ last: String) throws {
        _ = try fixture.shell.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last)")
        let entity = try fixture.entity("Person")
        let error = #expect(throws: NSError.self) { _ = try fixture.store.reserveKeys(for: entity, count: 1) }
        let words = error?.localizedDescription ?? ""
        #expect(error?.code == 134030)
        for part in [fixture.file.path, "Z_MAX", "Z_PRIMARYKEY", "largest Z_PK of ZPERSON"] { #expect(words.contains(part), "\(words)") }
        try context.performAndWait { [context] in
            for _ in 1...3 {
                for _ in 1...1500 { context.make("Person", ["name": "Ada"]) }
                try context.save()
            }
        }
        #expect(try fixture.shell.rows("SELECT count(*), count(DISTINCT Z_PK), min(Z_PK) > 0 FROM ZPERSON") == [["4500", "4500", "1"]])
        #expect(try fixture.shell.column("SELECT typeof(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") == [last == "9.3e18" ? "real" : "integer"])
    }

    // S9: what is moved into memory goes on where the file's counter stands.
    @Test func aCounterAtItsEndInMemoryIsNoTrapEither() throws {
        let stack = TestStack(), entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        try stack.store.raiseLargestKey(for: entity, to: .max)
        let error = #expect(throws: NSError.self) { _ = try stack.store.reserveKeys(for: entity, count: 2) }
        #expect(error?.code == 134030)
        try stack.root.performAndWait {
            for name in ["Ada", "Bo"] { stack.root.make("Person", ["name": name]) }
            try stack.root.save()
        }
        #expect(try Set(stack.stored("Person", "name")) == ["Ada", "Bo"])
    }

    // H1
    @Test func aHistoryThatCannotBeCountedOnSaysSo() throws {
        let folder = try HistoryFolder(), stack = try HistoryStack(folder.file)
        try stack.saveCities("a")
        let shell = SQLiteShell(file: folder.file)
        for (number, table) in [(16001, "ACHANGE"), (16002, "ATRANSACTION")] {
            let before = try shell.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)")[0]
            _ = try shell.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = \(number)")
            let error = #expect(throws: NSError.self) { try stack.saveCities("b") }
            #expect(error?.code == 134030 && error?.localizedDescription.contains("largest Z_PK of \(table)") == true)
            _ = try stack.transactions()
            _ = try stack.token.map { try stack.transactions(after: $0) }
            _ = try shell.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = \(before) WHERE Z_ENT = \(number)")
        }
        // Without any transaction the next one's number is asked for.
        _ = try shell.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_ENT = 16002; DELETE FROM ATRANSACTION")
        #expect(try stack.transactions(after: NSPersistentHistoryToken([stack.store.identifier: .max])).isEmpty)
        // And one that stands before the first.
        _ = try shell.rows(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (-9223372036854775808, 16002, 1, 1e9)")
        _ = try? stack.transactions(after: NSPersistentHistoryToken([stack.store.identifier: 3]))
    }
}
