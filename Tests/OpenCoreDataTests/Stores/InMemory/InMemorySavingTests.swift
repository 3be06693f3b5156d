import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A save into a store in memory: what is written, what is refused, and in which words.
@Suite struct InMemorySavingTests {
    private let model = Company.model()
    private let store: InMemoryStore
    private let coordinator: NSPersistentStoreCoordinator

    init() {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = InMemoryStore(entities: model.entities)
        coordinator.add(store)
    }

    // MARK: Rows by hand

    private func id(_ entity: String, _ key: Int64) throws -> NSManagedObjectID {
        NSManagedObjectID(
            entity: try #require(model.entitiesByName[entity]), key: key, store: store.identity,
            isTemporary: true)
    }

    private func row(_ id: NSManagedObjectID, _ values: [String: AttributeValue] = [:]) throws
        -> RowSnapshot
    {
        let row = RowSnapshot.make(id.layout)
        for (name, value) in values { row.update(try #require(id.layout.slot(of: name)), to: value) }
        return row
    }

    private func insert(
        _ id: NSManagedObjectID, _ values: [String: AttributeValue] = [:], into changes: inout ChangeSet
    ) throws {
        changes.set(id, PendingRow(kind: .inserted, row: try row(id, values)))
    }

    private func update(
        _ id: NSManagedObjectID, _ values: [String: AttributeValue], in changes: inout ChangeSet
    ) throws {
        let base = try #require(try stored(id))
        let row = base.copy()
        let slots = try values.keys.map { try #require(base.layout.slot(of: $0)) }
        for (name, value) in values { row.update(try #require(base.layout.slot(of: name)), to: value) }
        changes.set(id, PendingRow(kind: .updated, row: row, changed: SlotSet(slots), base: base))
    }

    private func delete(_ id: NSManagedObjectID, in changes: inout ChangeSet) throws {
        changes.set(id, PendingRow(kind: .deleted, row: try stored(id), base: try stored(id)))
    }

    private func stored(_ id: NSManagedObjectID) throws -> RowSnapshot? {
        try store.rows(for: [id])[id]
    }

    private func toMany(_ id: NSManagedObjectID, _ name: String) throws -> RelationshipKey {
        let relationship = try #require(id.entity.relationshipsByName[name])
        return RelationshipKey(owner: id, toMany: try #require(id.layout.toManyNumber(relationship)))
    }

    /// How a store is asked to save: alone, or together with others.
    enum Way: CaseIterable {
        case alone, together
    }

    @discardableResult
    private func save(_ changes: ChangeSet, _ way: Way = .alone) throws -> SavedRows {
        switch way {
        case .alone: return try store.save(changes)
        case .together:
            var saved = SavedRows()
            try store.prepare(changes) { saved = try $0.commit() }
            return saved
        }
    }

    private func conflict(_ changes: ChangeSet, _ way: Way = .alone) throws -> StoreConflict? {
        let before = store.rowCount
        let error = #expect(throws: StoreConflict.self) { try save(changes, way) }
        #expect(store.rowCount == before)
        return error
    }

    private func versions(_ changes: ChangeSet, _ way: Way = .alone) throws -> [StoreConflict
        .VersionConflict]
    {
        guard case .versions(let found)? = try conflict(changes, way) else { return [] }
        return found
    }

    private func keys(_ changes: ChangeSet, _ way: Way = .alone) throws -> [StoreConflict.KeyConflict] {
        guard case .constraints(let found)? = try conflict(changes, way) else { return [] }
        return found
    }

    private func references(_ changes: ChangeSet, _ way: Way = .alone) throws -> [StoreConflict
        .ReferenceConflict]
    {
        guard case .references(let found)? = try conflict(changes, way) else { return [] }
        return found
    }

    // MARK: Versions

    @Test(arguments: Way.allCases) func eachSaveOfARowIsANewVersion(_ way: Way) throws {
        let item = try id("Item", 1)
        var changes = ChangeSet()
        try insert(item, ["key": .string("k")], into: &changes)
        #expect(try save(changes, way).versions == [item: 1])
        for version in 2...3 {
            changes = ChangeSet()
            try update(item, ["a": .int64(Int64(version))], in: &changes)
            #expect(try save(changes, way).versions == [item: Int64(version)])
        }
        #expect(try stored(item)?.version == 3 && stored(item)?["key"] == .string("k"))
    }

    @Test(arguments: Way.allCases) func whatChangedSinceItWasReadIsAConflict(_ way: Way) throws {
        let items = try (1...3).map { try id("Item", $0) }
        var changes = ChangeSet()
        var older = changes
        for item in items { try insert(item, into: &changes) }
        try save(changes)
        try update(items[0], ["a": .int64(1)], in: &older)
        try delete(items[1], in: &older)
        older.watched = try store.rows(for: [items[2]])
        changes = ChangeSet()
        for item in items { try update(item, ["a": .int64(2)], in: &changes) }
        try save(changes, way)
        let found = try versions(older, way)
        #expect(Set(found.map(\.id)) == Set(items) && found.allSatisfy { $0.stored?["a"] == .int64(2) })
        older = ChangeSet()
        older.watched = try store.rows(for: items)
        try save(older, way)
    }

    @Test(arguments: Way.allCases) func transientValuesAreNotStored(_ way: Way) throws {
        let person = try id("Person", 1)
        var changes = ChangeSet()
        try insert(person, ["name": .string("Ada"), "note": .string("noted")], into: &changes)
        try save(changes, way)
        #expect(try stored(person)?["name"] == .string("Ada") && stored(person)?["note"] == .null)
    }

    @Test(arguments: Way.allCases) func theMarkOfAPushJournalIsTheLatestThatWasSaved(_ way: Way)
        throws
    {
        var changes = ChangeSet()
        for (entries, mark) in [(nil, 0), (3...5, 5), (1...2, 5), (nil, 5), (6...6, 6)]
            as [(ClosedRange<UInt64>?, UInt64)]
        {
            changes.journaled = entries
            try save(changes, way)
            #expect(try store.pushMark == mark)
        }
    }

    // MARK: Keys

    @Test(arguments: Way.allCases) func whoHasAKeyIsToldToWhoWantsIt(_ way: Way) throws {
        let items = try (1...4).map { try id("Item", $0) }
        var changes = ChangeSet()
        for (item, key) in zip(items, ["a", "b"]) {
            try insert(item, ["key": .string(key)], into: &changes)
        }
        try save(changes, way)
        // The second takes the first one's key, which that one keeps; two new ones want another, and of them the first has it.
        changes = ChangeSet()
        try update(items[1], ["key": .string("a")], in: &changes)
        try update(items[0], ["a": .int64(1)], in: &changes)
        for item in items[2...] { try insert(item, ["key": .string("n")], into: &changes) }
        let found = try keys(changes, way)
        try #require(found.map(\.id) == [items[1], items[3]])
        #expect(found.map(\.owner) == [items[0], items[2]])
        #expect(found[0].stored?["key"] == .string("a") && found[1].stored == nil)
    }

    @Test(arguments: Way.allCases) func aKeyThatIsGivenUpIsFree(_ way: Way) throws {
        let items = try (1...4).map { try id("Item", $0) }
        var changes = ChangeSet()
        for (item, key) in zip(items, ["a", "b", "c"]) {
            try insert(item, ["key": .string(key)], into: &changes)
        }
        try save(changes, way)
        changes = ChangeSet()
        try update(items[0], ["key": .string("b")], in: &changes)
        try update(items[1], ["key": .string("a")], in: &changes)
        try delete(items[2], in: &changes)
        try insert(items[3], ["key": .string("c")], into: &changes)
        try save(changes, way)
        let keys = try items.map { try stored($0)?["key"] }
        #expect(keys == [.string("b"), .string("a"), nil, .string("c")])
    }

    @Test(arguments: Way.allCases) func whoKeepsAKeyHasItWhoeverElseWantsIt(_ way: Way) throws {
        let items = try (1...5).map { try id("Item", $0) }
        var changes = ChangeSet()
        for (item, key) in zip(items, ["a", "b", "c"]) {
            try insert(item, ["key": .string(key)], into: &changes)
        }
        try save(changes, way)
        // The second changes, and keeps its key; the third does not take part.
        changes = ChangeSet()
        try update(items[0], ["key": .string("b")], in: &changes)
        try update(items[1], ["a": .int64(1)], in: &changes)
        try insert(items[3], ["key": .string("c")], into: &changes)
        let found = try keys(changes, way)
        try #require(found.map(\.id) == [items[0], items[3]])
        #expect(found.map(\.owner) == [items[1], items[2]])
    }

    @Test func amongSeveralThatWantAKeyThoseThatAreStoredComeFirst() throws {
        let items = try [5, 9, 1].map { try id("Item", $0) }
        var changes = ChangeSet()
        for (item, key) in zip(items[..<2], ["a", "b"]) {
            try insert(item, ["key": .string(key)], into: &changes)
        }
        try save(changes)
        changes = ChangeSet()
        for item in items[..<2] { try update(item, ["key": .string("n")], in: &changes) }
        try insert(items[2], ["key": .string("n")], into: &changes)
        let found = try keys(changes)
        #expect(found.map(\.id) == [items[1], items[2]] && found.allSatisfy { $0.owner == items[0] })
    }

    // MARK: References

    @Test(arguments: Way.allCases) func aNewReferenceToNobodyIsAConflict(_ way: Way) throws {
        let people = try (1...2).map { try id("Person", $0) }
        let gone = try id("Department", 1)
        let manager = try id("Person", 9)
        var changes = ChangeSet()
        try insert(people[0], into: &changes)
        try save(changes)
        changes = ChangeSet()
        try update(people[0], ["department": .objectID(gone)], in: &changes)
        try insert(people[1], ["manager": .objectID(manager)], into: &changes)
        let found = try references(changes, way)
        #expect(
            Set(found.map(\.id)) == Set(people) && Set(found.map(\.target)) == [gone, manager]
                && found.allSatisfy(\.isNew))
        #expect(Set(found.map { $0.id.layout.names[$0.slot] }) == ["department", "manager"])
        // Those that come with the same save are there, and those that go with it are not.
        try insert(gone, into: &changes)
        try insert(manager, into: &changes)
        try save(changes, way)
        changes = ChangeSet()
        try delete(gone, in: &changes)
        try update(people[0], ["department": .null], in: &changes)
        try update(people[1], ["department": .objectID(gone)], in: &changes)
        #expect(try references(changes, way).map(\.id) == [people[1]])
    }

    @Test(arguments: Way.allCases) func aReferenceThatIsStoredIsAConflictWhereItsTargetGoes(
        _ way: Way
    ) throws {
        let people = try (1...4).map { try id("Person", $0) }
        let department = try id("Department", 1)
        let other = try id("Department", 2)
        var changes = ChangeSet()
        for owner in [department, other] { try insert(owner, into: &changes) }
        for person in people {
            try insert(person, ["department": .objectID(department)], into: &changes)
        }
        try save(changes)
        changes = ChangeSet()
        try delete(department, in: &changes)
        try update(people[0], ["department": .objectID(other)], in: &changes)
        try update(people[1], ["name": .string("Bob")], in: &changes)
        try delete(people[2], in: &changes)
        let found = try references(changes, way)
        #expect(
            Set(found.map(\.id)) == [people[1], people[3]]
                && found.allSatisfy { !$0.isNew && $0.target == department })
    }

    // A reference that only somebody else's row holds by now: what is written of it is another value.
    @Test func onlyWhatASaveSaysOfItsRowsIsNew() throws {
        let person = try id("Person", 1)
        let gone = try id("Department", 1)
        var changes = ChangeSet()
        try insert(person, into: &changes)
        try save(changes)
        changes = ChangeSet()
        let base = try #require(try stored(person))
        let row = base.copy()
        let name = try #require(row.layout.slot(of: "name"))
        row.update(try #require(row.layout.slot(of: "department")), to: .objectID(gone))
        row.update(name, to: .string("Ada"))
        changes.set(person, PendingRow(kind: .updated, row: row, changed: SlotSet([name]), base: base))
        try save(changes)
        #expect(try stored(person)?["name"] == .string("Ada"))
    }

    @Test(arguments: Way.allCases) func whereNoRuleLooksReferencesMayLeadNowhere(_ way: Way) throws {
        let order = try id("Order", 1)
        let account = try id("Account", 1)
        var changes = ChangeSet()
        try insert(account, into: &changes)
        try insert(order, ["archiveAccount": .objectID(account)], into: &changes)
        try save(changes)
        changes = ChangeSet()
        try delete(account, in: &changes)
        try save(changes, way)
        changes = ChangeSet()
        try insert(try id("Order", 2), ["archiveAccount": .objectID(account)], into: &changes)
        try save(changes, way)
        #expect(store.rowCount == 2)
    }

    @Test func aTransientReferenceMayLeadNowhere() throws {
        let owner = Company.entity("Owner")
        let pet = Company.entity("Pet")
        let seen = NSRelationshipDescription(name: "seen", destination: pet, toMany: false)
        seen.isTransient = true
        owner.properties = [seen]
        let model = NSManagedObjectModel(entities: [owner, pet])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = InMemoryStore(entities: model.entities)
        coordinator.add(store)
        func id(_ entity: NSEntityDescription, _ key: Int64) -> NSManagedObjectID {
            NSManagedObjectID(entity: entity, key: key, store: store.identity, isTemporary: true)
        }
        func new(_ id: NSManagedObjectID, _ values: [String: AttributeValue]) throws -> PendingRow {
            PendingRow(kind: .inserted, row: try row(id, values))
        }
        let first = id(owner, 1)
        let target = id(pet, 1)
        let gone = id(pet, 2)
        var changes = ChangeSet()
        changes.set(target, try new(target, [:]))
        changes.set(first, try new(first, ["seen": .objectID(gone)]))
        _ = try store.save(changes)
        changes = ChangeSet()
        changes.set(target, PendingRow(kind: .deleted, row: nil))
        _ = try store.save(changes)
        #expect(store.rowCount == 1)
    }

    // MARK: Members

    @Test(arguments: Way.allCases) func pairsAreAddedAndRemovedOnce(_ way: Way) throws {
        let person = try id("Person", 1)
        let skills = try (1...5).map { try id("Skill", $0) }
        let key = try toMany(person, "skills")
        var changes = ChangeSet()
        for id in [person] + skills[..<3] { try insert(id, into: &changes) }
        changes.pairs[key] = PairChanges(added: Set(skills))
        try save(changes, way)
        #expect(try store.relatedIDs(key) == Array(skills[..<3]))
        changes = ChangeSet()
        changes.pairs[key] = PairChanges(added: [skills[0]], removed: [skills[1], skills[3]])
        try save(changes, way)
        #expect(try store.relatedIDs(key) == [skills[2], skills[0]])
        changes = ChangeSet()
        try delete(skills[2], in: &changes)
        try save(changes, way)
        // Those that were not there when they were added are no members, also if they come later.
        changes = ChangeSet()
        for id in skills[3...] { try insert(id, into: &changes) }
        changes.set(skills[2], PendingRow(kind: .inserted, row: try row(skills[2])))
        try save(changes, way)
        #expect(try store.relatedIDs(key) == [skills[0]])
    }

    @Test(arguments: Way.allCases) func whatIsSaidOfTheMembersOfADeletedObjectIsNotKept(_ way: Way)
        throws
    {
        let person = try id("Person", 1)
        let skill = try id("Skill", 1)
        let key = try toMany(person, "skills")
        let list = try id("Playlist", 1)
        let tracks = try (1...2).map { try id("Track", $0) }
        let order = try toMany(list, "tracks")
        var changes = ChangeSet()
        for id in [person, skill, list] { try insert(id, into: &changes) }
        for track in tracks { try insert(track, ["playlist": .objectID(list)], into: &changes) }
        changes.pairs[key] = PairChanges(added: [skill])
        changes.orders[order] = tracks.reversed()
        try save(changes, way)
        #expect(try store.relatedIDs(key) == [skill] && store.relatedIDs(order) == tracks.reversed())
        changes = ChangeSet()
        for id in [person, list] { try delete(id, in: &changes) }
        for track in tracks { try update(track, ["playlist": .null], in: &changes) }
        try save(changes, way)
        // Another object under the same key has none of it.
        changes = ChangeSet()
        for id in [person, list] { try insert(id, into: &changes) }
        for track in tracks { try update(track, ["playlist": .objectID(list)], in: &changes) }
        try save(changes, way)
        #expect(try store.relatedIDs(key).isEmpty && store.relatedIDs(order) == tracks)
    }

    @Test(arguments: Way.allCases) func whatIsWrittenIsWhatIsLookedAt(_ way: Way) throws {
        let person = try id("Person", 1)
        let department = try id("Department", 1)
        var changes = ChangeSet()
        for id in [person, department] { try insert(id, into: &changes) }
        try save(changes)
        changes = ChangeSet()
        let base = try #require(try stored(person))
        let row = base.copy()
        let name = try #require(row.layout.slot(of: "name"))
        row.update(try #require(row.layout.slot(of: "department")), to: .objectID(department))
        changes.set(person, PendingRow(kind: .updated, row: row, changed: SlotSet([name]), base: base))
        try delete(department, in: &changes)
        #expect(try references(changes, way).map(\.isNew) == [false])
    }

    // Somebody else deleted the owner, which this save only relates to others.
    @Test(arguments: Way.allCases) func whoIsGoneGetsNoMembers(_ way: Way) throws {
        let person = try id("Person", 1)
        let skill = try id("Skill", 1)
        let key = try toMany(person, "skills")
        var changes = ChangeSet()
        try insert(skill, into: &changes)
        changes.pairs[key] = PairChanges(added: [skill])
        try save(changes, way)
        changes = ChangeSet()
        try insert(person, into: &changes)
        try save(changes, way)
        #expect(try store.relatedIDs(key).isEmpty)
    }

    // MARK: Together with others

    @Test func nothingCountsBeforeItIsCommitted() throws {
        let item = try id("Item", 1)
        var changes = ChangeSet()
        try insert(item, into: &changes)
        try store.prepare(changes) { _ in #expect(store.rowCount == 0) }
        #expect(store.rowCount == 0)
        let log = RequestKinds()
        store.observe { log.add($0.kind) }
        try save(changes, .together)
        try save(ChangeSet(), .alone)
        #expect(log.kinds == ["save", "commit", "save"] && store.rowCount == 1)
    }

    @Test func whatTheStoreHadIsFilledInAsItWas() throws {
        let person = try id("Person", 1)
        let skill = try id("Skill", 1)
        let key = try toMany(person, "skills")
        let list = try id("Playlist", 1)
        let tracks = try (1...2).map { try id("Track", $0) }
        let order = try toMany(list, "tracks")
        var contents = StoreContents()
        for id in [person, skill, list] {
            contents.rows.append(FetchedRow(id: id, row: try row(id).copy(version: 4)))
        }
        for id in tracks {
            contents.rows.append(
                FetchedRow(id: id, row: try row(id, ["playlist": .objectID(list)]).copy(version: 4)))
        }
        contents.pairs[key] = [skill]
        contents.orders[order] = tracks.reversed()
        store.fill(contents)
        #expect(try store.rowCount == 5 && stored(person)?.version == 4)
        #expect(try store.relatedIDs(key) == [skill] && store.relatedIDs(order) == tracks.reversed())
    }

    // R9
    @Test func aToOneIntoAnotherStoreIsRefused() throws {
        let other = InMemoryStore(entities: model.entities), ada = try id("Person", 1)
        let stranger = NSManagedObjectID(entity: try #require(model.entitiesByName["Department"]), key: 1, store: other.identity, isTemporary: false)
        var changes = ChangeSet()
        try insert(ada, ["department": .objectID(stranger)], into: &changes)
        let error = #expect(throws: NSError.self) { try save(changes) }
        #expect(error?.code == 133010)
        #expect(try stored(ada) == nil)
    }
}

/// What a store was asked.
// Used by one thread.
private final class RequestKinds: @unchecked Sendable {
    private(set) var kinds: [String] = []
    func add(_ kind: String) { kinds.append(kind) }
}
