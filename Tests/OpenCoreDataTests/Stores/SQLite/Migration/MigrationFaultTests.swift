import Foundation
import GRDBSQLite
import Glibc
import OpenCoreData
import Synchronization
import Testing

/// What comes in between a migration: another process, a full disk, the end of the process.
@Suite struct MigrationFaultTests {
    /// Two versions whose change alters one table, writes another anew and makes pairs of a to-one.
    private static func model(_ version: Int) -> [NSEntityDescription] {
        let city = StoreModels.entity(
            "City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", version == 1 ? .integer32 : .double)])
        let country = StoreModels.entity("Country", [StoreModels.attribute(version == 1 ? "code" : "iso", .string)])
        country.propertiesByName["iso"]?.renamingIdentifier = "code"
        if version == 2 { country.properties += [NSAttributeDescription(name: "area", type: .integer64, isOptional: false, defaultValue: 1)] }
        StoreModels.relate(city, "country", toMany: version == 2, country, "cities", inverseToMany: true)
        return [city, country]
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        for number in 0..<60 {
            let country = context.make("Country", ["code": "C\(number)"])[0]
            context.make("City", ["name": String(repeating: "x", count: 500), "people": number, "country": country])
        }
        try context.save()
    }

    private static func filled() throws -> MigrationFixture {
        let fixture = try MigrationFixture([SQLiteRowSumsOption: true])
        try fixture.open(model(1), [:]) { try fill($0) }
        return fixture
    }

    /// All is there under the new model.
    private static func expectWhole(_ fixture: MigrationFixture, _ options: [AnyHashable: Any] = MigrationFixture.migrating) throws {
        try fixture.open(model(2), options) { context in
            let cities = try context.all("City", by: "people")
            #expect(cities.map { $0.value(forKey: "people") as? Double } == (0..<60).map(Double.init))
            let codes = cities.map { ($0.value(forKey: "country") as? Set<NSManagedObject>)?.first?.value(forKey: "iso") as? String }
            #expect(codes == (0..<60).map { "C\($0)" })
        }
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }

    // G2
    @Test func whoeverHasTheOldModelOpenSavesNothingAfterTheMigration() throws {
        let fixture = try Self.filled()
        let (context, coordinator, store) = try fixture.connect(Self.model(1))
        try Self.expectWhole(fixture)
        let error = context.performAndWait {
            context.make("City", ["name": "late"])
            return #expect(throws: NSError.self) { try context.save() }
        }
        #expect(error?.code == 134100)
        #expect(error?.localizedDescription.contains("another version of the model") == true)
        try coordinator.remove(store)
        try Self.expectWhole(fixture)
    }

    // G2
    @Test func severalWhoMigrateAtTheSameTimeAllHaveTheNewStore() async throws {
        let fixture = try Self.filled()
        let file = fixture.file
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let options = MigrationFixture.migrating.merging([SQLiteRowSumsOption: true]) { $1 }
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: Self.model(2)))
                    guard
                        let store = try? coordinator.addPersistentStore(
                            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
                    else { return -1 }
                    let context = NSManagedObjectContext(.privateQueueConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    defer { try? coordinator.remove(store) }
                    return context.performAndWait { (try? context.all("City", by: "people").count) ?? -1 }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [60, 60, 60, 60])
        try Self.expectWhole(fixture)
    }

    // G2
    @Test func aDiskThatIsFullAtAnyPointLeavesTheOldStore() throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let pages = try #require(Int(try fixture.shell.column("PRAGMA page_count")[0]))
        var refused = 0
        for limit in pages... {
            let options = MigrationFixture.migrating.merging([NSSQLitePragmasOption: ["max_page_count": limit]]) { $1 }
            do {
                try fixture.open(Self.model(2), options)
                break
            } catch let error as NSError {
                #expect(error.userInfo["NSSQLiteErrorDomain"] as? Int == 13, "\(error)")
                refused += 1
            }
            let now = try fixture.dump()
            #expect(now == before)
        }
        #expect(refused > 3)
        try Self.expectWhole(fixture)
    }

    // G2
    @Test func theEndOfTheProcessAtAnyStatementLeavesTheOldStoreOrTheNewOne() async throws {
        let fixture = try Self.filled(), old = try fixture.dump()
        var isThrough = false, number = 1
        while !isThrough {
            let path = fixture.file.path, limit = number
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, limit = limit as Int] in
                DeadlyStatement.arm(limit)
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: MigrationFaultTests.model(2)))
                _ = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: MigrationFixture.migrating)
                kill(getpid(), SIGKILL)
            }
            let now = try fixture.dump()
            isThrough = now != old
            number += 1
        }
        #expect(number > 20)
        // The new one as it is: nothing is left to be done.
        try Self.expectWhole(fixture, [:])
    }
}

/// Ends the process before a statement of SQLite's, whichever connection runs it.
enum DeadlyStatement {
    private static let left = Atomic<Int>(0)

    static func arm(_ number: Int) {
        left.store(number, ordering: .relaxed)
        let entry: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32 = { connection, _, _ in
            sqlite3_trace_v2(connection, UInt32(SQLITE_TRACE_STMT), { _, _, _, _ in DeadlyStatement.begins() }, nil)
        }
        sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    }

    private static func begins() -> Int32 {
        if left.subtract(1, ordering: .relaxed).newValue == 0 { kill(getpid(), SIGKILL) }
        return 0
    }
}
