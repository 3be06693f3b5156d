import Foundation
import OpenCoreData
import Testing

/// The file is laid out as Core Data lays it out.
struct SQLiteLayoutTests {
    // X1, X3
    @Test func tablesAndColumnsAreNamedAndTypedAsCoreDataDoes() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        #expect(
            try fixture.shell.column("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name") == [
                "ZTHING", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY",
            ])
        #expect(
            try fixture.shell.rows("SELECT name, type, pk FROM pragma_table_info('ZTHING')").map { $0.joined(separator: " ") } == [
                "Z_PK INTEGER 1", "Z_ENT INTEGER 0", "Z_OPT INTEGER 0", "ZFLAG INTEGER 0", "ZLARGE INTEGER 0", "ZMEDIUM INTEGER 0",
                "ZSMALL INTEGER 0", "ZREAL FLOAT 0", "ZSHORT FLOAT 0", "ZWHEN TIMESTAMP 0", "ZMONEY DECIMAL 0", "ZLINK VARCHAR 0", "ZTEXT VARCHAR 0",
                "ZBYTES BLOB 0", "ZLIST BLOB 0", "ZUUID BLOB 0",
            ])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Z_METADATA')") == ["Z_VERSION", "Z_UUID", "Z_PLIST"])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Z_PRIMARYKEY')") == ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Z_MODELCACHE')") == ["Z_CONTENT"])
    }

    // X2
    @Test func entitiesAreNumberedDepthFirstAndTheRootCountsTheKeys() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let puppy = try fixture.insert("Puppy", ["name": .string("Bo")])
        try fixture.store.close()
        #expect(
            try fixture.shell.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [
                ["1", "Animal", "0", "1"], ["2", "Dog", "1", "0"], ["3", "Puppy", "2", "0"], ["4", "Person", "0", "0"],
            ])
        #expect(try fixture.shell.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZANIMAL") == [["\(puppy.key)", "3", "1", "Bo"]])
    }

    // X3
    @Test func aToOneWithSubentitiesSaysWhichEntityItsTargetIs() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let puppy = try fixture.insert("Puppy", [:])
        let person = try fixture.insert("Person", ["favourite": one(puppy)])
        #expect(try fixture.shell.rows("SELECT ZFAVOURITE, Z1_FAVOURITE FROM ZPERSON") == [["\(puppy.key)", "3"]])
        #expect(try fixture.stored(person)?["favourite"].objectID?.entity.name == "Puppy")
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('ZANIMAL') WHERE name LIKE '%OWNER'") == ["ZOWNER"])
    }

    // X3
    @Test func aNameThatIsTakenInTheTreeGetsANumber() throws {
        let base = StoreModels.entity("Base")
        let first = StoreModels.entity("First", [StoreModels.attribute("title", .string)])
        let second = StoreModels.entity("Second", [StoreModels.attribute("title", .integer64)])
        base.subentities = [first, second]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [base, first, second]))
        let one = try fixture.insert("First", ["title": .string("a")]), two = try fixture.insert("Second", ["title": .int64(2)])
        #expect(try fixture.shell.rows("SELECT ZTITLE, ZTITLE1 FROM ZBASE ORDER BY Z_PK") == [["a", "∅"], ["∅", "2"]])
        #expect(try fixture.stored(one)?["title"] == .string("a"))
        #expect(try fixture.stored(two)?["title"] == .int64(2))
    }

    // X4
    @Test func indexesAreThoseOfCoreData() throws {
        let animals = try StoreFixture(StoreModels.animals())
        #expect(
            try animals.shell.column("SELECT name FROM sqlite_master WHERE type='index' ORDER BY name") == [
                "ZANIMAL_ZOWNER_INDEX", "ZANIMAL_Z_ENT_INDEX", "ZPERSON_ZFAVOURITE_INDEX",
            ])
        let keys = try StoreFixture(StoreModels.keys())
        #expect(
            try keys.shell.rows("SELECT name, sql FROM sqlite_master WHERE type='index' AND name LIKE '%UNIQUE%' ORDER BY name") == [
                ["Z_City_UNIQUE_code", "CREATE UNIQUE INDEX \"Z_City_UNIQUE_code\" ON \"ZCITY\" (\"ZCODE\" COLLATE BINARY)"],
                ["Z_City_UNIQUE_number", "CREATE UNIQUE INDEX \"Z_City_UNIQUE_number\" ON \"ZCITY\" (\"ZNUMBER\" COLLATE BINARY)"],
                ["Z_Item_UNIQUE_serial", "CREATE UNIQUE INDEX \"Z_Item_UNIQUE_serial\" ON \"ZITEM\" (\"ZSERIAL\" COLLATE BINARY)"],
                ["Z_Labelled_UNIQUE_tag", "CREATE UNIQUE INDEX \"Z_Labelled_UNIQUE_tag\" ON \"ZITEM\" (\"ZTAG\" COLLATE BINARY) WHERE Z_ENT IN (3)"],
                [
                    "Z_Pair_UNIQUE_left_right",
                    "CREATE UNIQUE INDEX \"Z_Pair_UNIQUE_left_right\" ON \"ZPAIR\" (\"ZLEFT\" COLLATE BINARY, \"ZRIGHT\" COLLATE BINARY)",
                ],
                ["Z_Token_UNIQUE_amount", "CREATE UNIQUE INDEX \"Z_Token_UNIQUE_amount\" ON \"ZTOKEN\" (\"ZAMOUNT\" COLLATE BINARY)"],
                ["Z_Token_UNIQUE_uuid", "CREATE UNIQUE INDEX \"Z_Token_UNIQUE_uuid\" ON \"ZTOKEN\" (\"ZUUID\" COLLATE BINARY)"],
            ])
    }

    // X4
    @Test func indexesOfTheModelAreKept() throws {
        let name = StoreModels.attribute("name", .string), age = StoreModels.attribute("age", .integer32)
        name.isIndexed = true
        let person = StoreModels.entity("Person", [name, age])
        let descending = NSFetchIndexElementDescription(property: age)
        descending.isAscending = false
        person.indexes = [NSFetchIndexDescription(name: "byAge", elements: [descending, NSFetchIndexElementDescription(property: name)])]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [person]))
        #expect(
            try fixture.shell.rows("SELECT name, sql FROM sqlite_master WHERE type='index' ORDER BY name") == [
                ["Z_Person_byAge", "CREATE INDEX \"Z_Person_byAge\" ON \"ZPERSON\" (\"ZAGE\" COLLATE BINARY DESC, \"ZNAME\" COLLATE BINARY ASC)"],
                ["Z_Person_name", "CREATE INDEX \"Z_Person_name\" ON \"ZPERSON\" (\"ZNAME\" COLLATE BINARY)"],
            ])
    }

    // X4: a file has one name for one thing, in whatever letters
    @Test func indexesWhoseNamesAreOneToSQLAreAllMade() throws {
        let name = StoreModels.attribute("name", .string), attribute = StoreModels.attribute("b_c", .string)
        name.isIndexed = true
        attribute.isIndexed = true
        let person = StoreModels.entity("A_b", [name]), other = StoreModels.entity("A", [attribute])
        let code = StoreModels.attribute("c", .string)
        code.isIndexed = true
        person.properties += [code]
        person.indexes = [NSFetchIndexDescription(name: "Name", elements: [NSFetchIndexElementDescription(property: name)])]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [person, other]))
        #expect(
            try fixture.shell.column("SELECT name FROM sqlite_master WHERE type='index' ORDER BY name") == [
                "Z_A_b_Name1", "Z_A_b_c", "Z_A_b_c1", "Z_A_b_name",
            ])
    }

    // X5
    @Test func theFileHasCoreDatasSettingsAndMetadata() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        #expect(try fixture.shell.column("PRAGMA journal_mode") == ["wal"])
        #expect(try fixture.shell.column("PRAGMA page_size") == ["4096"])
        #expect(try fixture.shell.column("PRAGMA auto_vacuum") == ["2"])
        let metadata = try #require(fixture.store.metadata)
        #expect(metadata[NSStoreTypeKey] as? String == "SQLite")
        #expect(metadata[NSStoreUUIDKey] as? String == fixture.store.identifier)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(Set(hashes.keys) == ["Animal", "Dog", "Puppy", "Person"])
        #expect(hashes.values.allSatisfy { $0.count == 32 })
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
        #expect(Data(base64Encoded: try #require(metadata["NSStoreModelVersionHashesDigest"] as? String))?.count == 32)
        #expect(metadata["NSStoreModelVersionChecksumKey"] != nil)
        #expect(metadata["NSPersistenceFrameworkVersion"] != nil)
        #expect(try fixture.shell.column("SELECT Z_UUID FROM Z_METADATA") == [fixture.store.identifier])
        #expect(try fixture.shell.column("SELECT hex(substr(Z_PLIST, 1, 8)) FROM Z_METADATA") == ["62706C6973743030"])
    }

    // X8
    @Test func manyToManysAndOrderedOnesHaveTheirTables() throws {
        let fixture = try StoreFixture(StoreModels.relations())
        let columns = { (table: String) in try fixture.shell.column("SELECT name FROM pragma_table_info('\(table)')") }
        #expect(try columns("Z_2TAGS") == ["Z_2BOOKS", "Z_3TAGS"])
        #expect(try columns("Z_2CHAPTERS") == ["Z_2CHAPTEROF", "Z_3CHAPTERS", "Z_FOK_3CHAPTERS"])
        #expect(try columns("Z_1SEEN") == ["Z_1AUTHOR", "Z_2SEEN"])
        #expect(try columns("Z_1FRIENDS") == ["REFLEXIVE", "Z_1FRIENDS"])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('ZBOOK')").contains("Z_FOK_AUTHOR"))
    }

    @Test func theLogStaysEmptyBesideAClosedStore() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", ["name": .string("Ada")])
        try fixture.store.close()
        let log = fixture.directory.appendingPathComponent("store.sqlite-wal")
        #expect(try FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int == 0)
        let other = try StoreFixture(StoreModels.animals(), options: [SQLitePersistentWALOption: false])
        try other.store.close()
        #expect(!FileManager.default.fileExists(atPath: other.directory.appendingPathComponent("store.sqlite-wal").path))
    }
}
