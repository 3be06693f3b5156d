import Foundation
import OpenCoreData
import Synchronization
import Testing

/// Who looks on while a store is brought to another model.
@Suite struct MigrationWatchTests {
    private static func city(_ people: NSAttributeType = .integer32AttributeType) -> NSEntityDescription {
        let attribute = NSAttributeDescription()
        attribute.name = "people"
        attribute.attributeType = people
        attribute.isOptional = true
        return StoreModels.entity("City", [StoreModels.attribute("name", .string), attribute])
    }

    /// Twenty thousand rows, whose table has to be written anew.
    private static func filled() throws -> MigrationFixture {
        let fixture = try MigrationFixture()
        try fixture.open([city()]) { context in
            for number in 0..<20_000 { context.make("City", ["name": "city \(number)", "people": number]) }
            try context.save()
        }
        return fixture
    }

    // G4
    @Test func theShareThatIsDoneRisesToOneRowByRow() throws {
        let fixture = try Self.filled(), told = Mutex<[Double]>([])
        let watch = MigrationWatch { share in
            told.withLock { $0.append(share) }
            return true
        }
        try fixture.open([Self.city(.stringAttributeType)], Self.watching(watch))
        let shares = told.withLock { $0 }
        #expect(shares == shares.sorted() && shares.last == 1)
        // In the middle of one statement, too.
        #expect(Set(shares.map { Int($0 * 20) }).count > 8, "\(shares)")
        #expect(try fixture.shell.rows("SELECT count(*), count(DISTINCT people), min(typeof(people)) FROM City") == [["20000", "20000", "text"]])
    }

    // G4
    @Test(arguments: [0.0, 0.2, 0.5, 0.8]) func aMigrationThatIsGivenUpLeavesTheStoreAsItWas(at share: Double) throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal([Self.city(.stringAttributeType)], Self.watching(MigrationWatch { $0 < share }))
        #expect(error.code == NSUserCancelledError)
        #expect(error.localizedDescription == "The migration of \(fixture.file.path) was given up. Nothing was changed.")
        #expect(try fixture.dump() == before)
        // And it can be done afterwards.
        try fixture.open([Self.city(.stringAttributeType)])
        #expect(try fixture.shell.column("SELECT count(*) FROM City WHERE typeof(people) = 'text'") == ["20000"])
    }

    // G4
    @Test func whatTakesNoTimeIsDoneAtOnce() throws {
        let fixture = try Self.filled(), told = Mutex<[Double]>([])
        let mayor = StoreModels.entity(
            "City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", .integer32), StoreModels.attribute("mayor", .string)])
        let watch = MigrationWatch { share in
            told.withLock { $0.append(share) }
            return true
        }
        try fixture.open([mayor], Self.watching(watch))
        #expect(Set(told.withLock { $0 }).subtracting([0, 1]) == [])
    }

    private static func watching(_ watch: MigrationWatch) -> [AnyHashable: Any] {
        MigrationFixture.migrating.merging([SQLiteMigrationWatchOption: watch]) { _, new in new }
    }
}
