import Foundation
import OpenCoreData
import Testing

/// Fetches: order, window, entities, and what is refused.
struct SQLiteFetchingTests {
    private func names(_ rows: [FetchedRow]) -> [String] {
        rows.map { found in
            if case .string(let name)? = found.row?["name"] { name } else { "∅" }
        }
    }

    private func people(_ values: [(String?, Int64?)]) throws -> StoreFixture {
        let fixture = try StoreFixture(StoreModels.animals())
        var changes = ChangeSet()
        for (name, age) in values {
            try fixture.insert(
                "Person", ["name": name.map { .string($0) } ?? .null, "age": age.map { .int64($0) } ?? .null], into: &changes)
        }
        try fixture.save(changes)
        return fixture
    }

    // F7
    @Test func nilSortsFirstAscendingAndTiesGoByKey() throws {
        let fixture = try people([("b", 1), (nil, 2), ("a", 1), ("C", nil), ("c", 1)])
        let byName = SortKey(path: ["name"], isAscending: true)
        #expect(names(try fixture.fetch("Person", sort: [byName])) == ["∅", "C", "a", "b", "c"])
        #expect(names(try fixture.fetch("Person", sort: [SortKey(path: ["name"], isAscending: false)])) == ["c", "b", "a", "C", "∅"])
        let folded = SortKey(path: ["name"], isAscending: true, selector: .caseInsensitiveCompare)
        #expect(names(try fixture.fetch("Person", sort: [folded])) == ["∅", "a", "b", "C", "c"])
        let byAge = SortKey(path: ["age"], isAscending: true)
        #expect(names(try fixture.fetch("Person", sort: [byAge, byName])) == ["C", "a", "b", "c", "∅"])
        #expect(names(try fixture.fetch("Person", sort: [byAge])) == ["C", "b", "a", "c", "∅"])
        #expect(names(try fixture.fetch("Person")) == ["b", "∅", "a", "C", "c"])
    }

    // F7
    @Test func sortingFollowsToOnes() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let zoe = try fixture.insert("Person", ["name": .string("Zoe")]), abe = try fixture.insert("Person", ["name": .string("Abe")])
        for (name, owner) in [("x", zoe), ("y", nil), ("z", abe)] as [(String, NSManagedObjectID?)] {
            try fixture.insert("Dog", ["name": .string(name), "owner": owner.map { one($0) } ?? .null])
        }
        #expect(names(try fixture.fetch("Animal", sort: [SortKey(path: ["owner", "name"], isAscending: true)])) == ["y", "z", "x"])
    }

    // F8
    @Test func theWindowIsExact() throws {
        let fixture = try people((0..<10).map { ("n\($0)", Int64($0 / 3)) })
        var plan = FetchPlan(entity: try fixture.entity("Person"))
        plan.sort = [SortKey(path: ["age"], isAscending: false)]
        let all = names(try fixture.store.fetch(plan))
        #expect(all == ["n9", "n6", "n7", "n8", "n3", "n4", "n5", "n0", "n1", "n2"])
        for (offset, limit) in [(0, 3), (2, 4), (8, 5), (10, 2), (3, 0), (50, 0)] {
            plan.offset = offset
            plan.limit = limit
            let expected = Array(all.dropFirst(offset).prefix(limit == 0 ? .max : limit))
            #expect(names(try fixture.store.fetch(plan)) == expected)
            #expect(try fixture.store.count(plan) == expected.count)
        }
    }

    // F18, I6
    @Test func subentitiesAreFoundAsWhatTheyAre() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        for name in ["Animal", "Dog", "Puppy"] { try fixture.insert(name, ["name": .string(name)]) }
        #expect(try fixture.fetch("Animal").map(\.id.entity.name) == ["Animal", "Dog", "Puppy"])
        #expect(try fixture.fetch("Dog").map(\.id.entity.name) == ["Dog", "Puppy"])
        var plan = FetchPlan(entity: try fixture.entity("Dog"))
        plan.includesSubentities = false
        #expect(try fixture.store.fetch(plan).map(\.id.entity.name) == ["Dog"])
        plan.includesRows = false
        #expect(try fixture.store.fetch(plan).allSatisfy { $0.row == nil })
    }

    // I2, I4
    @Test func foundObjectsHavePermanentIDsOfThisStore() throws {
        let fixture = try people([("Ada", 1)])
        let id = try #require(try fixture.fetch("Person").first?.id)
        #expect(!id.isTemporaryID)
        #expect(id.uriRepresentation().absoluteString == "x-coredata://\(try #require(fixture.store.identifier))/Person/p\(id.key)")
        #expect(id.persistentStore === fixture.store)
    }

    // Q7
    @Test func objectsAreComparedByTheirIDs() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let ada = try fixture.insert("Person", ["name": .string("Ada")]), bo = try fixture.insert("Person", ["name": .string("Bo")])
        let dog = try fixture.insert("Dog", ["owner": one(ada)])
        let cat = try fixture.insert("Animal", ["owner": one(bo)]), stray = try fixture.insert("Animal", [:])
        #expect(try fixture.fetch("Animal", "owner == %@", [ada]).map(\.id) == [dog])
        #expect(try fixture.fetch("Animal", "owner != %@", [ada]).map(\.id) == [cat, stray])
        #expect(try fixture.fetch("Animal", "owner IN %@", [[ada, bo]]).map(\.id) == [dog, cat])
        #expect(try fixture.fetch("Animal", "SELF == %@", [cat]).map(\.id) == [cat])
        #expect(try fixture.fetch("Animal", "SELF IN %@", [[dog, stray]]).map(\.id) == [dog, stray])
        #expect(try fixture.fetch("Person", "%@ IN pets", [dog]).map(\.id) == [ada])
        #expect(try fixture.fetch("Person", "pets CONTAINS %@", [cat]).map(\.id) == [bo])
        #expect(try fixture.fetch("Animal", "owner.objectID == %@", [bo]).map(\.id) == [cat])
        let other = try StoreFixture(StoreModels.animals())
        let stranger = try other.insert("Person", [:])
        #expect(stranger.key == ada.key)
        #expect(try fixture.fetch("Animal", "owner == %@", [stranger]).isEmpty)
    }

    // Q15, Q17
    @Test(arguments: [
        ("pets[FIRST].name == 'x'", "by its place"), ("secret == 1", "\"secret\", which Person does not have"),
        ("pets.name == 'x'", "collection as a whole"), ("name.length == 1", "a value that is not an object"),
        ("FUNCTION(name, 'uppercaseString') == 'A'", "FUNCTION"), ("median(pets.born) > 1", "median"),
    ])
    func whatSQLCannotSayIsRefusedByName(format: String, part: String) throws {
        let fixture = try people([("Ada", 1)])
        let error = #expect(throws: NSError.self) { try fixture.fetch("Person", format) }
        #expect(error?.code == 134060)
        #expect(error?.localizedDescription.contains(part) == true, "\(error?.localizedDescription ?? "")")
    }

    // Q17
    @Test func blocksAndTransientsAreRefusedByName() throws {
        let fixture = try people([("Ada", 1)])
        var plan = FetchPlan(entity: try fixture.entity("Person"))
        plan.predicate = NSPredicate(block: { _, _ in true }).node
        #expect(throws: NSError.self) { try fixture.store.fetch(plan) }
        let things = try StoreFixture(StoreModels.everything())
        let error = #expect(throws: NSError.self) { try things.fetch("Thing", "hidden == 'x'") }
        #expect(error?.localizedDescription.contains("Thing.hidden, which is transient") == true)
    }

    @Test func listsOfThousandsAreOneParameter() throws {
        let fixture = try people((0..<3000).map { ("n\($0)", Int64($0)) })
        #expect(try fixture.fetch("Person", "age IN %@", [Array(1000..<9000)]).count == 2000)
        #expect(try fixture.fetch("Person", "name IN %@", [(0..<5000).map { "n\($0 * 2)" }]).count == 1500)
        #expect(try fixture.fetch("Person", "name IN[c] %@", [(0..<5000).map { "N\($0 * 2)" }]).count == 1500)
        #expect(try fixture.fetch("Person", "NOT age IN %@", [Array(10..<9000)]).count == 10)
    }

    @Test func aPrefixUsesTheIndex() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        for code in ["ab", "abc", "ac", "aé", "a\u{10FFFF}x", "b"] { try fixture.insert("City", ["code": .string(code)]) }
        #expect(try fixture.fetch("City", "code BEGINSWITH 'ab'").count == 2)
        #expect(try fixture.fetch("City", "code BEGINSWITH 'a'").count == 5)
        #expect(try fixture.fetch("City", "code BEGINSWITH %@", ["a\u{10FFFF}"]).count == 1)
        #expect(try fixture.fetch("City", "code BEGINSWITH ''").count == 6)
    }

    @Test func rowsComeInOneQueryATable() throws {
        let fixture = try people((0..<500).map { ("n\($0)", Int64($0)) })
        let ids = try fixture.fetch("Person").map(\.id), before = fixture.store.statements.current
        let entity = try fixture.entity("Person")
        let gone = NSManagedObjectID(entity: entity, key: 99_999, store: fixture.store.identity, isTemporary: false)
        let rows = try fixture.store.rows(for: ids + [gone])
        #expect(rows.count == 500 && rows[gone] == nil)
        #expect((fixture.store.statements.current - before).selects == 1)
    }

    // S3
    @Test func readersWorkBesideALongSave() async throws {
        let fixture = try people((0..<100).map { ("n\($0)", Int64($0)) })
        var changes = ChangeSet()
        for number in 0..<15_000 { try fixture.insert("Person", ["name": .string("new\(number)")], into: &changes) }
        let store = fixture.store, plan = FetchPlan(entity: try fixture.entity("Person")), saving = changes
        let counts = try await withThrowingTaskGroup(of: [Int].self) { group in
            group.addTask {
                _ = try store.save(saving)
                return []
            }
            for _ in 0..<3 {
                group.addTask { try (0..<60).map { _ in try store.count(plan) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // Every reader saw the state before or the state after, never a part.
        #expect(Set(counts).isSubset(of: [100, 15_100]))
        #expect(try store.count(plan) == 15_100)
    }
}
