import Foundation
import OpenCoreData
import Synchronization
import Testing

/// A store's file that is put in the place of another while somebody looks on.
@Suite struct StoreCopyTests {
    private typealias Told = MigrationWatchTests.Told

    private static func city() -> NSEntityDescription { StoreModels.entity("City", [StoreModels.attribute("name", .string)]) }

    /// Some twelve megabytes: three parts of 1024 pages.
    private static func filled() throws -> MigrationFixture {
        let fixture = try MigrationFixture(), long = String(repeating: "x", count: 4000)
        try fixture.open([city()]) { context in
            for number in 0..<3000 { context.make("City", ["name": "\(number) \(long)"]) }
            try context.save()
        }
        return fixture
    }

    private static func copy(_ fixture: MigrationFixture, to place: URL, _ watch: MigrationWatch) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: place, destinationOptions: [SQLiteMigrationWatchOption: watch], withPersistentStoreFrom: fixture.file, type: .sqlite)
    }

    private static func files(_ fixture: MigrationFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).filter { $0.hasPrefix("copy") }
    }

    // S11
    @Test func aCopySaysHowFarItIsAndWhenItIsWrittenToTheDisk() throws {
        let fixture = try Self.filled(), place = fixture.directory.appendingPathComponent("copy"), told = Told()
        try Self.copy(fixture, to: place, told.watch())
        let shares = told.shares(.copying)
        #expect(shares.count > 2 && shares == shares.sorted() && shares.first == 0 && Set(shares).count == shares.count, "\(shares)")
        #expect(told.steps == [.copying, .finishingCopy] && told.shares(.finishingCopy) == [0, 1])
        #expect(try SQLiteShell(file: place).column(".dump") == fixture.dump())
    }

    // S11
    @Test func aSmallStoreIsCopiedInOneStep() throws {
        let fixture = try MigrationFixture(), place = fixture.directory.appendingPathComponent("copy"), told = Told()
        try fixture.open([Self.city()])
        try Self.copy(fixture, to: place, told.watch())
        #expect(told.shares(.copying) == [0] && told.shares(.finishingCopy) == [0, 1])
    }

    // S11
    @Test(arguments: [MigrationWatch.Step.copying, .finishingCopy], [0, 0.2, 0.5]) func ofACopyThatIsGivenUpNothingIsLeft(
        in step: MigrationWatch.Step, at share: Double
    ) throws {
        let fixture = try Self.filled(), place = fixture.directory.appendingPathComponent("copy"), before = try fixture.dump()
        let error = #expect(throws: CocoaError.self) {
            try Self.copy(fixture, to: place, MigrationWatch { $0 != step || step == .copying && $1 < share })
        }
        #expect(error?.code == .userCancelled)
        #expect(error?.localizedDescription == "The copy of \(fixture.file.path) was given up. Nothing was changed.")
        #expect(try Self.files(fixture) == [])
        #expect(try fixture.dump() == before)
    }

    // S11
    @Test func aStoreWhoseReplacementIsGivenUpIsAsItWas() throws {
        let fixture = try Self.filled(), other = try MigrationFixture()
        try other.open([Self.city()]) { context in
            context.make("City", ["name": "Ghent"])
            try context.save()
        }
        let before = try other.dump()
        #expect(throws: CocoaError.self) { try Self.copy(fixture, to: other.file, MigrationWatch { $1 < 0.5 }) }
        #expect(try other.dump() == before)
    }

    // S11
    @Test func aCopyIsOfOneMomentWhoeverWritesMeanwhile() throws {
        let fixture = try Self.filled(), place = fixture.directory.appendingPathComponent("copy"), before = try fixture.dump()
        let writes = Mutex(0), shell = fixture.shell
        let told = Told()
        try Self.copy(
            fixture, to: place,
            told.watch { step, share in
                guard step == .copying, share > 0 else { return true }
                writes.withLock { $0 += 1 }
                return (try? shell.rows("UPDATE ZCITY SET ZNAME = 'new' WHERE Z_PK = 1")) != nil
            })
        #expect(writes.withLock { $0 } > 0)
        #expect(told.shares(.copying) == told.shares(.copying).sorted())
        #expect(try SQLiteShell(file: place).column(".dump") == before)
        #expect(try fixture.shell.column("SELECT name FROM City WHERE _pk = 1") == ["new"])
    }
}
