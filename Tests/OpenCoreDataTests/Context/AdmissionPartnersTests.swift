import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// One-to-ones of changes that come in: things and their badges, of which both sides are values of a row.
@Suite struct AdmissionPartnersTests {
    private let make = Changes()

    private func settled(_ changes: ChangeSet, over rows: [NSManagedObjectID: RowSnapshot] = [:]) throws -> Admission {
        var admission = Admission(changes: changes)
        try admission.settlePartners { rows[$0] }
        return admission
    }

    /// The rows of a thing and its badge.
    private func couple(_ thing: NSManagedObjectID, _ badge: NSManagedObjectID) throws -> [NSManagedObjectID: RowSnapshot] {
        [thing: try make.row(thing, ["badge": .objectID(badge)]), badge: try make.row(badge, ["thing": .objectID(thing)])]
    }

    private func things(_ count: Int64) throws -> [NSManagedObjectID] { try (1...count).map { try make.id("Thing", $0) } }
    private func badges(_ count: Int64) throws -> [NSManagedObjectID] { try (1...count).map { try make.id("Badge", $0) } }

    @Test func whoeverHadTheObjectLosesItAndWhatTheNewOwnerHadIsLetGo() throws {
        let things = try things(2), badges = try badges(2)
        let rows = try couple(things[0], badges[0]).merging(couple(things[1], badges[1])) { $1 }
        var changes = ChangeSet()
        changes.set(things[1], try make.update(things[1], ["badge": .objectID(badges[0])], over: ["badge": .objectID(badges[1])]))
        let admission = try settled(changes, over: rows), now = admission.changes
        #expect(now.rowCount == 4 && now[things[1]]?.row === changes[things[1]]?.row)
        #expect(now[things[0]]?.row?["badge"] == .null && now[badges[1]]?.row?["thing"] == .null)
        #expect(now[badges[0]]?.row?["thing"] == .objectID(things[1]))
        let lost = try #require(now[things[0]])
        #expect(lost.kind == .updated && lost.base === rows[things[0]])
        #expect(try lost.changed == make.slots(things[0], "badge"))
        #expect(admission.corrected.isEmpty)
    }

    @Test func whatIsEmptiedOnOneSideIsEmptiedOnTheOther() throws {
        let thing = try things(1)[0], badge = try badges(1)[0]
        var changes = ChangeSet()
        changes.set(thing, try make.update(thing, ["badge": .null], over: ["badge": .objectID(badge)]))
        let now = try settled(changes, over: try couple(thing, badge)).changes
        #expect(now.rowCount == 2 && now[badge]?.row?["thing"] == .null)
    }

    // In the order in which they were made, whichever way they come.
    @Test func ofSeveralThatAreGivenOneObjectTheLatestHasIt() throws {
        let things = try things(12), badge = try badges(1)[0]
        var changes = ChangeSet()
        // The first one is new, and nobody said of it what was set.
        let named = try make.row(things[0], ["badge": .objectID(badge), "a": .int64(3)], version: 0)
        changes.set(things[0], PendingRow(kind: .inserted, row: named))
        for thing in things.dropFirst().reversed() {
            changes.set(thing, try make.update(thing, ["badge": .objectID(badge), "a": .int64(3)], over: ["b": .int64(1)], version: 4))
        }
        let rows = try Dictionary(uniqueKeysWithValues: things.dropFirst().map { ($0, try make.row($0, ["b": .int64(1)], version: 4)) })
        let admission = try settled(changes, over: rows.merging([badge: try make.row(badge)]) { $1 }), now = admission.changes
        #expect(now[badge]?.row?["thing"] == .objectID(things[11]))
        #expect(things.filter { now[$0]?.row?["badge"] == .objectID(badge) } == [things[11]])
        #expect(admission.corrected == Set(things.dropLast()))
        // Nothing else of them is lost.
        #expect(now[things[0]]?.kind == .inserted && now[things[0]]?.base == nil && now[things[0]]?.row?["a"] == .int64(3))
        let second = try #require(now[things[1]])
        #expect(second.kind == .updated && second.row?["a"] == .int64(3) && second.base === changes[things[1]]?.base)
        #expect(try second.changed == make.slots(things[1], "a", "badge"))
    }

    @Test func twoThatSwapEndWithEachOthers() throws {
        let things = try things(2), badges = try badges(2)
        let rows = try couple(things[0], badges[0]).merging(couple(things[1], badges[1])) { $1 }
        var changes = ChangeSet()
        for (thing, place) in zip(things, [(0, 1), (1, 0)]) {
            changes.set(
                thing, try make.update(thing, ["badge": .objectID(badges[place.1])], over: ["badge": .objectID(badges[place.0])]))
        }
        let admission = try settled(changes, over: rows), now = admission.changes
        #expect(now[things[0]]?.row?["badge"] == .objectID(badges[1]) && now[things[1]]?.row?["badge"] == .objectID(badges[0]))
        #expect(now[badges[0]]?.row?["thing"] == .objectID(things[1]) && now[badges[1]]?.row?["thing"] == .objectID(things[0]))
        #expect(admission.corrected.isEmpty)
    }

    // MARK: Who is left alone

    @Test func whatAnObjectHasWithoutHavingBeenGivenItIsNoClaim() throws {
        let things = try things(2), badge = try badges(1)[0]
        var changes = ChangeSet()
        // It has read that it has the badge, which has gone to the other one since.
        changes.set(things[0], try make.update(things[0], ["a": .int64(1)], over: ["badge": .objectID(badge)]))
        let admission = try settled(changes, over: try couple(things[1], badge))
        #expect(admission.changes.rowCount == 1 && admission.corrected.isEmpty)
    }

    @Test func whoeverHasTheObjectByNowKeepsItWhenAnOlderOwnerLetsGo() throws {
        let things = try things(2), badge = try badges(1)[0]
        let stale = try make.row(things[0], ["badge": .objectID(badge)])
        var changes = ChangeSet()
        changes.set(things[0], try make.update(things[0], ["badge": .null], over: ["badge": .objectID(badge)]))
        let now = try settled(changes, over: try couple(things[1], badge).merging([things[0]: stale]) { $1 }).changes
        #expect(now.rowCount == 1)
    }

    @Test func whoHasAnotherByNowKeepsThatOne() throws {
        let things = try things(2), badges = try badges(2)
        let stale = try make.row(badges[0], ["thing": .objectID(things[0])])
        var changes = ChangeSet()
        changes.set(things[1], try make.update(things[1], ["badge": .objectID(badges[0])]))
        let rows = try couple(things[0], badges[1]).merging([badges[0]: stale, things[1]: try make.row(things[1])]) { $1 }
        let now = try settled(changes, over: rows).changes
        #expect(now[things[0]] == nil && now[badges[0]]?.row?["thing"] == .objectID(things[1]))
    }

    @Test func whatIsDeletedIsGivenNothing() throws {
        let things = try things(2), badge = try badges(1)[0]
        var changes = ChangeSet()
        changes.set(things[0], try make.deletion(things[0], ["badge": .objectID(badge)]))
        changes.set(things[1], try make.update(things[1], ["badge": .objectID(badge)]))
        let admission = try settled(changes, over: try couple(things[0], badge).merging([things[1]: try make.row(things[1])]) { $1 })
        #expect(admission.changes[things[0]]?.row === changes[things[0]]?.row && admission.changes[things[0]]?.kind == .deleted)
        #expect(admission.changes[badge]?.row?["thing"] == .objectID(things[1]) && admission.corrected.isEmpty)
    }

    @Test func whatIsDeletedClaimsNothing() throws {
        let things = try things(2), badge = try badges(1)[0]
        var changes = ChangeSet(), deletion = try make.update(things[0], ["badge": .objectID(badge)])
        deletion.kind = .deleted
        changes.set(things[0], deletion)
        #expect(try settled(changes, over: try couple(things[1], badge)).changes.rowCount == 1)
    }

    // MARK: Rows that are not there

    @Test func allRowsThatAreNeededAreAskedForAtOnce() throws {
        let things = try things(2), badges = try badges(2)
        var changes = ChangeSet()
        for (thing, badge) in zip(things, badges) { changes.set(thing, try make.update(thing, ["badge": .objectID(badge)])) }
        var admission = Admission(changes: changes)
        let error = #expect(throws: RowsNeeded.self) { try admission.settlePartners { throw RowsNeeded(ids: [$0]) } }
        #expect(error?.ids == Set(things + badges))
        #expect(admission.changes.rowCount == 2 && admission.corrected.isEmpty)
    }

    @Test func aStoreThatCannotBeReadSaysItFirst() throws {
        struct Unread: Error {
            let number: Int
        }
        let things = try things(2), badge = try badges(1)[0]
        var changes = ChangeSet(), count = 0
        for thing in things { changes.set(thing, try make.update(thing, ["badge": .objectID(badge)])) }
        var admission = Admission(changes: changes)
        let error = #expect(throws: Unread.self) {
            try admission.settlePartners { _ in
                count += 1
                throw Unread(number: count)
            }
        }
        #expect(error?.number == 1)
    }

    // Where the rule does nothing, a reference to a deleted object stays; what its owner had before is let go all the same.
    @Test func whoIsGivenWhatIsDeletedLetsGoOfWhatItHad() throws {
        let thing = try things(1)[0], badges = try badges(2)
        var changes = ChangeSet()
        changes.set(badges[0], try make.deletion(badges[0]))
        changes.set(thing, try make.update(thing, ["badge": .objectID(badges[0])]))
        let now = try settled(changes, over: try couple(thing, badges[1])).changes
        #expect(now[badges[1]]?.row?["thing"] == .null && now[thing]?.row?["badge"] == .objectID(badges[0]))
    }
}
