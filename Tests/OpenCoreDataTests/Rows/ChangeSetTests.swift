import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Changes as a value: rows, pairs and orders, and what they make of the members of a to-many.
@Suite struct ChangeSetTests {
    private let make = Changes()

    @Test func itCountsItsRowsByKind() throws {
        var changes = ChangeSet()
        #expect(changes.isEmpty)
        let ids = try (1...6).map { try make.id("Thing", Int64($0)) }
        changes.set(ids[0], try make.insert(ids[0], [:]))
        changes.set(ids[1], try make.update(ids[1], [:]))
        changes.set(ids[2], try make.update(ids[2], [:]))
        for id in ids[3...] { changes.set(id, try make.deletion(id)) }
        let counts = [changes.insertedCount, changes.updatedCount, changes.deletedCount, changes.rowCount]
        #expect(counts == [1, 2, 3, 6])
        let updated = Set(changes.ids(.updated)), deleted = Set(changes.ids(.deleted))
        #expect(changes.ids(.inserted) == [ids[0]] && updated == [ids[1], ids[2]] && deleted == [ids[3], ids[4], ids[5]])
        let cost = changes.cost
        changes.set(ids[1], try make.deletion(ids[1]))
        #expect(changes.updatedCount == 1 && changes.deletedCount == 4 && changes.cost == cost)
        for id in ids { changes.set(id, nil) }
        #expect(changes.isEmpty && changes.rowCount == 0 && changes.cost == 0 && changes.ids(.deleted).isEmpty)
        #expect(!changes.hasRows(of: [ids[0].entity]))
        let tag = try make.id("Tag", 1)
        changes.pairs[try make.toMany(tag, "things")] = PairChanges(added: [ids[0]])
        #expect(!changes.isEmpty)
        changes.pairs = PairTable()
        changes.orders[try make.toMany(ids[0], "tags")] = [tag]
        #expect(!changes.isEmpty)
    }

    @Test func rowsAreToldByEntity() throws {
        var changes = ChangeSet()
        let thing = try make.id("Thing", 1), special = try make.id("Special", 1025), tag = try make.id("Tag", 1)
        for id in [thing, special, tag] { changes.set(id, try make.update(id, [:])) }
        #expect(Set(changes.rows(of: thing.entity.withDescendants).map(\.id)) == [thing, special])
        #expect(changes.rows(of: [special.entity]).map(\.id) == [special] && changes.hasRows(of: [tag.entity]))
        #expect(try !changes.hasRows(of: [make.id("Box", 1).entity]))
        #expect(Set(changes.ids(.updated)) == [thing, special, tag])
    }

    // MARK: Pairs

    @Test func theLaterWordAboutAPairCounts() throws {
        let a = try make.id("Tag", 1), b = try make.id("Tag", 2), c = try make.id("Tag", 3)
        var pairs = PairChanges()
        #expect(pairs.isEmpty)
        pairs.add(a)
        pairs.remove(b)
        #expect(pairs.added == [a] && pairs.removed == [b] && !pairs.isEmpty)
        pairs.remove(a)
        pairs.add(b)
        #expect(pairs.added == [b] && pairs.removed == [a])
        pairs.apply(PairChanges(added: [a, c], removed: [b]))
        #expect(pairs.added == [a, c] && pairs.removed == [b])
        for id in [a, b, c] { pairs.forget(id) }
        #expect(pairs.isEmpty && !PairChanges(removed: [a]).isEmpty)
    }

    // MARK: Parts

    @Test func changesOfOtherObjectsAreAdded() throws {
        let a = try make.id("Thing", 1), b = try make.id("Thing", 2), tag = try make.id("Tag", 1)
        var changes = ChangeSet(), more = changes
        changes.set(a, try make.update(a, [:]))
        more.set(b, try make.update(b, [:]))
        more.pairs[try make.toMany(b, "tags")] = PairChanges(added: [tag])
        more.orders[try make.toMany(b, "tags")] = [tag]
        changes.add(more)
        #expect(changes.rowCount == 2 && changes.pairs.all.count == 1 && changes.orders.count == 1)
    }

    @Test func aPartHasTheRowsPairsAndOrdersOfItsObjects() throws {
        let a = try make.id("Thing", 1), b = try make.id("Thing", 2), tag = try make.id("Tag", 1)
        var changes = ChangeSet()
        for id in [a, b] {
            changes.set(id, try make.update(id, [:]))
            changes.pairs[try make.toMany(id, "tags")] = PairChanges(added: [tag])
            changes.orders[try make.toMany(id, "tags")] = [tag]
        }
        let part = changes.filter { $0 == a }
        #expect(part.ids(.updated) == [a] && part.pairs.all.keys.map(\.owner) == [a] && part.orders.keys.map(\.owner) == [a])
    }

    @Test func aToManyThatChangedIsToldOfItsOwnerOnly() throws {
        let a = try make.id("Thing", 1), b = try make.id("Thing", 2), shelf = try make.id("Shelf", 1), tag = try make.id("Tag", 1)
        var changes = ChangeSet()
        changes.set(a, try make.update(a, [:]))
        #expect(!changes.changesToMany(of: a))
        changes.pairs[try make.toMany(a, "tags")] = PairChanges(added: [tag])
        #expect(changes.changesToMany(of: a) && !changes.changesToMany(of: b) && !changes.changesToMany(of: shelf))
        changes.pairs = PairTable()
        changes.orders[try make.toMany(shelf, "things")] = [a]
        #expect(changes.changesToMany(of: shelf) && !changes.changesToMany(of: a))
    }

    // MARK: Members

    @Test func aForeignKeyThatChangedMovesItsObject() throws {
        let things = try (1...5).map { try make.id("Thing", Int64($0)) }, special = try make.id("Special", 1025)
        let box = try make.id("Box", 1), other = try make.id("Box", 2)
        var changes = ChangeSet()
        changes.set(things[0], try make.update(things[0], ["box": .objectID(other)], over: ["box": .objectID(box)]))
        changes.set(things[1], try make.deletion(things[1], ["box": .objectID(box)]))
        changes.set(things[3], try make.insert(things[3], ["box": .objectID(box)]))
        changes.set(things[4], try make.update(things[4], ["a": .int64(1)], over: ["box": .objectID(box)]))
        changes.set(special, try make.update(special, ["box": .objectID(box)]))
        let key = try make.toMany(box, "things"), otherKey = try make.toMany(other, "things")
        let before = [things[4], things[0], things[1], things[2]]
        #expect(changes.members(of: key, over: before) == [things[4], things[2], things[3], special])
        #expect(changes.members(of: otherKey, over: []) == [things[0]])
        var both = [key: before, otherKey: []]
        changes.apply(to: &both)
        #expect(both == [key: [things[4], things[2], things[3], special], otherKey: [things[0]]])
    }

    @Test func membersWithoutChangesStayAsTheyAre() throws {
        let box = try make.id("Box", 1), thing = try make.id("Thing", 1), key = try make.toMany(box, "things")
        #expect(ChangeSet().members(of: key, over: [thing]) == [thing])
        let tags = try make.toMany(thing, "tags"), tag = try make.id("Tag", 1)
        #expect(ChangeSet().members(of: tags, over: [tag]) == [tag])
    }

    // R2: what the order does not know comes last, what is no member any more is left out.
    @Test func anOrderSortsTheMembersThatItKnows() throws {
        let things = try (1...5).map { try make.id("Thing", Int64($0)) }, shelf = try make.id("Shelf", 1), key = try make.toMany(shelf, "things")
        var changes = ChangeSet()
        changes.orders[key] = [things[3], things[0], things[4]]
        #expect(changes.members(of: key, over: [things[2], things[0], things[1], things[3]]) == [things[3], things[0], things[1], things[2]])
        // An order of an unordered to-many says nothing.
        let box = try make.id("Box", 1), boxed = try make.toMany(box, "things")
        changes.orders[boxed] = [things[1], things[0]]
        #expect(changes.members(of: boxed, over: [things[0], things[1]]) == [things[0], things[1]])
    }

    @Test func pairsAreMembersUntilTheyAreRemovedOrTheirObjectIsDeleted() throws {
        let thing = try make.id("Thing", 1), tags = try (1...5).map { try make.id("Tag", Int64($0)) }, key = try make.toMany(thing, "tags")
        var changes = ChangeSet()
        changes.pairs[key] = PairChanges(added: [tags[4], tags[3], tags[0]], removed: [tags[1]])
        #expect(changes.members(of: key, over: [tags[2], tags[1], tags[0]]) == [tags[2], tags[0], tags[3], tags[4]])
        changes.set(tags[2], try make.deletion(tags[2]))
        changes.set(tags[3], try make.deletion(tags[3]))
        changes.set(tags[0], try make.update(tags[0], [:]))
        #expect(changes.members(of: key, over: [tags[2], tags[1], tags[0]]) == [tags[0], tags[4]])
    }
}
