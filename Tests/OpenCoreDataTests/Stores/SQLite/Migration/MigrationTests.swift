import Foundation
import OpenCoreData
import Testing

/// A store that is opened with a newer model: what becomes of what is in it.
@Suite struct MigrationTests {
    private static func city(_ more: [NSPropertyDescription] = []) -> NSEntityDescription {
        StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", .integer32)] + more)
    }

    private static func filled(_ options: [AnyHashable: Any] = [:]) throws -> MigrationFixture {
        let fixture = try MigrationFixture(options)
        try fixture.open([city()]) { context in
            context.make("City", ["name": "Bern", "people": 134_000], ["name": "Chur"])
            try context.save()
        }
        return fixture
    }

    // G1
    @Test func withoutTheOptionsAChangedModelIsRefusedAndNothingChanges() throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal([Self.city([StoreModels.attribute("mayor", .string)])], [:])
        #expect(error.code == 134100)
        #expect(error.localizedDescription.contains("City.mayor (String, optional) is only in the model"))
        #expect(try fixture.dump() == before)
    }

    // G2
    @Test func aNewAttributeHasItsDefaultInWhatWasThere() throws {
        let fixture = try Self.filled()
        let country = NSAttributeDescription(name: "country", type: .string, isOptional: false, defaultValue: "CH'")
        try fixture.open([Self.city([country, StoreModels.attribute("mayor", .string)])]) { context in
            let cities = try context.all("City", by: "name")
            #expect(cities.map { $0.value(forKey: "country") as? String } == ["CH'", "CH'"])
            #expect(cities.map { $0.value(forKey: "people") as? Int64 } == [134_000, nil])
            #expect(cities.allSatisfy { $0.value(forKey: "mayor") == nil })
            cities[1].setValue("Ada", forKey: "mayor")
            context.make("City", ["name": "Davos", "country": "X"])
            try context.save()
        }
        #expect(
            try fixture.shell.rows("SELECT name, country, mayor FROM City ORDER BY name") == [
                ["Bern", "CH'", "∅"], ["Chur", "CH'", "Ada"], ["Davos", "X", "∅"],
            ])
    }

    // G2
    @Test func aRenamingIdentifierKeepsTheValuesAndWithoutItTheyGo() throws {
        let fixture = try Self.filled()
        let title = NSAttributeDescription(name: "title", type: .string)
        title.renamingIdentifier = "name"
        let town = StoreModels.entity("Town", [title, StoreModels.attribute("inhabitants", .integer32)])
        town.renamingIdentifier = "City"
        try fixture.open([town]) { context in
            let towns = try context.all("Town", by: "title")
            #expect(towns.map { $0.value(forKey: "title") as? String } == ["Bern", "Chur"])
            #expect(towns.allSatisfy { $0.value(forKey: "inhabitants") == nil })
        }
        #expect(try fixture.shell.column("SELECT name FROM sqlite_master WHERE name LIKE '%CITY%'").isEmpty)
    }

    // G2
    @Test func anIdentifierThatStaysInTheModelDoesNotRenameAgain() throws {
        let fixture = try Self.filled()
        func title() -> NSAttributeDescription {
            let title = NSAttributeDescription(name: "title", type: .string)
            title.renamingIdentifier = "name"
            return title
        }
        try fixture.open([StoreModels.entity("City", [title()])])
        try fixture.open([StoreModels.entity("City", [title(), StoreModels.attribute("name", .string)])]) { context in
            for city in try context.all("City", by: "title") { city.setValue("new", forKey: "name") }
            try context.save()
        }
        try fixture.open([StoreModels.entity("City", [title(), StoreModels.attribute("name", .string), StoreModels.attribute("x", .string)])]) {
            context in
            let cities = try context.all("City", by: "title")
            #expect(cities.map { $0.value(forKey: "title") as? String } == ["Bern", "Chur"])
            #expect(cities.map { $0.value(forKey: "name") as? String } == ["new", "new"])
        }
    }

    // G2
    @Test func whatIsRequiredNowHasItsDefaultWhereThereWasNone() throws {
        let fixture = try Self.filled()
        let people = NSAttributeDescription(name: "people", type: .integer64, isOptional: false, defaultValue: 7)
        try fixture.open([StoreModels.entity("City", [StoreModels.attribute("name", .string), people])]) { context in
            let people = try context.all("City", by: "name").map { $0.value(forKey: "people") as? Int64 }
            #expect(people == [134_000, 7])
        }
    }

    // G2, G3
    @Test(arguments: [
        (NSAttributeDescription.AttributeType.integer16, "City.people was Integer 32, which not always is Integer 16"),
        (.boolean, "City.people was Integer 32, which not always is Boolean"), (.date, "City.people was Integer 32, which not always is Date"),
    ]) func whatCouldLoseAValueIsRefusedAndNothingChanges(_ type: NSAttributeDescription.AttributeType, _ words: String) throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal([StoreModels.entity("City", [StoreModels.attribute("people", type)])])
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.localizedDescription.contains(words))
        #expect(try fixture.dump() == before)
    }

    // G2
    @Test func withMigrationButWithoutInferringThereIsNoMapping() throws {
        let fixture = try Self.filled()
        let error = try fixture.refusal(
            [Self.city([StoreModels.attribute("x", .string)])], [NSMigratePersistentStoresAutomaticallyOption: true])
        #expect(error.code == NSMigrationMissingMappingModelError)
        #expect(error.localizedDescription.contains(NSInferMappingModelAutomaticallyOption))
    }

    // G2
    @Test func aStoreThatIsOnlyReadIsNotMigrated() throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal(
            [Self.city([StoreModels.attribute("x", .string)])], MigrationFixture.migrating.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        #expect(error.code == 134100)
        #expect(error.localizedDescription.contains("open it for writing once"))
        #expect(try fixture.dump() == before)
    }

    // G2
    @Test func aContainerMigratesByItself() throws {
        let fixture = try Self.filled()
        let container = NSPersistentContainer(
            name: "Cities", managedObjectModel: NSManagedObjectModel(entities: [Self.city([StoreModels.attribute("mayor", .string)])]))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: fixture.file)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        let context = container.newBackgroundContext()
        #expect(try context.performAndWait { try context.all("City", by: "name").count } == 2)
    }

    // G2
    @Test func whatIsNotUniqueIsRefusedWithTheCountAndNothingChanges() throws {
        let fixture = try MigrationFixture()
        try fixture.open([Self.city()]) { context in
            context.make("City", ["name": "Bern"], ["name": "Bern"], ["name": "Chur"], [:], [:])
            try context.save()
        }
        let before = try fixture.dump(), unique = Self.city()
        unique.uniquenessConstraints = [["name"]]
        let error = try fixture.refusal([unique])
        #expect(error.code == NSMigrationConstraintViolationError)
        #expect(error.localizedDescription.contains("City is to be unique by name now, but one value is those of several objects"))
        #expect(try fixture.dump() == before)
    }

    // G2
    @Test func anEntityWithObjectsDoesNotBecomeAbstract() throws {
        let fixture = try Self.filled(), before = try fixture.dump(), abstract = Self.city()
        abstract.isAbstract = true
        let error = try fixture.refusal([abstract])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("City is abstract now, but there are 2 objects of it"))
        #expect(try fixture.dump() == before)
    }

    // G2
    @Test func anIndexAddedLaterIsMadeAndOneTakenOutGoes() throws {
        let fixture = try Self.filled(), indexed = Self.city()
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'Z_City%' ORDER BY 1"
        #expect(try fixture.shell.column(indexes).isEmpty)
        indexed.propertiesByName["name"]?.isIndexed = true
        try fixture.open([indexed], [:])
        #expect(try fixture.shell.column(indexes) == ["Z_City_name"])
        try fixture.open([Self.city()], [:])
        #expect(try fixture.shell.column(indexes).isEmpty)
    }

    // G2
    @Test func aToOneBecomesAToManyWithItsObject() throws {
        func model(toMany: Bool) -> [NSEntityDescription] {
            let city = Self.city(), country = StoreModels.entity("Country", [StoreModels.attribute("code", .string)])
            StoreModels.relate(city, "country", toMany: toMany, country, "cities", inverseToMany: true)
            return [city, country]
        }
        let fixture = try MigrationFixture()
        try fixture.open(model(toMany: false)) { context in
            let swiss = context.make("Country", ["code": "CH"])[0]
            context.make("City", ["name": "Bern", "country": swiss], ["name": "Chur", "country": swiss], ["name": "Lost"])
            try context.save()
        }
        try fixture.open(model(toMany: true)) { context in
            let cities = try context.all("City", by: "name")
            let countries = cities.map { ($0.value(forKey: "country") as? Set<NSManagedObject>)?.compactMap { $0.value(forKey: "code") as? String } }
            #expect(countries == [["CH"], ["CH"], []])
        }
        let error = try fixture.refusal(model(toMany: false))
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.localizedDescription.contains("City.country was a to-many and is a to-one"))
    }

    // G2
    @Test func theModelThatAStoreWasMadeWithCanBeReadFromIt() throws {
        let fixture = try MigrationFixture(), person = StoreModels.animals()
        try fixture.open(person.entities)
        let read = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: fixture.file)
        #expect(read.entityVersionHashesByName == StoreModels.animals().entityVersionHashesByName)
        try fixture.open(read.entities, [:])
    }

    // G2
    @Test func aStoreThatDoesNotSayItsModelIsRefused() throws {
        for content in [
            "x'00'",
            "'{\"format\":2,\"entities\":[{\"name\":\"City\",\"isAbstract\":false,\"parent\":\"City\",\"properties\":[],\"constraints\":[],\"indexes\":[]}]}'",
        ] {
            let fixture = try Self.filled()
            _ = try fixture.shell.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = CAST(\(content) AS BLOB)")
            let before = try fixture.dump()
            let error = try fixture.refusal([Self.city([StoreModels.attribute("x", .string)])])
            #expect(error.code == NSMigrationMissingSourceModelError)
            #expect(try fixture.dump() == before)
        }
    }

    // G2
    @Test func aFileThatLacksWhatItsModelSaysIsRefused() throws {
        let fixture = try Self.filled()
        _ = try fixture.shell.rows("DROP VIEW City; ALTER TABLE ZCITY DROP COLUMN ZPEOPLE")
        let error = try fixture.refusal([Self.city([StoreModels.attribute("x", .string)])])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("ZCITY.ZPEOPLE"))
    }

    // G2
    @Test func aStoreOfAnEarlierVersionThatKeptItsModelInWordsIsMigrated() throws {
        let fixture = try Self.filled()
        let words =
            #"{"format":1,"entities":[{"name":"City","isAbstract":false,"constraints":[],"properties":{"name":"String, optional","people":"Integer 32, optional"}}]}"#
        _ = try fixture.shell.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = CAST('\(words)' AS BLOB)")
        try fixture.open([Self.city([StoreModels.attribute("mayor", .string)])]) { context in
            let people = try context.all("City", by: "name").map { $0.value(forKey: "people") as? Int64 }
            #expect(people == [134_000, nil])
        }
    }

    // G2, H1
    @Test func theHistoryTellsOfRenamedPropertiesByTheirNewNames() throws {
        let fixture = try MigrationFixture([NSPersistentHistoryTrackingKey: true])
        try fixture.open([Self.city()]) { context in
            let city = context.make("City", ["name": "Bern"])[0]
            try context.save()
            city.setValue("Berne", forKey: "name")
            try context.save()
        }
        let title = NSAttributeDescription(name: "title", type: .string)
        title.renamingIdentifier = "name"
        try fixture.open([StoreModels.entity("City", [title])]) { context in
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)) as? NSPersistentHistoryResult
            let changes = (result?.result as? [NSPersistentHistoryTransaction])?.flatMap { $0.changes ?? [] } ?? []
            #expect(changes.map(\.changeType) == [.insert, .update])
            #expect(changes.last?.updatedProperties?.map(\.name) == ["title"])
        }
    }

    // G2
    @Test func aRowThatWasNotAsItWasWrittenIsNotSoAfterwards() throws {
        let fixture = try Self.filled([SQLiteRowSumsOption: true])
        _ = try fixture.shell.rows("UPDATE ZCITY SET ZNAME = 'Bonn' WHERE ZNAME = 'Bern'")
        for more in [[StoreModels.attribute("a", .string)], [NSAttributeDescription(name: "b", type: .string, isOptional: false, defaultValue: "b")]]
        {
            try fixture.open([Self.city(more)])
            let verification = try SQLiteStoreVerification.verify(fixture.file)
            #expect(verification.entities.map(\.changed) == [1])
        }
        try fixture.open([StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", .double)])])
        #expect(try SQLiteStoreVerification.verify(fixture.file).entities.map(\.changed) == [1])
    }

    // G2
    @Test(arguments: ["Author", "Zebra"]) func aToManyThatGetsAnInverseKeepsItsMembers(_ member: String) throws {
        func model(inverse: Bool) -> [NSEntityDescription] {
            let post = StoreModels.entity("Post", [StoreModels.attribute("title", .string)])
            let author = StoreModels.entity(member, [StoreModels.attribute("name", .string)])
            if inverse {
                StoreModels.relate(post, "authors", toMany: true, author, "posts", inverseToMany: true)
            } else {
                post.properties += [NSRelationshipDescription(name: "authors", destination: author, toMany: true)]
            }
            return [post, author]
        }
        let fixture = try MigrationFixture()
        try fixture.open(model(inverse: false)) { context in
            let authors = context.make(member, ["name": "Ada"], ["name": "Bo"])
            context.make("Post", ["title": "1", "authors": Set(authors)], ["title": "2", "authors": Set([authors[1]])])
            try context.save()
        }
        try fixture.open(model(inverse: true)) { context in
            let counts = try context.all("Post", by: "title").map { ($0.value(forKey: "authors") as? Set<NSManagedObject>)?.count }
            let posts = try context.all(member, by: "name").map { ($0.value(forKey: "posts") as? Set<NSManagedObject>)?.count }
            #expect(counts == [2, 1] && posts == [1, 2])
        }
    }

    // G2
    @Test func aToOneWhoseNewInverseIsAToOneIsRefused() throws {
        func model(inverse: Bool) -> [NSEntityDescription] {
            let city = Self.city(), mayor = StoreModels.entity("Mayor")
            if inverse {
                StoreModels.relate(city, "mayor", toMany: false, mayor, "city", inverseToMany: false)
            } else {
                city.properties += [NSRelationshipDescription(name: "mayor", destination: mayor, toMany: false)]
            }
            return [city, mayor]
        }
        let fixture = try MigrationFixture()
        try fixture.open(model(inverse: false))
        #expect(try fixture.refusal(model(inverse: true)).code == NSInferredMappingModelError)
    }

    // G2
    @Test func aKeyStandsOnTheAttributeOfItsName() throws {
        let fixture = try MigrationFixture(), old = Self.city(), new = Self.city()
        old.uniquenessConstraints = [["name"]]
        try fixture.open([old]) { context in
            context.make("City", ["name": "Bern"], ["name": "Chur"])
            try context.save()
        }
        new.propertiesByName["name"]?.renamingIdentifier = "none"
        let former = NSAttributeDescription(name: "formerName", type: .string)
        former.renamingIdentifier = "name"
        new.properties += [former]
        new.uniquenessConstraints = [["name"]]
        try fixture.open([new]) { context in
            let former = try context.all("City", by: "formerName").map { $0.value(forKey: "formerName") as? String }
            #expect(former == ["Bern", "Chur"])
            context.make("City", ["name": "X", "formerName": "Bern"])
            try context.save()
        }
        #expect(try fixture.shell.column("SELECT name FROM pragma_index_info('Z_City_UNIQUE_name')") == ["ZNAME"])
    }

    // G2
    @Test func aStoreOfAnEarlierVersionWithIndexesOpensAndIsMigrated() throws {
        let fixture = try MigrationFixture()
        func city(_ isIndexed: Bool) -> NSEntityDescription {
            let city = Self.city()
            for name in ["name", "people"] { city.propertiesByName[name]?.isIndexed = isIndexed }
            return city
        }
        try fixture.open([city(true)])
        func forget() throws {
            let words =
                #"{"format":1,"entities":[{"name":"City","isAbstract":false,"constraints":[],"properties":{"name":"String, optional","people":"Integer 32, optional"}}]}"#
            _ = try fixture.shell.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = CAST('\(words)' AS BLOB)")
        }
        try forget()
        try fixture.open([city(true)], [:])
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'Z_City%' ORDER BY 1"
        #expect(try fixture.shell.column(indexes) == ["Z_City_name", "Z_City_people"])
        try forget()
        let smaller = StoreModels.entity("City", [StoreModels.attribute("name", .string)])
        smaller.propertiesByName["name"]?.isIndexed = true
        try fixture.open([smaller])
        #expect(try fixture.shell.column(indexes) == ["Z_City_name"])
    }

    // G2
    @Test func aStoreThatForgotItsModelLearnsItFromOneWithItsHashes() throws {
        let fixture = try Self.filled()
        _ = try fixture.shell.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'")
        try fixture.open([Self.city()], [:])
        try fixture.open([Self.city([StoreModels.attribute("mayor", .string)])])
    }

    // G2
    @Test func whatOthersMadeInTheFileIsThereAfterwards() throws {
        let fixture = try Self.filled()
        _ = try fixture.shell.rows(
            "CREATE VIEW big AS SELECT ZNAME FROM ZCITY; CREATE INDEX theirs ON ZCITY (ZNAME); CREATE TABLE log (name); CREATE TRIGGER watch AFTER INSERT ON ZCITY "
                + "BEGIN INSERT INTO log VALUES (NEW.ZNAME); END")
        let wider = StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", .double)])
        try fixture.open([wider]) { context in
            context.make("City", ["name": "Davos"])
            try context.save()
        }
        #expect(
            try fixture.shell.column("SELECT name FROM sqlite_master WHERE name IN ('big', 'theirs', 'watch') ORDER BY 1") == [
                "big", "theirs", "watch",
            ])
        #expect(try fixture.shell.column("SELECT name FROM log") == ["Davos"])
        // One column fewer: an index over it goes with it.
        try fixture.open([StoreModels.entity("City", [StoreModels.attribute("people", .double)])])
        #expect(try fixture.shell.column("SELECT name FROM sqlite_master WHERE name IN ('theirs', 'big') ORDER BY 1") == ["big"])
    }

    // G2
    @Test func identifiersAloneExchangeNothing() throws {
        let fixture = try MigrationFixture()
        func pair(_ exchanges: Bool) -> NSEntityDescription {
            let made = StoreModels.entity("Pair", [StoreModels.attribute("a", .string), StoreModels.attribute("b", .string)])
            if exchanges {
                made.propertiesByName["a"]?.renamingIdentifier = "b"
                made.propertiesByName["b"]?.renamingIdentifier = "a"
            }
            return made
        }
        try fixture.open([pair(false)]) { context in
            context.make("Pair", ["a": "1", "b": "2"])
            try context.save()
        }
        try fixture.open([pair(true)]) { context in
            let values = try context.all("Pair", by: "a").map { $0.value(forKey: "a") as? String }
            #expect(values == ["1"])
        }
    }

    // G2
    @Test func aTriggerThatHasNoPlaceAnyMoreStopsTheMigration() throws {
        let fixture = try Self.filled()
        _ = try fixture.shell.rows("CREATE TRIGGER watch AFTER UPDATE OF ZPEOPLE ON ZCITY BEGIN SELECT 1; END")
        let before = try fixture.dump()
        let river = StoreModels.entity("River", [StoreModels.attribute("name", .string)])
        let error = try fixture.refusal([river])
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("the trigger watch, which somebody made in the file"))
        #expect(try fixture.dump() == before)
    }
}
