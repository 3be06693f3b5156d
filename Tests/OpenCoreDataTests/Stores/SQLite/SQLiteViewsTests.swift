import Foundation
import OpenCoreData
import Testing

/// The plain SQL that users of the file see.
struct SQLiteViewsTests {
    @Test func aViewShowsAnEntityInWordsOfTheModel() throws {
        let fixture = try StoreFixture(StoreModels.everything())
        let uuid = UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") ?? UUID()
        try fixture.insert(
            "Thing",
            [
                "small": .int64(5), "flag": .bool(true), "money": .decimal(Decimal(string: "12345678901234567890.5") ?? 0), "text": .string("hi"),
                "when": .date(0), "uuid": .uuid(uuid), "link": .object(ObjectBox(URL(string: "https://example.org") ?? URL(fileURLWithPath: "/"))),
            ])
        #expect(
            try fixture.shell.rows("SELECT small, flag, money, text, \"when\", uuid, link, _pk, real FROM Thing") == [
                ["5", "1", "12345678901234567890.5", "hi", "2001-01-01T00:00:00Z", uuid.uuidString.lowercased(), "https://example.org", "1", "∅"]
            ])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Thing')").contains("hidden") == false)
    }

    @Test(arguments: [
        (0.5, "2001-01-01T00:00:00.5Z"), (0.125, "2001-01-01T00:00:00.125Z"), (0.0001, "2001-01-01T00:00:00Z"),
        (-978_307_200, "1970-01-01T00:00:00Z"),
        (800_000_000.25, "2026-05-09T06:13:20.25Z"), (-0.1, "2000-12-31T23:59:59.9Z"), (60, "2001-01-01T00:01:00Z"),
    ])
    func datesAreISO8601(seconds: Double, text: String) throws {
        let fixture = try StoreFixture(StoreModels.everything())
        try fixture.insert("Thing", ["when": .date(seconds)])
        #expect(try fixture.shell.column("SELECT \"when\" FROM Thing") == [text])
    }

    @Test func aToOneIsTheKeyOfItsTarget() throws {
        let country = StoreModels.entity("Country", [StoreModels.attribute("code", .string)])
        country.uniquenessConstraints = [["code"]]
        let city = StoreModels.entity("City", [StoreModels.attribute("name", .string)])
        StoreModels.relate(city, "country", toMany: false, country, "cities", inverseToMany: true)
        StoreModels.relate(city, "twins", toMany: true, country, "twinned", inverseToMany: true)
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [city, country]))
        let swiss = try fixture.insert("Country", ["code": .string("CH")])
        let bern = try fixture.insert("City", ["name": .string("Bern"), "country": one(swiss)])
        try fixture.insert("City", ["name": .string("Atlantis")])
        #expect(try fixture.shell.rows("SELECT name, country FROM City ORDER BY name") == [["Atlantis", "∅"], ["Bern", "CH"]])
        var changes = ChangeSet()
        guard case .toMany(let number)? = bern.entity.layout.place(of: "twins") else { return }
        var pairs = PairChanges()
        pairs.add(swiss)
        changes.pairs[RelationshipKey(owner: bern, toMany: number)] = pairs
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT City, Country FROM City_twins") == [["1", "CH"]])
        #expect(try fixture.shell.rows("SELECT Country, City FROM Country_twinned") == [["CH", "1"]])
    }

    @Test func aViewOfATreeShowsItsDescendantsAndNobodyElse() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        for name in ["Animal", "Dog", "Puppy"] { try fixture.insert(name, ["name": .string(name)]) }
        #expect(try fixture.shell.column("SELECT name FROM Animal ORDER BY _pk") == ["Animal", "Dog", "Puppy"])
        #expect(try fixture.shell.column("SELECT name FROM Dog ORDER BY _pk") == ["Dog", "Puppy"])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Puppy')") == ["name", "born", "owner", "breed", "weeks", "_pk"])
    }

    @Test func entitiesThatAreNobodysBusinessHaveNoView() throws {
        let hidden = StoreModels.entity("_Checkpoint", [StoreModels.attribute("etag", .string)]), marked = StoreModels.entity("Run")
        marked.userInfo = [ViewAnnotation.hidden: true]
        let clash = StoreModels.entity("zcity"), city = StoreModels.entity("City")
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [hidden, marked, clash, city]))
        let views = try fixture.shell.column("SELECT name FROM sqlite_master WHERE type='view' ORDER BY name")
        #expect(views == ["City", "zcity_"])
    }

    @Test func viewsFollowTheModelAndSparesOthers() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        _ = try fixture.shell.rows("CREATE VIEW mine AS SELECT 1; DROP VIEW Dog")
        let changed = StoreModels.animals()
        changed.entitiesByName["Person"]?.userInfo = [ViewAnnotation.hidden: true]
        try fixture.second(changed).close()
        #expect(try fixture.shell.column("SELECT name FROM sqlite_master WHERE type='view' ORDER BY name") == ["Animal", "Dog", "Puppy", "mine"])
    }

    @Test func rowsThatAreNotLiveStandInAViewOfTheirOwn() throws {
        let city = StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("deletedAt", .date)])
        let tag = StoreModels.entity("Tag", [StoreModels.attribute("word", .string)])
        StoreModels.relate(city, "tags", toMany: true, tag, "cities", inverseToMany: true)
        city.userInfo = [ViewAnnotation.liveWhereNull: "deletedAt"]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [city, tag]))
        var changes = ChangeSet()
        let bern = try fixture.insert("City", ["name": .string("Bern")], into: &changes)
        let atlantis = try fixture.insert("City", ["name": .string("Atlantis"), "deletedAt": .date(0)], into: &changes)
        let word = try fixture.insert("Tag", ["word": .string("wet")], into: &changes)
        guard case .toMany(let number)? = city.layout.place(of: "tags") else { return }
        for id in [bern, atlantis] {
            var pairs = PairChanges()
            pairs.add(word)
            changes.pairs[RelationshipKey(owner: id, toMany: number)] = pairs
        }
        try fixture.save(changes)
        #expect(try fixture.shell.column("SELECT name FROM City") == ["Bern"])
        #expect(try fixture.shell.rows("SELECT name, deletedAt FROM City_tombstone") == [["Atlantis", "2001-01-01T00:00:00Z"]])
        #expect(try fixture.shell.column("SELECT City FROM City_tags") == ["\(bern.key)"])
        #expect(try fixture.shell.column("SELECT City FROM Tag_cities") == ["\(bern.key)"])
    }

    @Test(arguments: [NSDeleteRule.nullifyDeleteRule, .noActionDeleteRule])
    func aReferenceToARowThatIsNotLiveIsShownAsItsRuleWouldLeaveIt(rule: NSDeleteRule) throws {
        let city = StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("deletedAt", .date)])
        let house = StoreModels.entity("House", [StoreModels.attribute("deletedAt", .date)])
        StoreModels.relate(city, "houses", toMany: true, house, "city", inverseToMany: false)
        city.relationshipsByName["houses"]?.deleteRule = rule
        city.uniquenessConstraints = [["name"]]
        for entity in [city, house] { entity.userInfo = [ViewAnnotation.liveWhereNull: "deletedAt"] }
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [city, house]))
        var changes = ChangeSet()
        let bern = try fixture.insert("City", ["name": .string("Bern")], into: &changes)
        let atlantis = try fixture.insert("City", ["name": .string("Atlantis"), "deletedAt": .date(0)], into: &changes)
        for home in [bern, atlantis] { _ = try fixture.insert("House", ["city": .objectID(home)], into: &changes) }
        _ = try fixture.insert("House", ["city": .objectID(atlantis), "deletedAt": .date(0)], into: &changes)
        try fixture.save(changes)
        let shown = rule == .nullifyDeleteRule ? "nothing" : "Atlantis"
        #expect(try fixture.shell.column("SELECT coalesce(city, 'nothing') FROM House ORDER BY _pk") == ["Bern", shown])
        // What is not live itself keeps what it had.
        #expect(try fixture.shell.column("SELECT city FROM House_tombstone") == ["Atlantis"])
    }

    @Test func annotationsNameViewsAndColumnsAndAddViews() throws {
        let name = StoreModels.attribute("remoteName", .string), secret = StoreModels.attribute("secret", .string)
        name.userInfo = [ViewAnnotation.column: "name"]
        secret.userInfo = [ViewAnnotation.column: ""]
        let run = StoreModels.entity("Run", [name, secret])
        run.userInfo = [ViewAnnotation.name: "cistern_run", ViewAnnotation.extra: ["loud": "SELECT upper(name) AS name FROM cistern_run"]]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [run]))
        try fixture.insert("Run", ["remoteName": .string("a"), "secret": .string("b")])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('cistern_run')") == ["name", "_pk"])
        #expect(try fixture.shell.column("SELECT name FROM loud") == ["A"])
    }
}
