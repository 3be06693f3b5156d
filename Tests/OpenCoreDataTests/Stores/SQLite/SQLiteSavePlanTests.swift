import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a save writes into a file besides the values of its rows: places in orders, pairs, and how much it says it has written.
struct SQLiteSavePlanTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(Company.model()) }

    private func toMany(_ id: NSManagedObjectID, _ name: String) throws -> RelationshipKey {
        let relationship = try #require(id.entity.relationshipsByName[name])
        return RelationshipKey(owner: id, toMany: try #require(id.layout.toManyNumber(relationship)))
    }

    @Test func placesAreLeftBetweenTheMembersOfAnOrderAndAMemberThatMovesLosesItsOwn() throws {
        let lists = [try fixture.insert("Playlist", [:]), try fixture.insert("Playlist", [:])]
        let tracks = try (0..<4).map {
            try fixture.insert("Track", ["playlist": one(lists[$0 < 2 ? 0 : 1])])
        }
        var changes = ChangeSet()
        for (list, members) in [
            (lists[0], [tracks[0], tracks[1]]), (lists[1], [tracks[3], tracks[2]]),
        ] {
            changes.orders[try toMany(list, "tracks")] = members
        }
        try fixture.save(changes)
        let column = try #require(
            try fixture.shell.column(
                "SELECT name FROM pragma_table_info('ZTRACK') WHERE name LIKE 'Z_FOK%'"
            ).first)
        #expect(
            try fixture.shell.column("SELECT \(column) FROM ZTRACK ORDER BY Z_PK") == [
                "1024", "2048", "2048", "1024",
            ])
        // What changes otherwise keeps its place.
        changes = ChangeSet()
        try changes.update(tracks[3], from: try #require(try fixture.stored(tracks[3])), ["title": .string("moved nowhere")])
        try fixture.save(changes)
        // The first of one list goes to the other, of whose order nothing is said: it stands last there.
        changes = ChangeSet()
        try changes.update(
            tracks[0], from: try #require(try fixture.stored(tracks[0])), ["playlist": one(lists[1])])
        try fixture.save(changes)
        #expect(
            try fixture.store.relatedIDs(try toMany(lists[1], "tracks")) == [
                tracks[3], tracks[2], tracks[0],
            ])
        #expect(try fixture.store.relatedIDs(try toMany(lists[0], "tracks")) == [tracks[1]])
    }

    @Test func everythingThatIsWrittenIsCounted() throws {
        func counted(_ edit: (inout ChangeSet) throws -> Void) throws -> [Int] {
            var changes = ChangeSet()
            try edit(&changes)
            let before = fixture.store.statements.current
            try fixture.save(changes)
            let written = fixture.store.statements.current - before
            return [written.inserts, written.updates, written.deletes]
        }
        let person = try fixture.insert("Person", [:])
        let skill = try fixture.insert("Skill", [:])
        let list = try fixture.insert("Playlist", [:])
        let track = try fixture.insert("Track", ["playlist": one(list)])
        let skills = try toMany(person, "skills")
        let tracks = try toMany(list, "tracks")
        #expect(try counted { try fixture.insert("Item", [:], into: &$0) } == [1, 0, 0])
        #expect(try counted { $0.pairs[skills] = PairChanges(added: [skill]) } == [1, 0, 0])
        #expect(try counted { $0.orders[tracks] = [track] } == [0, 1, 0])
        #expect(
            try counted {
                try $0.update(
                    person, from: try #require(try fixture.stored(person)), ["name": .string("Ada")])
            } == [0, 1, 0])
        #expect(try counted { $0.pairs[skills] = PairChanges(removed: [skill]) } == [0, 0, 1])
        // The row, and what may be left of it in the table of the pairs.
        #expect(try counted { $0.delete(skill, base: try fixture.stored(skill)) } == [0, 0, 2])
    }

    @Test func severalRowsOfATableAreChecked() throws {
        let people = try (0..<3).map { _ in try fixture.insert("Person", [:]) }
        var changes = ChangeSet()
        try fixture.insert("Person", [:], into: &changes)
        changes.watched = try fixture.store.rows(for: people)
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT COUNT(*) FROM ZPERSON") == [["4"]])
    }
}
