import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a set of changes says of an object that turned out to be another one.
@Suite struct ChangeSetIdentitiesTests {
    private let make = Changes()

    // N24: it is laid over what is said of the other, or over what is known of it.
    @Test func whatWasChangedOfAnObjectIsChangedOfTheOneThatItBecame() throws {
        for isThere in [true, false] {
            let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1)
            var changes = ChangeSet()
            changes.set(lost, try make.update(lost, ["b": .int64(2)], over: ["a": .int64(9)], version: 0))
            if isThere { changes.set(owner, try make.update(owner, ["c": .int64(3)], over: ["a": .int64(1)], version: 7)) }
            let known = try make.row(owner, ["a": .int64(1), "c": .int64(5)], version: 7)
            lost.become(owner)
            let now = changes.current { $0 == owner ? known : nil }
            let change = try #require(now[owner])
            #expect(now.rowCount == 1 && change.kind == .updated && change.base?.version == 7)
            #expect(change.row?["a"] == .int64(1) && change.row?["b"] == .int64(2) && change.row?["c"] == .int64(isThere ? 3 : 5))
            #expect(change.row?.version == 7)
            #expect(try change.changed == (isThere ? make.slots(owner, "b", "c") : make.slots(owner, "b")))
            #expect(isThere || change.base === known)
        }
    }

    @Test func whoBecomesANewObjectIsPartOfIt() throws {
        let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1, isTemporary: true)
        var changes = ChangeSet()
        changes.set(lost, try make.update(lost, ["b": .int64(2)]))
        changes.set(owner, try make.insert(owner, ["code": .string("q")]))
        lost.become(owner)
        let change = try #require(changes.current { _ in nil }[owner])
        #expect(change.kind == .inserted && change.base == nil && change.row?["b"] == .int64(2) && change.row?["code"] == .string("q"))
        #expect(try change.changed == make.slots(owner, "code", "b"))
    }

    @Test func whoBecomesADeletedObjectIsDeletedToo() throws {
        let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1)
        var changes = ChangeSet()
        changes.set(lost, try make.update(lost, ["b": .int64(2)]))
        changes.set(owner, try make.deletion(owner))
        lost.become(owner)
        let now = changes.current { _ in nil }
        #expect(now[owner]?.kind == .deleted && now.rowCount == 1)
    }

    @Test func deletingWhoBecameAnotherDeletesTheOther() throws {
        for isThere in [true, false] {
            let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1)
            var changes = ChangeSet()
            changes.set(lost, try make.deletion(lost))
            if isThere { changes.set(owner, try make.update(owner, ["c": .int64(3)], version: 4)) }
            let known = try make.row(owner, ["c": .int64(5)], version: 4)
            lost.become(owner)
            let now = changes.current { _ in known }
            let change = try #require(now[owner])
            #expect(change.kind == .deleted && now.rowCount == 1 && change.row?["c"] == .int64(isThere ? 3 : 5))
            #expect(change.base?.version == (isThere ? 4 : nil))
        }
    }

    @Test func whereNobodyKnowsTheOthersRowOnlyWhatWasChangedGoesOver() throws {
        for entity in ["Thing", "Special"] {
            let lost = try make.id(entity, 2, isTemporary: true), owner = try make.id("Thing", 1)
            var changes = ChangeSet()
            let more: [String: AttributeValue] = entity == "Special" ? ["d": .int64(4)] : [:]
            changes.set(lost, try make.update(lost, more.merging(["b": .int64(2)]) { $1 }, over: ["code": .string("q")]))
            lost.become(owner)
            let change = try #require(changes.current { _ in nil }[owner])
            #expect(change.kind == .updated && change.base == nil && change.row?.layout === owner.layout)
            #expect(change.row?["b"] == .int64(2) && change.row?["code"] == .string("q"))
            #expect(try change.changed == make.slots(owner, "b"))
        }
    }

    // The last in the order in which they were made is laid over the others.
    @Test func ofSeveralThatBecameOneTheLatestCounts() throws {
        let owner = try make.id("Thing", 1), lost = try [3, 2].map { try make.id("Thing", $0, isTemporary: true) }
        var changes = ChangeSet()
        for id in lost {
            changes.set(id, try make.update(id, ["b": .int64(id.key)]))
            id.become(owner)
        }
        #expect(changes.current { _ in nil }[owner]?.row?["b"] == .int64(3))
    }

    // MARK: Where they are named

    @Test func toOnesPairsAndOrdersNameTheOther() throws {
        let special = try make.id("Special", 9, isTemporary: true), owner = try make.id("Thing", 1), kid = try make.id("Thing", 3)
        let tag = try make.id("Tag", 1), shelf = try make.id("Shelf", 1)
        var changes = ChangeSet()
        changes.set(kid, try make.update(kid, ["parent": .objectID(special)], over: ["parent": .objectID(owner)], version: 6))
        changes.pairs[try make.toMany(special, "tags")] = PairChanges(added: [tag])
        changes.pairs[try make.toMany(tag, "things")] = PairChanges(added: [special], removed: [kid])
        changes.orders = [try make.toMany(shelf, "things"): [kid, special, owner], try make.toMany(special, "tags"): [tag]]
        let now = changes.replacing([special: owner])
        let change = try #require(now[kid])
        #expect(change.row?["parent"] == .objectID(owner) && change.kind == .updated && change.base?.version == 6)
        #expect(try change.changed == make.slots(kid, "parent"))
        #expect(try now.pairs.all.count == 2 && now.pairs[make.toMany(owner, "tags")]?.added == [tag])
        #expect(try now.pairs[make.toMany(tag, "things")]?.added == [owner] && now.pairs[make.toMany(tag, "things")]?.removed == [kid])
        #expect(try now.orders[make.toMany(shelf, "things")] == [kid, owner] && now.orders[make.toMany(owner, "tags")] == [tag])
        #expect(now.orders.count == 2)
    }

    @Test func aPairThatOneOfTwoWasGivenIsThere() throws {
        let owner = try make.id("Thing", 1), lost = try (2..<10).map { try make.id("Thing", $0) }, tag = try make.id("Tag", 1)
        var changes = ChangeSet()
        for id in lost { changes.pairs[try make.toMany(id, "tags")] = PairChanges(removed: [tag]) }
        changes.pairs[try make.toMany(owner, "tags")] = PairChanges(added: [tag])
        changes.pairs[try make.toMany(tag, "things")] = PairChanges(added: [owner], removed: Set(lost))
        let now = changes.replacing(Dictionary(uniqueKeysWithValues: lost.map { ($0, owner) }))
        #expect(try now.pairs[make.toMany(owner, "tags")]?.added == [tag] && now.pairs[make.toMany(owner, "tags")]?.removed == [])
        #expect(try now.pairs[make.toMany(tag, "things")]?.added == [owner] && now.pairs[make.toMany(tag, "things")]?.removed == [])
    }

    @Test func whoeverIsNamedAnywhereIsFound() throws {
        let tag = try make.id("Tag", 1), thing = try make.id("Thing", 1), other = try make.id("Thing", 4), shelf = try make.id("Shelf", 1)
        func named(_ body: (inout ChangeSet, NSManagedObjectID) throws -> Void) throws -> [Bool] {
            let id = try make.id("Thing", 2, isTemporary: true)
            var changes = ChangeSet()
            changes.set(thing, try make.update(thing, ["a": .int64(1)]))
            changes.pairs[try make.toMany(thing, "tags")] = PairChanges(added: [tag], removed: [try make.id("Tag", 3)])
            changes.orders[try make.toMany(shelf, "things")] = [thing]
            try body(&changes, id)
            let before = changes.namesReplacedObjects
            id.become(thing)
            return [before, changes.namesReplacedObjects]
        }
        #expect(try named { $0.set($1, try make.update($1, [:])) } == [false, true])
        #expect(try named { $0.set(other, try make.update(other, ["parent": .objectID($1)])) } == [false, true])
        #expect(try named { $0.pairs[try make.toMany($1, "tags")] = PairChanges(added: [tag]) } == [false, true])
        #expect(try named { $0.pairs[try make.toMany(tag, "things")] = PairChanges(added: [$1]) } == [false, true])
        #expect(try named { $0.pairs[try make.toMany(tag, "things")] = PairChanges(removed: [$1]) } == [false, true])
        #expect(try named { $0.orders[try make.toMany($1, "tags")] = [] } == [false, true])
        #expect(try named { $0.orders[try make.toMany(shelf, "things")] = [thing, $1] } == [false, true])
        #expect(try named { _, _ in } == [false, false])
    }
}
