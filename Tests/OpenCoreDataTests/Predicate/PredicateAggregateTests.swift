import Foundation
import OpenCoreData
import Testing

struct PredicateAggregateTests {
    private let owner: [String: Any] = [
        "pets": [
            ["name": "Rex", "age": 3, "toys": [["name": "ball"], ["name": "bone"]]], ["name": "Tom", "age": 5, "toys": [] as [Any]],
            ["age": 5, "toys": [["name": "ball"]]],
        ] as [[String: Any]],
        "empty": [] as [Any],
        "list": [10, 20, 30],
    ]

    // Q5
    @Test func anySomeAllAndNoneOverAToMany() throws {
        #expect(try holds("ANY pets.age == 5", owner) && !holds("ANY pets.age == 9", owner) && holds("SOME pets.age > 4", owner))
        #expect(try holds("ALL pets.age >= 3", owner) && !holds("ALL pets.age > 3", owner))
        #expect(try holds("NONE pets.age > 5", owner) && !holds("NONE pets.age == 3", owner))
        #expect(try holds("ANY pets.name BEGINSWITH[c] 'r'", owner) && holds("ANY pets.age IN {5, 6}", owner))
        #expect(try holds("ANY pets.age BETWEEN {4, 6}", owner) && !holds("NOT ANY pets.age == 5", owner))
        #expect(try holds("ANY list == 20", owner) && holds("ALL list > 5", owner))
    }

    // Q6
    @Test func overNothingAllHoldsAnyDoesNotAndNoneHolds() throws {
        for path in ["empty", "empty.age", "missing", "missing.pets.age"] {
            #expect(try holds("ALL \(path) == 1", owner) && !holds("ANY \(path) == 1", owner) && holds("NONE \(path) == 1", owner))
            #expect(try !holds("ANY \(path) != 1", owner) && !holds("ANY \(path) == nil", owner))
        }
    }

    // Q13
    @Test func nilElementsArePartOfAToMany() throws {
        #expect(try holds("ANY pets.name == nil", owner) && !holds("ALL pets.name != nil", owner) && holds("ANY pets.name != 'Rex'", owner))
        #expect(try !holds("ALL pets.name < 'Z'", owner))
    }

    // Q5
    @Test func toManyOfToManyIsFlat() throws {
        #expect(try holds("ANY pets.toys.name == 'bone'", owner) && !holds("ANY pets.toys.name == 'rope'", owner))
        #expect(try holds("pets.toys.@count == 3", owner) && holds("pets.toys.name CONTAINS 'ball'", owner))
    }

    // Q5
    @Test func collectionOperators() throws {
        #expect(try holds("pets.@count == 3", owner) && holds("pets.@sum.age == 13", owner) && holds("pets.@min.age == 3", owner))
        #expect(try holds("pets.@max.age == 5", owner) && holds("pets.@avg.age > 4.3 AND pets.@avg.age < 4.4", owner))
        #expect(try holds("pets.@max.name == 'Tom'", owner) && holds("list.@sum == 60", owner) && holds("list.@max > 29", owner))
        #expect(try holds("pets.@unionOfObjects.age == {3, 5, 5}", owner) && holds("pets.@distinctUnionOfObjects.age == {3, 5}", owner))
        #expect(try holds("pets.@distinctUnionOfObjects.age.@count == 2", owner) && holds("pets.age.@count == 3", owner))
        #expect(try holds("SELF.@count == 2", [1, 2]) && holds("@sum == 3", [1, 2]))
    }

    // Q5, Q13
    @Test func collectionOperatorsOverNothing() throws {
        for path in ["empty", "missing"] {
            #expect(try holds("\(path).@count == 0", owner) && holds("\(path).@sum.age == 0", owner))
            for name in ["min", "max", "avg"] { #expect(try holds("\(path).@\(name).age == nil", owner)) }
        }
        #expect(
            try holds("list.@avg == 15", ["list": [10, NSNull(), 20] as [Any]])
                && holds("list.@min == 10", ["list": [NSNull(), 10] as [Any]]))
    }

    // Q5
    @Test func subqueriesKeepWhatTheirPredicateHoldsFor() throws {
        #expect(try holds("SUBQUERY(pets, $x, $x.age == 5).@count == 2", owner))
        #expect(try holds("SUBQUERY(pets, $x, $x.age == 5 AND $x.name == 'Tom').@count > 0", owner))
        #expect(try holds("SUBQUERY(pets, $p, ANY $p.toys.name == 'ball').@count == 2", owner))
        #expect(try holds("SUBQUERY(pets, $p, SUBQUERY($p.toys, $t, $t.name == 'bone').@count == 1).@count == 1", owner))
        #expect(try holds("SUBQUERY(pets, $x, $x.age > $LIMIT).@count == 2".replacing("$LIMIT", with: "4"), owner))
        #expect(try holds("SUBQUERY(list, $n, $n > 15)[0] == 20 AND SUBQUERY(missing, $n, $n > 15).@count == 0", owner))
        #expect(try holds("ANY SUBQUERY(pets, $x, $x.age == 5).name == 'Tom'", owner))
        #expect(
            try holds("SUBQUERY(pets, $x, $x.age < limit).@count == 1", owner.merging(["limit": 4]) { $1 }),
            "plain keys are the outer object's")
    }

    // Q9
    @Test func collectionsAreIndexed() throws {
        #expect(try holds("list[0] == 10 AND list[FIRST] == 10 AND list[last] == 30 AND list[SIZE] == 3", owner))
        #expect(try holds("pets[1].name == 'Tom' AND list[1 + 1] == 30 AND list[index] == 20", owner.merging(["index": 1]) { $1 }))
        #expect(try holds("list[3] == nil AND list[-1] == nil AND empty[FIRST] == nil AND empty[SIZE] == 0 AND missing[0] == nil", owner))
        #expect(try holds("SELF['list'][0] == 10", owner))
    }

    // Q11
    @Test func setExpressions() throws {
        #expect(
            try holds("{1, 2} UNION {2, 3} == {3, 2, 1}", nil) && holds("{1, 2} INTERSECT {2, 3} == {2}", nil)
                && holds("{1, 2} MINUS {2, 3} == {1}", nil))
        #expect(try holds("list UNION {40} == {10, 20, 30, 40} AND 10 IN list INTERSECT {10}", owner))
        #expect(try holds("count(list MINUS {10}) == 2 AND count(missing UNION {1}) == 1", owner))
    }

    // Q2
    @Test func collectionsEqualByTheirElements() throws {
        #expect(try holds("list == {10, 20, 30}", owner) && !holds("list == {30, 20, 10}", owner) && holds("list != {10}", owner))
        #expect(try holds("list == %@", owner, Set([30, 20, 10])), "a set has no order")
        #expect(try !holds("list == 10", owner) && !holds("list < 100", owner), "a collection is not its elements")
    }
}
