import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A file takes no reference that leads nowhere, and gives up no row that others refer to.
struct SQLiteReferencesTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(Company.model()) }

    private func references(_ changes: ChangeSet) throws -> [StoreConflict.ReferenceConflict] {
        let error = #expect(throws: StoreConflict.self) { try fixture.save(changes) }
        guard case .references(let found)? = error else { return [] }
        return found
    }

    private func names(_ found: [StoreConflict.ReferenceConflict]) -> Set<String> {
        Set(found.map { $0.id.layout.names[$0.slot] })
    }

    @Test func aNewReferenceToNobodyIsAConflict() throws {
        let person = try fixture.insert("Person", ["name": .string("Ada")])
        let department = try fixture.newID("Department")
        let manager = try fixture.newID("Engineer")
        let badge = try fixture.insert("Badge", [:])
        var changes = ChangeSet()
        try changes.update(
            person, from: try #require(try fixture.stored(person)), ["department": one(department)])
        let new = try fixture.insert(
            "Person", ["manager": one(manager), "badge": one(badge)], into: &changes)
        let found = try references(changes)
        #expect(
            found.count == 2 && Set(found.map(\.id)) == [person, new]
                && Set(found.map(\.target)) == [department, manager])
        #expect(found.allSatisfy(\.isNew) && names(found) == ["department", "manager"])
        #expect(try fixture.stored(new) == nil && fixture.stored(person)?["department"] == .null)
        // Those that come with the same save are there.
        changes.set(department, PendingRow(kind: .inserted, row: try fixture.row("Department", [:])))
        changes.set(manager, PendingRow(kind: .inserted, row: try fixture.row("Engineer", [:])))
        try fixture.save(changes)
        #expect(
            try fixture.stored(person)?["department"] == one(department)
                && fixture.stored(new)?["manager"] == one(manager))
    }

    @Test func onlyWhatASaveChangesIsNew() throws {
        let person = try fixture.insert("Person", ["name": .string("Ada")])
        // Somebody else's program did not look.
        _ = try fixture.shell.rows("UPDATE ZPERSON SET ZDEPARTMENT = 99")
        var changes = ChangeSet()
        try changes.update(
            person, from: try #require(try fixture.stored(person)), ["name": .string("Bob")])
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT ZNAME, ZDEPARTMENT FROM ZPERSON") == [["Bob", "99"]])
    }

    @Test func aRowThatOthersReferToIsNotDeleted() throws {
        let other = try fixture.insert("Department", [:])
        let department = try fixture.insert("Department", [:])
        // Of one number with the department.
        let badges = [try fixture.insert("Badge", [:]), try fixture.insert("Badge", [:])]
        #expect(badges[1].key == department.key)
        let kept = try fixture.insert("Person", ["department": one(department)])
        let moved = try fixture.insert("Person", ["department": one(department)])
        let gone = try fixture.insert("Person", ["department": one(department)])
        let engineer = try fixture.insert("Engineer", ["department": one(department)])
        try fixture.insert("Person", ["department": one(other), "badge": one(badges[1])])
        var changes = ChangeSet()
        changes.delete(department, base: try fixture.stored(department))
        changes.delete(gone, base: try fixture.stored(gone))
        try changes.update(
            moved, from: try #require(try fixture.stored(moved)), ["department": one(other)])
        let found = try references(changes)
        #expect(
            found.count == 2 && Set(found.map(\.id)) == [kept, engineer] && names(found) == ["department"]
        )
        #expect(found.allSatisfy { !$0.isNew && !$0.id.isTemporaryID && $0.target == department })
        #expect(found.first { $0.id == engineer }?.id.entity.name == "Engineer")
        for id in [kept, engineer] {
            try changes.update(id, from: try #require(try fixture.stored(id)), ["department": .null])
        }
        try fixture.save(changes)
        #expect(try fixture.shell.rows("SELECT COUNT(*) FROM ZDEPARTMENT") == [["1"]])
    }

    @Test func whereNoRuleLooksReferencesMayLeadNowhere() throws {
        let account = try fixture.insert("Account", [:])
        try fixture.insert("Order", ["archiveAccount": one(account)])
        var changes = ChangeSet()
        changes.delete(account, base: try fixture.stored(account))
        try fixture.save(changes)
        try fixture.insert("Order", ["archiveAccount": one(account)])
        #expect(try fixture.shell.rows("SELECT COUNT(*) FROM ZORDER") == [["2"]])
    }

    @Test func aTransientReferenceMayLeadNowhere() throws {
        let owner = Company.entity("Owner")
        let pet = Company.entity("Pet")
        let seen = NSRelationshipDescription(name: "seen", destination: pet, toMany: false)
        seen.isTransient = true
        owner.properties = [seen]
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [owner, pet]))
        let id = try fixture.insert("Owner", ["seen": one(try fixture.newID("Pet"))])
        #expect(try fixture.stored(id)?["seen"] == .null)
    }
}
