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
        let fixture = try Self.filled(), told = Told()
        try fixture.open([Self.city(.stringAttributeType)], Self.watching(told.watch()))
        let shares = told.shares(.migrating)
        #expect(shares == shares.sorted() && shares.last == 1)
        // In the middle of one statement, too.
        #expect(Set(shares.map { Int($0 * 20) }).count > 8, "\(shares)")
        #expect(try fixture.shell.rows("SELECT count(*), count(DISTINCT people), min(typeof(people)) FROM City") == [["20000", "20000", "text"]])
    }

    // G4
    @Test(arguments: [0.0, 0.2, 0.5, 0.8]) func aMigrationThatIsGivenUpLeavesTheStoreAsItWas(at share: Double) throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal([Self.city(.stringAttributeType)], Self.watching(MigrationWatch { $1 < share }))
        #expect(error.code == NSUserCancelledError)
        #expect(error.localizedDescription == "The migration of \(fixture.file.path) was given up. Nothing was changed.")
        #expect(try fixture.dump() == before)
        // And it can be done afterwards.
        try fixture.open([Self.city(.stringAttributeType)])
        #expect(try fixture.shell.column("SELECT count(*) FROM City WHERE typeof(people) = 'text'") == ["20000"])
    }

    // G4
    @Test func whatTakesNoTimeIsDoneAtOnce() throws {
        let fixture = try Self.filled(), told = Told()
        let mayor = StoreModels.entity(
            "City", [StoreModels.attribute("name", .string), StoreModels.attribute("people", .integer32), StoreModels.attribute("mayor", .string)])
        try fixture.open([mayor], Self.watching(told.watch()))
        #expect(Set(told.shares(.migrating)).subtracting([0, 1]) == [])
    }

    // G4
    @Test func theCommitIsToldBeforeItBeginsAndWhenItIsOver() throws {
        let fixture = try Self.filled(), told = Told()
        try fixture.open([Self.city(.stringAttributeType)], Self.watching(told.watch()))
        #expect(told.steps == [.migrating, .committing])
        #expect(told.shares(.committing) == [0, 1])
    }

    // G4
    @Test func aMigrationMayBeGivenUpUntilItsCommitBegins() throws {
        let fixture = try Self.filled(), before = try fixture.dump()
        let error = try fixture.refusal([Self.city(.stringAttributeType)], Self.watching(MigrationWatch { step, _ in step != .committing }))
        #expect(error.code == NSUserCancelledError)
        #expect(try fixture.dump() == before)
    }

    // G4
    @Test func whatIsCommittedCannotBeGivenUp() throws {
        let fixture = try Self.filled()
        try fixture.open([Self.city(.stringAttributeType)], Self.watching(MigrationWatch { $0 != .committing || $1 < 1 }))
        #expect(try fixture.shell.column("SELECT count(*) FROM City WHERE typeof(people) = 'text'") == ["20000"])
    }

    @Test func anIndexWhoseMakingIsGivenUpIsMadeAnotherTime() throws {
        let fixture = try Self.filled(), indexed = Self.city()
        indexed.propertiesByName["name"]?.isIndexed = true
        let error = try fixture.refusal([indexed], Self.watching(MigrationWatch { _, _ in false }))
        #expect(error.code == NSUserCancelledError)
        let again = Self.city()
        again.propertiesByName["name"]?.isIndexed = true
        try fixture.open([again])
        #expect(try fixture.shell.column("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'Z_City%'") == ["Z_City_name"])
    }

    @Test func aCheckIsToldWhileItGoesOn() throws {
        let fixture = try Self.filled(), told = Told()
        try fixture.open([Self.city()], [SQLiteQuickCheckOption: true, SQLiteMigrationWatchOption: told.watch()])
        let shares = told.shares(.checking)
        #expect(shares.count > 3 && shares.dropLast().allSatisfy { $0 == 0 } && shares.last == 1, "\(shares)")
        #expect(told.steps == [.checking])
    }

    @Test(arguments: [1, 2, 3]) func aCheckMayBeGivenUp(at call: Int) throws {
        let fixture = try Self.filled(), before = try fixture.dump(), calls = Mutex(0)
        let watch = MigrationWatch { _, _ in
            calls.withLock {
                $0 += 1
                return $0 < call
            }
        }
        let error = try fixture.refusal([Self.city()], [SQLiteQuickCheckOption: true, SQLiteMigrationWatchOption: watch])
        #expect(error.code == NSUserCancelledError)
        #expect(error.localizedDescription == "The check of \(fixture.file.path) was given up. Nothing was changed.")
        #expect(calls.withLock { $0 } == call)
        #expect(try fixture.dump() == before)
    }

    /// What a watch was told.
    final class Told: Sendable {
        private let list = Mutex<[(step: MigrationWatch.Step, share: Double)]>([])

        func watch(_ goesOn: @escaping @Sendable (MigrationWatch.Step, Double) -> Bool = { _, _ in true }) -> MigrationWatch {
            MigrationWatch { step, share in
                self.list.withLock { $0.append((step, share)) }
                return goesOn(step, share)
            }
        }

        func shares(_ step: MigrationWatch.Step) -> [Double] { list.withLock { $0.filter { $0.step == step }.map(\.share) } }

        /// Each once, as they followed each other.
        var steps: [MigrationWatch.Step] {
            list.withLock { $0.reduce(into: []) { steps, told in if steps.last != told.step { steps.append(told.step) } } }
        }
    }

    private static func watching(_ watch: MigrationWatch) -> [AnyHashable: Any] {
        MigrationFixture.migrating.merging([SQLiteMigrationWatchOption: watch]) { _, new in new }
    }
}
