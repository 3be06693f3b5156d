import Foundation
import OpenCoreData
import Testing

struct PredicateComparisonTests {
    // Q2
    @Test func theSixComparisonsOfNumbers() throws {
        let object = ["a": 5]
        #expect(try holds("a == 5", object) && !holds("a == 4", object))
        #expect(try holds("a != 4", object) && !holds("a != 5", object))
        #expect(try holds("a < 6", object) && !holds("a < 5", object))
        #expect(try holds("a <= 5", object) && !holds("a <= 4", object))
        #expect(try holds("a > 4", object) && !holds("a > 5", object))
        #expect(try holds("a >= 5", object) && !holds("a >= 6", object))
    }

    // Q2
    @Test func betweenIncludesItsBounds() throws {
        for (value, inside) in [(0, false), (1, true), (3, true), (5, true), (6, false)] {
            #expect(try holds("a BETWEEN {1, 5}", ["a": value]) == inside)
            #expect(try holds("a BETWEEN %@", ["a": value], [1, 5]) == inside)
            #expect(try holds("a BETWEEN {low, high}", ["a": value, "low": 1, "high": 5]) == inside)
        }
        #expect(try holds("a BETWEEN {'b', 'd'}", ["a": "c"]))
        let day = Date(timeIntervalSinceReferenceDate: 100)
        #expect(try holds("a BETWEEN %@", ["a": day], [day - 1, day + 1]))
    }

    // Q2
    @Test func inLooksThroughArraysSetsAndStrings() throws {
        #expect(try holds("a IN {1, 2}", ["a": 2]) && !holds("a IN {1, 2}", ["a": 3]))
        #expect(try holds("a IN %@", ["a": "x"], ["x", "y"]) && !holds("a IN %@", ["a": "z"], Set(["x", "y"])))
        #expect(try holds("a IN %@", ["a": "x"], NSSet(array: ["x"])))
        #expect(try holds("a IN 'xyz'", ["a": "yz"]) && !holds("a IN 'xyz'", ["a": "xz"]))
        #expect(try holds("a IN[cd] {'É'}", ["a": "e"]))
        #expect(try holds("1 IN list", ["list": [1, 2]]) && !holds("3 IN list", ["list": [1, 2]]))
        #expect(try !holds("a IN {}", ["a": 1]))
    }

    // Q2
    @Test func inOverManyElementsFollowsTheSameRules() throws {
        let numbers = Array(0..<1_000)
        #expect(try holds("a IN %@", ["a": 999], numbers) && !holds("a IN %@", ["a": 1_000], numbers))
        #expect(try holds("a IN %@", ["a": 7.0], numbers) && !holds("a IN %@", ["a": 7.5], numbers))
        #expect(try holds("a IN %@", ["a": true], numbers))
        let words = numbers.map { "w\($0)" } + ["\u{E9}"]
        #expect(try holds("a IN %@", ["a": "w999"], words) && !holds("a IN %@", ["a": "w1000"], words))
        #expect(try holds("a IN %@", ["a": "\u{E9}"], words))
        #expect(try !holds("a IN %@", ["a": "e\u{301}"], words), "equal to Swift, different in bytes")
        let ids = numbers.map { UUID(uuid: (UInt8($0 & 255), UInt8($0 >> 8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
        #expect(try holds("a IN %@", ["a": ids[500]], ids) && !holds("a IN %@", ["a": UUID()], ids))
        #expect(try holds("a IN %@", [String: Any](), [nil] + numbers))
    }

    // Q2
    @Test func containsLooksThroughCollections() throws {
        #expect(try holds("list CONTAINS 2", ["list": [1, 2]]) && !holds("list CONTAINS 3", ["list": [1, 2]]))
        #expect(try holds("list CONTAINS[c] 'A'", ["list": ["a"]]) && !holds("list CONTAINS 'A'", ["list": ["a"]]))
        #expect(try holds("pets.name CONTAINS 'Rex'", ["pets": [["name": "Rex"], ["name": "Tom"]]]))
    }

    // Q8
    @Test func nilEqualsNilAndNothingElse() throws {
        for object in [[:], ["a": NSNull()], ["a": Int?.none as Any]] as [[String: Any]] {
            #expect(try holds("a == nil", object) && !holds("a != nil", object))
            #expect(try !holds("a == 5", object) && holds("a != 5", object))
            #expect(try !holds("5 == a", object) && holds("5 != a", object))
            #expect(try holds("a == b", object) && !holds("a != b", object))
        }
        #expect(try !holds("a == nil", ["a": 1]) && holds("a != nil", ["a": 1]))
        #expect(try !holds("a == nil", ["a": 0]) && !holds("a == nil", ["a": ""]) && !holds("a == 0", [:] as [String: Any]))
    }

    // Q13
    @Test(arguments: [
        "a < 5", "a <= 5", "a > 5", "a >= 5", "5 < a", "5 >= a", "a <= nil", "a >= nil", "a < b", "a BETWEEN {1, 5}", "1 BETWEEN {a, 5}",
        "1 BETWEEN {0, a}", "1 BETWEEN a", "a IN {1, 2}", "1 IN a", "a IN 'abc'", "a CONTAINS 'x'", "a CONTAINS nil", "'x' CONTAINS a",
        "a BEGINSWITH 'x'", "a BEGINSWITH ''", "a ENDSWITH 'x'", "a LIKE '*'", "a MATCHES '.*'", "'x' LIKE a", "a LIKE[cd] a", "a < 'x'",
        "ANY a.b == 1", "ANY a.b == nil", "ANY a == nil",
    ])
    func aComparisonWithNilIsFalseAndItsOppositeTrue(format: String) throws {
        #expect(try !holds(format, [String: Any]()))
        #expect(try holds("NOT (\(format))", [String: Any]()))
    }

    // Q13
    @Test func nilIsInACollectionThatHoldsNil() throws {
        #expect(try holds("a IN {nil, 1}", [String: Any]()))
        #expect(try holds("a IN %@", [String: Any](), [NSNull(), 1] as [Any]))
        #expect(try !holds("a IN {nil, 1}", ["a": 2]))
        #expect(try holds("list CONTAINS nil", ["list": [1, NSNull()] as [Any]]))
    }

    // Q13
    @Test func numbersCompareByValueWhateverTheirTypes() throws {
        #expect(try holds("a == 1", ["a": true]) && holds("a == YES", ["a": 1]) && holds("a == 0", ["a": false]))
        #expect(try holds("a == 1.0", ["a": 1]) && holds("a < 1.5", ["a": 1]) && holds("a > 0.5", ["a": Float(1)]))
        #expect(try holds("a == %@", ["a": 2], Decimal(2)) && holds("a > %@", ["a": Decimal(string: "2.5")!], 2))
        #expect(try holds("a == 0.1", ["a": Decimal(string: "0.1")!]))
        #expect(try holds("a == 5", ["a": UInt8(5)]) && holds("a == 5", ["a": NSNumber(value: 5)]))
    }

    // Q13
    @Test func integersAndRealsCompareExactlyBeyondTheRealsPrecision() throws {
        let big = Int64(1) << 53 + 1
        #expect(try !holds("a == %@", ["a": big], Double(1 << 53)) && holds("a > %@", ["a": big], Double(1 << 53)))
        #expect(try holds("a < %@", ["a": Int64.max], 0x1p63) && !holds("a == %@", ["a": Int64.max], 0x1p63))
        #expect(try holds("a == %@", ["a": Int64.min], -0x1p63) && holds("a > %@", ["a": Int64.min], -Double.infinity))
        #expect(try holds("a < %@", ["a": -1], -0.5) && holds("a > %@", ["a": -1], -1.5))
    }

    // Q13
    @Test func nothingButNumbersIsConverted() throws {
        for (value, constant) in [(5, "'5'"), ("5", "5"), ("", "nil"), (Date(timeIntervalSinceReferenceDate: 5), "5"), ("YES", "YES")]
            as [(Any, String)]
        {
            let object = ["a": value]
            #expect(try !holds("a == \(constant)", object) && holds("a != \(constant)", object))
            #expect(try !holds("a < \(constant)", object) && !holds("a >= \(constant)", object))
            #expect(try !holds("a IN {\(constant), \(constant)}", object))
        }
        let uuid = UUID()
        #expect(try !holds("a == %@", ["a": uuid], uuid.uuidString))
        #expect(try !holds("a CONTAINS '5'", ["a": 55]) && !holds("a LIKE '*'", ["a": 5]))
    }

    // Q2
    @Test func valuesOfEveryTypeAreEqualAndOrdered() throws {
        let pairs: [(Any, Any)] = [
            (1, 2), (1.5, 2.5), (false, true), ("a", "b"), (Decimal(1), Decimal(2)), (Data([1]), Data([1, 0])), (Data([1, 9]), Data([2])),
            (Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 2)),
            (UUID(uuidString: "00000000-0000-0000-0000-000000000001")!, UUID(uuidString: "F0000000-0000-0000-0000-000000000000")!),
            (URL(string: "http://a")!, URL(string: "http://b")!),
        ]
        for (small, large) in pairs {
            #expect(try holds("a == %@", ["a": small], small) && !holds("a == %@", ["a": small], large))
            #expect(try holds("a < %@", ["a": small], large) && !holds("a < %@", ["a": large], small))
            #expect(try holds("a >= %@", ["a": large], small) && holds("a <= %@", ["a": small], small))
            #expect(try holds("a IN %@", ["a": small], [large, small]))
            #expect(try holds("a BETWEEN %@", ["a": small], [small, large]))
        }
    }

    // Q13
    @Test func notANumberIsNil() throws {
        #expect(try holds("a == nil", ["a": Double.nan]) && !holds("a < 1", ["a": Double.nan]) && holds("a != 1", ["a": Double.nan]))
    }

    // Q7
    @Test func keyPathsCrossDictionariesAndObjects() throws {
        let author = KeyedPerson(1, ["name": "Ann", "home": ["city": "Bern"] as [String: Any]])
        #expect(try holds("author.name == 'Ann'", ["author": author]))
        #expect(try holds("author.home.city == 'Bern'", ["author": author]))
        #expect(try holds("author.name == nil", [String: Any]()))
        #expect(try holds("author.home.street == nil", ["author": author]))
        #expect(try holds("a.b == 1", NSDictionary(dictionary: ["a": NSDictionary(dictionary: ["b": 1])])))
    }

    // Q7
    @Test func anObjectEqualsItselfAndItsID() throws {
        let ann = KeyedPerson(1)
        let ben = KeyedPerson(2)
        let dog = KeyedPerson(3, ["owner": ann])

        #expect(try holds("owner == %@", dog, ann) && holds("owner == %@", dog, ann.id) && holds("owner == %@", dog, KeyedPerson(1)))
        #expect(try !holds("owner == %@", dog, ben) && holds("owner != %@", dog, ben.id))
        #expect(try holds("SELF == %@", dog, dog) && holds("SELF == %@", dog, dog.id) && !holds("SELF == %@", dog, ann))
        #expect(try holds("SELF IN %@", dog, [ann, dog]) && holds("SELF IN %@", dog, Set([dog.id])) && !holds("SELF IN %@", dog, [ann]))
        #expect(try holds("owner != nil", dog) && holds("owner == nil", ann))
        #expect(try holds("%@ == owner", dog, ann.id))
        let many = (0..<100).map { KeyedPerson.ID(number: $0) }
        #expect(try holds("owner IN %@", dog, many) && !holds("owner IN %@", KeyedPerson(5, ["owner": KeyedPerson(500)]), many))
        #expect(try holds("ANY pets == %@", KeyedPerson(9, ["pets": [dog]]), dog.id))
        #expect(try holds("pets CONTAINS %@", KeyedPerson(9, ["pets": [dog]]), dog))
    }

    // Q7
    @Test func aFrozenPredicateHoldsIdentitiesInPlaceOfObjects() throws {
        let ann = KeyedPerson(1)
        let frozen = try node("owner == %@ AND SELF IN %@", ann, [ann]).frozen()

        guard case .and(let children) = frozen, case .comparison(let first) = children[0], case .comparison(let second) = children[1],
            case .constant(.object(let object)) = first.right, case .constant(.collection(let collection)) = second.right,
            case .object(let element)? = collection.elements.first
        else {
            Issue.record("not the expected tree")
            return
        }
        #expect(object.isFrozen && object.object is KeyedPerson.ID)
        #expect(element.isFrozen && element.object is KeyedPerson.ID)
        #expect(try frozen.evaluate(KeyedPerson(1, ["owner": ann])))
    }

    // Q2
    @Test func selfMayBeAValue() throws {
        #expect(
            try holds("SELF > 3", 5) && holds("SELF BEGINSWITH 'a'", "abc") && holds("SELF == nil", nil) && holds("self CONTAINS 1", [1]))
        #expect(NSArray(array: ["apple", "pear"]).filtered(using: NSPredicate(format: "SELF LIKE 'a*'")) as? [String] == ["apple"])
    }

    // Q2
    @Test func theOptionOfTheLanguageOrdersWordsAsItDoes() throws {
        #expect(try holds("a <[l] 'B'", ["a": "a"]) && !holds("a < 'B'", ["a": "a"]))
        #expect(try holds("a <[l] 'z'", ["a": "Ä"]) && !holds("a < 'z'", ["a": "Ä"]))
        #expect(try holds("a ==[l] 'e\u{301}'", ["a": "é"]) && !holds("a ==[l] 'e'", ["a": "é"]) && holds("a ==[dl] 'e'", ["a": "é"]))
        #expect(try holds("a ==[cl] 'A'", ["a": "a"]) && !holds("a ==[l] 'A'", ["a": "a"]))
        #expect(try holds("a BETWEEN[l] {'a', 'c'}", ["a": "B"]) && holds("a IN[l] {'e\u{301}'}", ["a": "é"]))
        // A part of a string has no place in the order.
        #expect(try holds("a BEGINSWITH[l] 'A'", ["a": "Ab"]) && !holds("a BEGINSWITH[l] 'a'", ["a": "Ab"]))
        #expect(try holds("a CONTAINS[cl] 'a'", ["a": "bA"]))
    }
}
