import Foundation
import OpenCoreData
import Testing

/// The sum beside a row says whether anything but a store changed it.
struct RowSumTests {
    private static var options: [AnyHashable: Any] { [SQLiteRowSumsOption: true] }

    private static func changed(_ file: URL) throws -> [String: [Int64]] {
        let found = try SQLiteStoreVerification.verify(file).entities.filter { $0.changed > 0 }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.keys) })
    }

    /// Values that a file keeps in another form than that in which they come.
    private static let values: [[String: AttributeValue]] = [
        [:],
        ["small": .int64(-3), "medium": .int64(.init(Int32.min)), "large": .int64(.max), "flag": .bool(true)],
        ["real": .double(-0.0), "short": .double(0.1), "when": .date(-0.0)], ["real": .double(5), "when": .date(5)],
        ["real": .double(9_223_372_036_854_775_808), "when": .date(1e300)], ["real": .double(.infinity), "when": .date(0.1)],
        ["money": .decimal(5)], ["money": .decimal(Decimal(string: "0.1") ?? 0)],
        ["money": .decimal(Decimal(string: "12345678901234567890.1234567") ?? 0)], ["money": .decimal(Decimal(string: "1e30") ?? 0)],
        ["text": .string(""), "bytes": .data(Data())], ["text": .string("12"), "bytes": .data(Data("12".utf8))],
        ["text": .string(" 1e5 \u{0}ß"), "bytes": .data(Data([0, 255]))],
        ["uuid": .uuid(UUID(uuidString: "00000000-0000-0000-0000-0000000000FF") ?? UUID())],
    ]

    @Test(arguments: 0..<14) func everyValueIsAsItWasWritten(_ number: Int) throws {
        let fixture = try StoreFixture(StoreModels.everything(), options: Self.options)
        let values = Self.values[number]
        let id = try fixture.insert("Thing", values)
        #expect(try Self.changed(fixture.file) == [:])
        // From these values to the next, and back.
        for next in [Self.values[(number + 1) % Self.values.count], values] {
            let base = try #require(try fixture.stored(id))
            let emptied = Dictionary(uniqueKeysWithValues: values.keys.map { ($0, AttributeValue.null) })
            var changes = ChangeSet()
            try changes.update(id, from: base, emptied.merging(next) { _, new in new })
            try fixture.save(changes)
            #expect(try Self.changed(fixture.file) == [:])
        }
        let report = try SQLiteStoreVerification.verify(fixture.file)
        #expect(report.isSound && report.entities.map(\.rows) == [1] && report.entities.map(\.unknown) == [0])
    }

    @Test(arguments: [
        "ZAGE = 37", "ZAGE = NULL", "ZNAME = 'Adå'", "ZNAME = x'416461'", "ZFAVOURITE = 2", "Z_1FAVOURITE = 3", "Z_ENT = 3", "Z_PK = 7",
        "ZAGE = ZAGE + 1, ZFAVOURITE = ZFAVOURITE - 1",
    ])
    func whatAnotherProgramChangedIsFound(_ change: String) throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: Self.options)
        let dog = try fixture.insert("Dog", ["name": .string("Rex")])
        try fixture.insert("Person", ["name": .string("Bo")])
        try fixture.insert("Person", ["name": .string("Ada"), "age": .int64(36), "favourite": .objectID(dog)])
        _ = try fixture.shell.rows("UPDATE ZPERSON SET \(change.replacing("Z_1", with: "Z\(try number(of: "Animal", fixture))_")) WHERE Z_PK = 2")
        let report = try SQLiteStoreVerification.verify(fixture.file)
        #expect(report.damage == [] && !report.isSound)
        #expect(report.entities.reduce(0) { $0 + $1.changed } == 1)
        #expect(report.entities.flatMap(\.keys) == [change == "Z_PK = 7" ? 7 : 2])
    }

    private func number(of entity: String, _ fixture: StoreFixture) throws -> String {
        let columns = try fixture.shell.column("SELECT name FROM pragma_table_info('ZPERSON') WHERE name LIKE 'Z%\\_FAVOURITE' ESCAPE '\\'")
        return try #require(columns.first).dropFirst().prefix { $0 != "_" }.description
    }

    @Test func aRowThatAnotherProgramAddedIsFound() throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: Self.options)
        try fixture.insert("Person", ["name": .string("Ada")])
        _ = try fixture.shell.rows("INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 9, Z_ENT, 1, 'Eve' FROM ZPERSON")
        #expect(try Self.changed(fixture.file) == ["Person": [9]])
    }

    // What is saved afterwards does not make right what it does not replace.
    @Test func whatAnotherProgramChangedStaysVisibleAfterASaveOfOtherValues() throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: Self.options)
        let id = try fixture.insert("Person", ["name": .string("Ada"), "age": .int64(36)])
        let base = try #require(try fixture.stored(id))
        _ = try fixture.shell.rows("UPDATE ZPERSON SET ZNAME = 'Eve'")
        var changes = ChangeSet()
        try changes.update(id, from: base, ["age": .int64(37)])
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT ZNAME, ZAGE FROM ZPERSON") == [["Eve", "37"]])
        #expect(try Self.changed(fixture.file) == ["Person": [1]])
    }

    @Test func rowsThatExchangeTheirKeysAreAsTheyWereWritten() throws {
        let fixture = try StoreFixture(StoreModels.keys(), options: Self.options)
        let first = try fixture.insert("City", ["code": .string("a"), "number": .int64(1)])
        let second = try fixture.insert("City", ["code": .string("b"), "number": .int64(2)])
        let bases = try fixture.store.rows(for: [first, second])
        var changes = ChangeSet()
        try changes.update(first, from: try #require(bases[first]), ["code": .string("b")])
        try changes.update(second, from: try #require(bases[second]), ["code": .string("a")])
        try fixture.save(changes)
        #expect(try fixture.shell.column("SELECT ZCODE FROM ZCITY ORDER BY Z_PK") == ["b", "a"])
        #expect(try Self.changed(fixture.file) == [:])
    }

    @Test func anOrderThatAnotherProgramChangedIsFound() throws {
        let fixture = try StoreFixture(StoreModels.relations(), options: Self.options)
        let model = fixture.model
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        coordinator.add(fixture.store)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let authors = ["a", "b"].map { name in
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue(name, forKey: "name")
                return author
            }
            let books = (0..<4).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) }
            authors[0].setValue(NSOrderedSet(array: books), forKey: "books")
            try context.save()
            authors[0].setValue(NSOrderedSet(array: [books[2], books[0]]), forKey: "books")
            authors[1].setValue(NSOrderedSet(array: [books[1]]), forKey: "books")
            try context.save()
        }
        #expect(try Self.changed(fixture.file) == [:])
        _ = try fixture.shell.rows("UPDATE ZBOOK SET Z_FOK_AUTHOR = 5 WHERE Z_PK = 1")
        #expect(try Self.changed(fixture.file) == ["Book": [1]])
    }

    @Test func aFileWithoutSumsIsGivenThemAndKeepsThem() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", ["name": .string("Ada"), "age": .int64(36)])
        try fixture.insert("Puppy", ["name": .string("Rex"), "weeks": .int64(3)])
        #expect(try SQLiteStoreVerification.verify(fixture.file).entities.first { $0.name == "Person" }?.unknown == 1)
        try fixture.second(options: Self.options).close()
        #expect(try SQLiteStoreVerification.verify(fixture.file).entities.allSatisfy { $0.unknown == 0 && $0.changed == 0 })
        // Whoever does not ask for them keeps them all the same.
        try fixture.reopen()
        try fixture.insert("Person", ["name": .string("Bo")])
        #expect(try SQLiteStoreVerification.verify(fixture.file).entities.allSatisfy { $0.unknown == 0 && $0.changed == 0 })
    }

    @Test func aTableOfManyColumnsIsSummedWhole() throws {
        let names = (0..<260).map { "a\($0)" }
        let model = NSManagedObjectModel(entities: [StoreModels.entity("Wide", names.map { StoreModels.attribute($0, .integer64) })])
        let fixture = try StoreFixture(model, options: Self.options)
        let id = try fixture.insert("Wide", Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, .int64(Int64($0))) }))
        var changes = ChangeSet()
        try changes.update(id, from: try #require(try fixture.stored(id)), Dictionary(uniqueKeysWithValues: names.map { ($0, .int64(-1)) }))
        try fixture.save(changes)
        #expect(try Self.changed(fixture.file) == [:])
        _ = try fixture.shell.rows("UPDATE ZWIDE SET ZA259 = 0")
        #expect(try Self.changed(fixture.file) == ["Wide": [1]])
    }

    // Wherever a bit of the file turns over: the file cannot be read, verifying says so, or every value is what it was.
    @Test func aBitThatTurnedOverIsNeverTakenForAValue() throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: Self.options)
        var changes = ChangeSet()
        for number in 0..<400 {
            let dog = try fixture.insert("Dog", ["name": .string("Rex \(number)"), "breed": .string("b\(number % 7)")], into: &changes)
            try fixture.insert(
                "Person", ["name": .string("Ada \(number)"), "age": .int64(Int64(number)), "favourite": .objectID(dog)], into: &changes)
        }
        try fixture.save(changes)
        try fixture.store.close()
        // All but the versions, which are nobody's values.
        let values = "SELECT Z_PK, Z_ENT, ZNAME, ZAGE, ZFAVOURITE FROM ZPERSON; SELECT Z_PK, Z_ENT, ZNAME, ZBREED, ZWEEKS, ZBORN, ZOWNER FROM ZANIMAL"
        let whole = try Data(contentsOf: fixture.file), before = try fixture.shell.rows(values)
        #expect(before.count == 800)
        var random = SeededRandom(seed: 34), served = 0, found = 0
        for _ in 0..<150 {
            // The first page says what the file is, and how it is laid out: SQLite looks at that itself.
            let place = Int.random(in: 4096..<whole.count, using: &random), bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            var bytes = whole
            bytes[place] ^= bit
            try bytes.write(to: fixture.file)
            let report = try? SQLiteStoreVerification.verify(fixture.file)
            guard report?.isSound == true else {
                found += 1
                continue
            }
            served += 1
            #expect(try fixture.shell.rows(values) == before, "byte \(place), bit \(bit)")
        }
        // Free space of pages makes no difference to anybody.
        #expect(found > 30 && served > 0, "\(found) found, \(served) harmless")
    }
}
