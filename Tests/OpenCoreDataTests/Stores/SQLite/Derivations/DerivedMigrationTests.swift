import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Derived attributes of a store that was made without them, or with others.
@Suite struct DerivedMigrationTests {
    private static func entities(_ derived: [NSPropertyDescription], _ source: String = "title") -> [NSEntityDescription] {
        let title = StoreModels.attribute(source, .string)
        title.renamingIdentifier = "title"
        let book = StoreModels.entity("Book", [title] + derived), shelf = StoreModels.entity("Shelf", [StoreModels.attribute("name", .string)])
        StoreModels.relate(shelf, "books", toMany: true, book, "shelf", inverseToMany: false)
        return [book, shelf]
    }

    private static func filled(_ derived: [NSPropertyDescription] = []) throws -> MigrationFixture {
        let fixture = try MigrationFixture([SQLiteRowSumsOption: true])
        try fixture.open(entities(derived)) { context in
            for title in ["Ä", "B"] {
                let book: NSManagedObject = context.make("Book"), shelf: NSManagedObject = context.make("Shelf")
                book.setValue(title, forKey: "title")
                shelf.setValue("s" + title, forKey: "name")
                book.setValue(shelf, forKey: "shelf")
            }
            try context.save()
        }
        return fixture
    }

    // A8, G2
    @Test func aNewOneIsFoundForWhatIsThere() throws {
        let fixture = try Self.filled()
        let key = DerivedLibrary.derived("key", .string, "canonical:(title)")
        key.isOptional = false
        try fixture.open(Self.entities([key, DerivedLibrary.derived("place", .string, "shelf.name")])) { context in
            let books = try context.all("Book", by: "title")
            #expect(
                books.map { $0.value(forKey: "key") as? String } == ["b", "a"] && books.map { $0.value(forKey: "place") as? String } == ["sB", "sÄ"])
            books[0].setValue("C", forKey: "title")
            try context.save()
            #expect(books[0].value(forKey: "key") as? String == "c")
        }
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }

    // A8, G2
    @Test func anotherExpressionOrAnotherNameOfItsSourceIsFollowed() throws {
        let fixture = try Self.filled([DerivedLibrary.derived("key", .string, "canonical:(title)")])
        try fixture.open(Self.entities([DerivedLibrary.derived("key", .string, "lowercase:(title)")]))
        #expect(try fixture.shell.column("SELECT ZKEY FROM ZBOOK ORDER BY ZKEY") == ["b", "ä"])
        try fixture.open(Self.entities([DerivedLibrary.derived("key", .string, "uppercase:(name)")], "name")) { context in
            let book = try #require(try context.all("Book", by: "name").first)
            #expect(book.value(forKey: "key") as? String == "B")
            book.setValue("x", forKey: "name")
            try context.save()
            #expect(book.value(forKey: "key") as? String == "X")
        }
        // And a plain attribute keeps what was derived last.
        try fixture.open(Self.entities([StoreModels.attribute("key", .string)], "name")) { context in
            let keys = try context.all("Book", by: "key").map { $0.value(forKey: "key") as? String }
            #expect(keys == ["X", "Ä"])
        }
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }

    // A8, G2: the derivation is the same, and what it reads is not.
    @Test func whatAMigrationMadeOfItsSourceIsFollowed() throws {
        let key = { DerivedLibrary.derived("key", .string, "uppercase:(title)") }
        let fixture = try Self.filled([key()])
        try fixture.open(Self.entities([key()])) { context in
            try context.all("Book", by: "title").first?.setValue(nil, forKey: "title")
            try context.save()
        }
        let entities = Self.entities([key()])
        let title = try #require(entities[0].attributesByName["title"])
        title.isOptional = false
        title.defaultValue = "none"
        try fixture.open(entities)
        #expect(try fixture.shell.rows("SELECT ZTITLE, ZKEY FROM ZBOOK ORDER BY ZTITLE") == [["none", "NONE"], ["Ä", "Ä"]])
    }

    // A8, G4: the old store or the new one, and never one that neither model opens.
    @Test func aNewOneThatDoesNotFitIsNoMigration() throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        func entities(_ derived: [NSPropertyDescription]) -> [NSEntityDescription] {
            Self.entities([StoreModels.attribute("words", .integer64)] + derived)
        }
        try fixture.open(entities([])) { context in
            try context.all("Book", by: "title").first?.setValue(40_000, forKey: "words")
            try context.save()
        }
        let now = try fixture.dump()
        #expect(now != before)
        let error = try fixture.refusal(entities([DerivedLibrary.derived("small", .integer16, "words")]))
        #expect(error.code == 134110)
        let sentence = "\(fixture.file.path) can't be migrated: 40000 is no value of Book.small, which is Integer 16. Nothing was changed."
        #expect(error.localizedDescription == sentence)
        #expect(try fixture.dump() == now)
        #expect(try fixture.open(entities([])) { context in try context.all("Book", by: "title").count } == 2)
    }

    // A8: a file that says nothing of how its values were found.
    @Test func aValueThatDoesNotFitWhereAFileIsOpenedIsTold() throws {
        let fixture = try MigrationFixture()
        func entities(_ count: NSPropertyDescription) -> [NSEntityDescription] {
            [StoreModels.entity("Book", [StoreModels.attribute("words", .integer64), count])]
        }
        try fixture.open(entities(StoreModels.attribute("small", .integer16))) { context in
            let book: NSManagedObject = context.make("Book")
            book.setValue(40_000, forKey: "words")
            try context.save()
        }
        let error = try fixture.refusal(
            entities(DerivedLibrary.derived("small", .integer16, "words")), [NSIgnorePersistentStoreVersioningOption: true])
        #expect(
            error.localizedDescription
                == "\(fixture.file.path) can't be opened: 40000 is no value of Book.small, which is Integer 16. Nothing was written.")
        try fixture.open(entities(DerivedLibrary.derived("small", .integer32, "words")), [NSIgnorePersistentStoreVersioningOption: true]) { context in
            let found = try context.all("Book").first?.value(forKey: "small") as? Int64
            #expect(found == 40_000)
        }
    }

    // A8, S10
    @Test func aStoreInMemoryDoesNotTakeItsPlace() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        let error = #expect(throws: NSError.self) {
            try world.coordinator.migratePersistentStore(
                world.store, to: URL(fileURLWithPath: "/dev/null"), options: nil, withType: NSInMemoryStoreType)
        }
        #expect(error?.code == 134_020 && error?.localizedDescription.contains("which a store of type InMemory does not compute") == true)
        #expect(world.coordinator.persistentStores == [world.store])
    }

    // A8, S9: what was derived comes along, the time of a save too.
    @Test func aStoreThatIsMovedKeepsThem() throws {
        let note = {
            StoreModels.entity(
                "Note",
                [
                    StoreModels.attribute("text", .string), DerivedLibrary.derived("saved", .date, "now()"),
                    DerivedLibrary.derived("key", .string, "lowercase:(text)"),
                ])
        }
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [note()]))
        try world.save { context in
            let note: NSManagedObject = context.make("Note")
            note.setValue("A", forKey: "text")
        }
        let before = try world.shell.rows("SELECT ZTEXT, ZKEY, ZSAVED FROM ZNOTE")
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("derived-\(UUID().uuidString).sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) } }
        let moved = try world.coordinator.migratePersistentStore(world.store, to: url, options: nil, withType: NSSQLiteStoreType)
        let shell = SQLiteShell(file: url)
        #expect(try shell.rows("SELECT ZTEXT, ZKEY, ZSAVED FROM ZNOTE") == before && before.first?.last != "∅")
        try world.save { context in try context.all("Note").first?.setValue("B", forKey: "text") }
        #expect(try shell.column("SELECT ZKEY FROM ZNOTE") == ["b"])
        try world.coordinator.remove(moved)
    }

    // A8, S4
    @Test func aStoreThatIsOnlyReadIsLeftAsItIs() throws {
        let fixture = try Self.filled([DerivedLibrary.derived("key", .string, "canonical:(title)")]), before = try fixture.dump()
        try fixture.open(
            Self.entities([DerivedLibrary.derived("key", .string, "canonical:(title)")]), [NSReadOnlyPersistentStoreOption: true]
        ) { context in
            let keys = try context.all("Book", by: "key").map { $0.value(forKey: "key") as? String }
            #expect(keys == ["a", "b"])
        }
        #expect(try fixture.dump() == before)
    }
}
