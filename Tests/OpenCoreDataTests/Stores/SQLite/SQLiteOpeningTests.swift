import Foundation
import OpenCoreData
import Testing

/// Opening: what is found is checked, and every refusal says what, where and what to do.
struct SQLiteOpeningTests {
    private func refusal(_ fixture: StoreFixture, _ model: NSManagedObjectModel? = nil, options: [AnyHashable: Any]? = nil) -> NSError? {
        #expect(throws: NSError.self) { _ = try fixture.second(model, options: options) }
    }

    // S5, I2
    @Test func aStoreIsTheSameWhenItIsOpenedAgain() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let uuid = fixture.store.identifier, id = try fixture.insert("Puppy", ["name": .string("Bo"), "weeks": .int64(3)])
        try fixture.reopen()
        #expect(fixture.store.identifier == uuid)
        let found = try fixture.fetch("Animal", "name == 'Bo'")
        #expect(found.map(\.id) == [id])
        #expect(found.first?.row?["weeks"] == .int64(3))
        #expect(try fixture.newID("Dog").key > id.key)
    }

    // S4
    @Test func aFileThatIsNoDatabaseIsRefusedAndUntouched() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        let text = Data(String(repeating: "this is not a database. ", count: 100).utf8)
        try text.write(to: fixture.file)
        let error = refusal(fixture)
        #expect(error?.code == 134080)
        #expect(error?.localizedDescription.contains(fixture.file.path) == true)
        #expect(error?.userInfo["NSSQLiteErrorDomain"] as? Int == 26)
        #expect(try Data(contentsOf: fixture.file) == text)
    }

    // S4
    @Test func somebodyElsesDatabaseIsRefusedAndUntouched() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        for file in try FileManager.default.contentsOfDirectory(at: fixture.directory, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: file)
        }
        _ = try fixture.shell.rows("CREATE TABLE invoices (id INTEGER)")
        let before = try Data(contentsOf: fixture.file)
        let error = refusal(fixture)
        #expect(error?.code == 134000)
        #expect(try Data(contentsOf: fixture.file) == before)
    }

    // S4, A10
    @Test func aStoreOfAnotherModelIsRefusedWithTheDifferences() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        let changed = StoreModels.animals()
        let person = try #require(changed.entitiesByName["Person"])
        person.properties = person.properties.filter { $0.name != "age" } + [StoreModels.attribute("email", .string)]
        (person.propertiesByName["name"] as? NSAttributeDescription)?.attributeType = .integer64AttributeType
        changed.entities += [StoreModels.entity("Vet")]
        let error = refusal(fixture, changed)
        #expect(error?.code == 134100)
        let words = error?.localizedDescription ?? ""
        for part in [
            "Person.age (Integer 32, optional) is only in the store", "Person.email (String, optional) is only in the model",
            "Person.name was String, optional and is now Integer 64, optional", "entity Vet is only in the model",
        ] {
            #expect(words.contains(part), "\(words)")
        }
        #expect(changed.isConfiguration(withName: nil, compatibleWithStoreMetadata: try storedMetadata(at: fixture.file)) == false)
        #expect(fixture.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: try storedMetadata(at: fixture.file)))
    }

    // A10
    @Test func indexesAndUserInfoDoNotChangeTheVersion() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        let changed = StoreModels.animals()
        let person = try #require(changed.entitiesByName["Person"])
        person.userInfo = ["note": "x"]
        person.propertiesByName["age"]?.isIndexed = true
        (person.propertiesByName["age"] as? NSAttributeDescription)?.defaultValue = 3
        try fixture.second(changed).close()
        let modified = StoreModels.animals()
        modified.entitiesByName["Person"]?.versionHashModifier = "2"
        #expect(refusal(fixture, modified)?.code == 134100)
    }

    // X9
    @Test func ignoringTheVersionStillNeedsTheColumns() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", ["name": .string("Ada")])
        try fixture.store.close()
        let smaller = StoreModels.animals()
        let person = try #require(smaller.entitiesByName["Person"])
        person.properties = person.properties.filter { $0.name != "age" }
        let store = try fixture.second(smaller, options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try store.fetch(FetchPlan(entity: person)).first?.row?["name"] == .string("Ada"))
        try store.close()
        let larger = StoreModels.animals()
        larger.entitiesByName["Person"]?.properties += [StoreModels.attribute("email", .string)]
        let error = refusal(fixture, larger, options: [NSIgnorePersistentStoreVersioningOption: true])
        #expect(error?.code == 134020)
        #expect(error?.localizedDescription.contains("ZPERSON.ZEMAIL") == true)
    }

    /// Makes the file one of Apple's: of a framework whose version counts in hundreds, with hashes of its kind and a model that only it can read.
    private func makeForeign(_ fixture: StoreFixture) throws {
        var metadata = try storedMetadata(at: fixture.file).filter { !$0.key.hasPrefix("_OpenCoreData") }
        metadata["NSPersistenceFrameworkVersion"] = NSNumber(value: 1414)
        let names = (metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]).keys
        metadata[NSStoreModelVersionHashesKey] = Dictionary(uniqueKeysWithValues: names.map { ($0, Data([1, 2, 3])) })
        let plist = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let digits = plist.map { String(format: "%02x", $0) }.joined()
        _ = try fixture.shell.rows("UPDATE Z_METADATA SET Z_PLIST = x'\(digits)'; UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'")
    }

    // X9
    @Test func aStoreOfApplesIsOfAModelWhereItsTablesAre() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", ["name": .string("Ada")])
        try fixture.store.close()
        try makeForeign(fixture)
        let model = StoreModels.animals(), store = try fixture.second(model)
        let person = try #require(model.entitiesByName["Person"])
        #expect(try store.fetch(FetchPlan(entity: person)).first?.row?["name"] == .string("Ada"))
        #expect((store.metadata[NSStoreModelVersionHashesKey] as? [String: Data])?["Person"] == Data([1, 2, 3]))
        try store.close()
        // Another model: an entity of it is missing here, or more are there.
        let more = StoreModels.animals(), fewer = StoreModels.animals()
        more.entities += [StoreModels.entity("Aardvark")]
        fewer.entitiesByName["Dog"]?.subentities = []
        fewer.entities = fewer.entities.filter { $0.name != "Puppy" }
        #expect(refusal(fixture, more)?.code == 134100 && refusal(fixture, fewer)?.code == 134100)
        let larger = StoreModels.animals()
        larger.entitiesByName["Person"]?.properties += [StoreModels.attribute("email", .string)]
        let error = refusal(fixture, larger)
        #expect(error?.code == 134020 && error?.localizedDescription.contains("ZPERSON.ZEMAIL") == true)
        let other = StoreModels.animals()
        other.entitiesByName["Person"]?.attributesByName["name"]?.attributeType = .integer64AttributeType
        let misfit = refusal(fixture, other)
        #expect(misfit?.code == 134020 && misfit?.localizedDescription.contains("INTEGER in ZPERSON.ZNAME, which is VARCHAR") == true)
    }

    @Test func entityNumbersAreThoseOfTheFile() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", ["name": .string("Ada")])
        try fixture.store.close()
        // In a larger model that keeps its other entity elsewhere, Person has another number.
        let model = StoreModels.animals()
        model.entities += [StoreModels.entity("Aardvark")]
        model.freeze()
        let kept = model.entities.filter { $0.name != "Aardvark" }
        let store = try SQLiteStore(model: model, entities: kept, configurationName: nil, url: fixture.file)
        #expect(try store.fetch(FetchPlan(entity: try #require(model.entitiesByName["Person"]))).first?.row?["name"] == .string("Ada"))
        try store.close()
    }

    // S4
    @Test func missingPlacesAreNamed() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let nowhere = fixture.directory.appendingPathComponent("no/such/store.sqlite")
        let error = #expect(throws: NSError.self) {
            _ = try SQLiteStore(model: fixture.model, entities: fixture.model.entities, configurationName: nil, url: nowhere)
        }
        #expect(error?.code == 134080)
        #expect(error?.localizedDescription.contains("no/such does not exist") == true)
        let readOnly = #expect(throws: NSError.self) {
            _ = try SQLiteStore(
                model: fixture.model, entities: fixture.model.entities, configurationName: nil,
                url: fixture.directory.appendingPathComponent("new.sqlite"), options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(readOnly?.code == 134080)
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.appendingPathComponent("new.sqlite").path))
    }

    // S4, S6
    @Test func aLockThatIsHeldTooLongIsATransientFailure() throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: [NSPersistentStoreTimeoutOption: 0.05])
        let lock = Process(), input = Pipe(), output = Pipe()
        lock.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        lock.arguments = ["sqlite3", "-batch", fixture.file.path]
        lock.standardInput = input
        lock.standardOutput = output
        try lock.run()
        try input.fileHandleForWriting.write(contentsOf: Data("BEGIN IMMEDIATE; SELECT 'locked';\n".utf8))
        _ = output.fileHandleForReading.availableData
        let error = #expect(throws: NSError.self) { try fixture.insert("Person", [:]) }
        #expect(error.map { SQLiteError.isTransient($0) } == true)
        #expect(error?.userInfo["NSSQLiteErrorDomain"] as? Int == 5)
        try input.fileHandleForWriting.close()
        lock.waitUntilExit()
        try fixture.insert("Person", [:])
    }

    // S6
    @Test func aReadOnlyStoreReadsAndDoesNotWrite() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let id = try fixture.insert("Person", ["name": .string("Ada")])
        let reader = try fixture.second(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.rows(for: [id]).count == 1)
        var changes = ChangeSet()
        changes.delete(id, base: nil)
        #expect(throws: NSError.self) { try reader.save(changes) }
        #expect(throws: NSError.self) { try reader.reserveKeys(for: try fixture.entity("Person"), count: 1) }
        try reader.close()
    }

    // S6
    @Test func pragmasAreSetAndChecked() throws {
        let pragmas = ["synchronous": "NORMAL", "journal_size_limit": "1048576", "cache_size": "-2000"]
        let fixture = try StoreFixture(StoreModels.animals(), options: [NSSQLitePragmasOption: pragmas])
        try fixture.insert("Person", [:])
        #expect(try fixture.store.pragma("synchronous") == "1")
        #expect(try fixture.store.pragma("journal_size_limit") == "1048576")
        #expect(try fixture.store.pragma("cache_size") == "-2000")
        let plain = try StoreFixture(StoreModels.animals())
        #expect(try plain.store.pragma("synchronous") == "2")
        #expect(try plain.store.pragma("cache_size") == "-16384")
        for bad in [["journal_mode": "DELETE"], ["page_size": "512"], ["synchronous": "1; DROP TABLE ZPERSON"], ["x y": "1"]] {
            #expect(refusal(fixture, options: [NSSQLitePragmasOption: bad])?.code == 134080)
        }
        try fixture.second(options: [NSSQLitePragmasOption: ["journal_mode": "WAL"]]).close()
    }

    // S6
    @Test func aFileIsAnalyzedAndVacuumedWhenItIsAskedFor() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        var changes = ChangeSet(), gone = ChangeSet()
        var ids: [NSManagedObjectID] = []
        for number in 0..<2000 { ids.append(try fixture.insert("Person", ["name": .string("somebody \(number)")], into: &changes)) }
        try fixture.save(changes)
        for id in ids.dropFirst(10) { gone.delete(id, base: nil) }
        try fixture.save(gone)
        let counted = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'sqlite_stat1'"
        #expect(try fixture.shell.column("PRAGMA freelist_count") != ["0"] && fixture.shell.column(counted) == ["0"])
        try fixture.store.close()
        try fixture.second(options: [NSSQLiteManualVacuumOption: true]).close()
        #expect(try fixture.shell.column("PRAGMA freelist_count") == ["0"] && fixture.shell.column(counted) == ["0"])
        let store = try fixture.second(options: [NSSQLiteAnalyzeOption: true])
        #expect(try fixture.shell.column(counted) == ["1"])
        #expect(try store.rows(for: Array(ids.prefix(10))).count == 10)
        try store.close()
        try fixture.second(options: [NSReadOnlyPersistentStoreOption: true, NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true]).close()
    }

    // S6
    @Test func aDamagedFileIsFoundByTheQuickCheck() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        var changes = ChangeSet()
        for number in 0..<2000 { try fixture.insert("Person", ["name": .string("somebody \(number)")], into: &changes) }
        try fixture.save(changes)
        try fixture.store.close()
        try fixture.second(options: [SQLiteQuickCheckOption: true]).close()
        let handle = try FileHandle(forUpdating: fixture.file)
        try handle.seek(toOffset: 4096 * 8)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 3))
        try handle.close()
        let error = refusal(fixture, options: [SQLiteQuickCheckOption: true])
        #expect(error?.code == 134080)
        #expect(error?.localizedDescription.contains("damaged") == true)
    }

    @Test func anEmptyFileBecomesAStore() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let file = fixture.directory.appendingPathComponent("empty.sqlite")
        try Data().write(to: file)
        let store = try SQLiteStore(model: fixture.model, entities: fixture.model.entities, configurationName: nil, url: file)
        #expect(try storedMetadata(at: file)[NSStoreUUIDKey] as? String == store.identifier)
        try store.close()
    }

    // A1
    @Test func aModelThatAFileCannotKeepIsRefusedByName() throws {
        let thing = StoreModels.entity("Thing", [StoreModels.attribute("other", .objectID)])
        let error = #expect(throws: NSError.self) { _ = try StoreFixture(NSManagedObjectModel(entities: [thing])) }
        #expect(error?.code == 134020)
        #expect(error?.localizedDescription.contains("Thing.other") == true)
    }
}
