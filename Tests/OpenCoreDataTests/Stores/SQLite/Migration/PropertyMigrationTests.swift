import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What becomes of a property, or of what is asked of it, in a store that is opened with a newer model.
@Suite struct PropertyMigrationTests {
    private static func city(nickIsTransient: Bool = false, isUnique: Bool = false) -> [NSEntityDescription] {
        let city = StoreModels.entity("City", [StoreModels.attribute("name", .string), StoreModels.attribute("nick", .string)])
        city.propertiesByName["nick"]?.isTransient = nickIsTransient
        if isUnique { city.uniquenessConstraints = [["name"]] }
        return [city]
    }

    private static func filled(_ entities: [NSEntityDescription]) throws -> MigrationFixture {
        let fixture = try MigrationFixture([SQLiteRowSumsOption: true])
        try fixture.open(entities) { context in
            context.make("City", ["name": "Bern", "nick": "b"], ["name": "Chur", "nick": "c"])
            try context.save()
        }
        return fixture
    }

    private static func nicks(_ context: NSManagedObjectContext) throws -> [String?] {
        try context.all("City", by: "name").map { $0.value(forKey: "nick") as? String }
    }

    // G2
    @Test func anAttributeThatIsStoredFromNowOnIsNilInWhatWasThere() throws {
        let fixture = try Self.filled(Self.city(nickIsTransient: true))
        try fixture.open(Self.city()) { context in
            #expect(try Self.nicks(context) == [nil, nil])
            try context.all("City", by: "name")[0].setValue("b", forKey: "nick")
            try context.save()
        }
        try fixture.open(Self.city(), [:]) { context throws in #expect(try Self.nicks(context) == ["b", nil]) }
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }

    // G2
    @Test func anAttributeThatIsInMemoryOnlyFromNowOnIsNoColumnAnyMore() throws {
        let fixture = try Self.filled(Self.city()), columns = "SELECT name FROM pragma_table_info('ZCITY') WHERE name = 'ZNICK'"
        #expect(try fixture.shell.column(columns) == ["ZNICK"])
        try fixture.open(Self.city(nickIsTransient: true)) { context throws in #expect(try Self.nicks(context) == [nil, nil]) }
        #expect(try fixture.shell.column(columns).isEmpty)
        #expect(try fixture.shell.column("SELECT name FROM City ORDER BY name") == ["Bern", "Chur"])
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }

    // G2
    @Test func aConstraintThatComesIsKeptFromThenOnAndOneThatGoesIsNot() throws {
        let fixture = try Self.filled(Self.city())
        func second(_ entities: [NSEntityDescription]) throws {
            try fixture.open(entities) { context in
                context.make("City", ["name": "Bern"])
                try context.save()
            }
        }
        #expect(errorCode { try second(Self.city(isUnique: true)) } == 133_021)
        #expect(try fixture.shell.column("SELECT name FROM City ORDER BY name") == ["Bern", "Chur"])
        try second(Self.city())
        #expect(try fixture.shell.column("SELECT name FROM City ORDER BY name") == ["Bern", "Bern", "Chur"])
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }
}
