import Foundation
import OpenCoreData
import TestTraits
import Testing

/// The same predicate gives the same objects in SQLite and in memory.
struct StorePredicateTests {
    static func uuid(_ number: Int) -> UUID {
        UUID(uuid: (UInt8(number * 50), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(number)))
    }

    static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let owner = StoreModels.entity(
            "Owner",
            [
                attribute("name", .string), attribute("age", .integer32), attribute("score", .double), attribute("flag", .boolean),
                attribute("money", .decimal), attribute("born", .date), attribute("token", .uuid), attribute("blob", .binaryData),
            ])
        let pet = StoreModels.entity(
            "Pet", [attribute("name", .string), attribute("weight", .double), attribute("price", .decimal), attribute("born", .date)])
        let tag = StoreModels.entity("Tag", [attribute("word", .string)])
        StoreModels.relate(owner, "boss", toMany: false, owner, "reports", inverseToMany: true)
        StoreModels.relate(owner, "pets", toMany: true, pet, "owner", inverseToMany: false)
        StoreModels.relate(pet, "tags", toMany: true, tag, "pets", inverseToMany: true)
        owner.properties += [NSRelationshipDescription(name: "seen", destination: pet, toMany: true)]
        return NSManagedObjectModel(entities: [owner, pet, tag])
    }

    /// A filled store, and the same objects in memory.
    private struct World {
        let fixture: StoreFixture
        var rows: [NSManagedObjectID: RowSnapshot] = [:]
        var members: [RelationshipKey: [NSManagedObjectID]] = [:]
        var owners: [NSManagedObjectID] = []
        var pets: [NSManagedObjectID] = []
        var tags: [NSManagedObjectID] = []
        private var changes = ChangeSet()
        private var numbers: SeededNumbers

        init(seed: UInt64) throws {
            fixture = try StoreFixture(StorePredicateTests.model())
            numbers = SeededNumbers(seed: seed)
            for _ in 0..<12 { tags.append(try add("Tag", ["word": string()])) }
            for _ in 0..<30 {
                var values: [String: AttributeValue] = [
                    "name": string(), "age": number { .int64(Int64.random(in: -3...5, using: &$0)) },
                    "score": number { .double(Double(Int.random(in: -8...12, using: &$0)) / 4) }, "flag": number { .bool($0.chance(50)) },
                    "money": decimal(), "born": date(), "token": number { .uuid(StorePredicateTests.uuid(Int.random(in: 0..<6, using: &$0))) },
                    "blob": number { .data(Data($0.pick([[], [0], [0, 1], [255]]))) },
                ]
                if !owners.isEmpty && numbers.chance(75) { values["boss"] = one(numbers.pick(owners)) }
                owners.append(try add("Owner", values))
            }
            for _ in 0..<45 {
                var values: [String: AttributeValue] = [
                    "name": string(), "weight": number { .double(Double(Int.random(in: 0...12, using: &$0)) / 4) }, "price": decimal(),
                    "born": date(),
                ]
                if numbers.chance(85) { values["owner"] = one(numbers.pick(Array(owners.prefix(20)))) }
                pets.append(try add("Pet", values))
            }
            try relate()
            try fixture.save(changes)
        }

        private mutating func add(_ name: String, _ values: [String: AttributeValue]) throws -> NSManagedObjectID {
            let id = try fixture.insert(name, values, into: &changes)
            rows[id] = changes[id]?.row
            return id
        }

        private func key(_ owner: NSManagedObjectID, _ name: String) throws -> RelationshipKey {
            guard case .toMany(let number)? = owner.entity.layout.place(of: name) else { throw SQLiteShell.Failure(description: name) }
            return RelationshipKey(owner: owner, toMany: number)
        }

        private mutating func relate() throws {
            for id in owners {
                if let boss = rows[id]?["boss"].objectID { members[try key(boss, "reports"), default: []].append(id) }
                for pet in pets where numbers.chance(4) {
                    let seen = try key(id, "seen")
                    members[seen, default: []].append(pet)
                    changes.pairs.change(seen) { $0.add(pet) }
                }
            }
            for id in pets {
                if let owner = rows[id]?["owner"].objectID { members[try key(owner, "pets"), default: []].append(id) }
                for tag in tags where numbers.chance(15) {
                    let forth = try key(id, "tags"), back = try key(tag, "pets")
                    members[forth, default: []].append(tag)
                    members[back, default: []].append(id)
                    changes.pairs.change(forth) { $0.add(tag) }
                    changes.pairs.change(back) { $0.add(id) }
                }
            }
        }

        private mutating func number(_ make: (inout SeededNumbers) -> AttributeValue) -> AttributeValue {
            numbers.chance(15) ? .null : make(&numbers)
        }
        private mutating func string() -> AttributeValue { number { .string($0.pick(RandomStorePredicates.strings)) } }
        private mutating func decimal() -> AttributeValue { number { .decimal(Decimal(string: $0.pick(RandomStorePredicates.decimals)) ?? 0) } }
        private mutating func date() -> AttributeValue { number { .date($0.pick(RandomStorePredicates.dates)) } }
    }

    /// An object of the world as predicates see it in memory.
    private struct Object: PredicateValueProviding, PredicateIdentity {
        let id: NSManagedObjectID
        let world: Shared

        final class Shared: Sendable {
            let rows: [NSManagedObjectID: RowSnapshot]
            let members: [RelationshipKey: [NSManagedObjectID]]

            init(_ world: World) {
                rows = world.rows
                members = world.members
            }
        }

        var predicateIdentity: any Hashable & Sendable { id }

        func predicateValue(forKey key: String) -> PredicateValue {
            switch id.entity.layout.place(of: key) {
            case .slot(let slot)?:
                guard let value = world.rows[id]?[slot] else { return .null }
                if case .objectID(let target) = value { return .object(PredicateObject(Object(id: target, world: world))) }
                return PredicateValue(value.plain)
            case .toMany(let number)?:
                let ids = world.members[RelationshipKey(owner: id, toMany: number)] ?? []
                return .collection(PredicateCollection(ids.map { .object(PredicateObject(Object(id: $0, world: world))) }, kind: .set))
            case .composite?, nil: return .object(PredicateObject(self))
            }
        }
    }

    // Q13, Q12, Q6, Q8, Q11
    @Test(.longComputation, arguments: 1...12 as ClosedRange<UInt64>)
    func sqliteFindsWhatMemoryFinds(seed: UInt64) throws { try Self.check(seed, predicates: 700) }

    fileprivate static func check(_ seed: UInt64, predicates count: Int) throws {
        let world = try World(seed: seed), shared = Object.Shared(world)
        var random = RandomStorePredicates(numbers: SeededNumbers(seed: seed &* 7919), owners: world.owners, pets: world.pets)
        var plan = FetchPlan(entity: try world.fixture.entity("Owner"))
        plan.includesRows = false
        var refused: [String: Int] = [:], refusals = 0, matches = 0
        for _ in 0..<count {
            let predicate = random.predicate()
            let expected = try world.owners.filter { try predicate.evaluate(Object(id: $0, world: shared)) }
            plan.predicate = predicate
            do {
                let found = try world.fixture.store.fetch(plan).map(\.id)
                #expect(found.map(\.key) == expected.map(\.key), "\(predicate.canonicalFormat)")
                matches += found.isEmpty || found.count == world.owners.count ? 0 : 1
                #expect(try world.fixture.store.count(plan) == expected.count)
            } catch let error as NSError where error.localizedDescription.contains("can't translate") {
                refusals += 1
                refused[error.localizedDescription, default: 0] += 1
            }
        }
        // A test of refusals, or of predicates that hold for all or for none, would be no test.
        #expect(refusals < count / 20, "\(refused)")
        #expect(matches > count / 5)
    }

    // F7, Q13
    @Test func sqliteSortsAsMemoryDoes() throws {
        let world = try World(seed: 99)
        for name in ["name", "age", "score", "flag", "money", "born", "token", "blob", "boss"] {
            for isAscending in [true, false] {
                let found = try world.fixture.fetch("Owner", sort: [SortKey(path: [name], isAscending: isAscending)])
                let values = found.map { PredicateValue($0.row?[name].plain) }
                for (earlier, later) in zip(values, values.dropFirst()) {
                    let (low, high) = isAscending ? (earlier, later) : (later, earlier)
                    if low.isNull { continue }
                    if name == "boss" { continue }
                    #expect((Comparison.order(low, high) ?? 1) <= 0, "\(name): \(low) before \(high)")
                }
                let nulls = values.filter(\.isNull).count
                let atTheirEnd = (isAscending ? values.prefix(nulls) : values.suffix(nulls)).filter(\.isNull).count
                #expect(atTheirEnd == nulls)
            }
        }
    }
}

/// The same, with many more predicates: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct StorePredicateStress {
    @Test(arguments: 101...112 as ClosedRange<UInt64>)
    func sqliteFindsWhatMemoryFindsOfFiftyThousandPredicates(seed: UInt64) throws { try StorePredicateTests.check(seed, predicates: 4_200) }
}
