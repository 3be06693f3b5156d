import Foundation
import OpenCoreData
import Testing

struct PredicateFormatErrorTests {
    /// A text that is no predicate, where that shows, and what is said.
    struct Malformed: CustomTestStringConvertible {
        let format: String
        let position: Int
        let expected: String
        var arguments: [Any?] { [] }
        var testDescription: String { format }
    }

    // Q1
    @Test(arguments: [
        Malformed(format: "", position: 0, expected: "a value or a key path"),
        Malformed(format: "age", position: 3, expected: "a comparison operator"),
        Malformed(format: "age >", position: 5, expected: "a value or a key path"),
        Malformed(format: "age > 3 AND", position: 11, expected: "a value or a key path"),
        Malformed(format: "age > 3 name", position: 8, expected: "AND, OR or the end"),
        Malformed(format: "(age > 3", position: 8, expected: "\")\""),
        Malformed(format: "(age > 3))", position: 9, expected: "AND, OR or the end"),
        Malformed(format: "(age > 3) + 2 == 5", position: 10, expected: "AND, OR or the end"),
        Malformed(format: "name == 'x", position: 10, expected: "the closing '"),
        Malformed(format: "name ==[x] 'x'", position: 8, expected: "one or more of the letters c, d, n and l"),
        Malformed(format: "name MATCHES '(['", position: 13, expected: "a regular expression after MATCHES"),
        Malformed(format: "age BETWEEN {1}", position: 12, expected: "two bounds after BETWEEN"),
        Malformed(format: "age IN 3", position: 7, expected: "a collection or a string after IN"),
        Malformed(format: "age > %@", position: 6, expected: "an argument for %@"),
        Malformed(format: "%K > 1", position: 0, expected: "an argument for %K: the text of a key path"),
        Malformed(format: "age > %q", position: 6, expected: "one of %@ %K %d %i %u %ld %lld %f %s"),
        Malformed(format: "frobnicate(a) > 1", position: 0, expected: "a function of 1 argument"),
        Malformed(format: "a.@total > 1", position: 2, expected: "one of @count @sum @min @max @avg"),
        Malformed(format: "a. > 1", position: 3, expected: "a key"),
        Malformed(format: "SUBQUERY(a, x, x == 1).@count > 0", position: 12, expected: "the variable of the SUBQUERY, such as $x"),
        Malformed(format: "CAST(a, 'Widget') == 1", position: 8, expected: "one of the types"),
        Malformed(format: "CAST('x', 'NSUUID') == 1", position: 10, expected: "a type that \"x\" can be converted to"),
        Malformed(format: "FUNCTION(a, 'frobnicate') == 1", position: 12, expected: "one of the selectors"),
        Malformed(format: "ANY == 1", position: 4, expected: "a value or a key path"),
        Malformed(format: "in == 1", position: 0, expected: "a value or a key path (a key of this name is written #in)"),
        Malformed(format: "a == 12x", position: 7, expected: "the end of the number"),
        Malformed(format: "a == ~1", position: 5, expected: "a predicate"),
        Malformed(format: "a == 1;", position: 6, expected: "a predicate"),
        Malformed(format: "é == 1 AND ü", position: 12, expected: "a comparison operator"),
    ])
    func theErrorNamesThePlaceAndWhatWasExpected(malformed: Malformed) throws {
        let error = try #require(throws: PredicateFormatError.self) { try NSPredicate.parse(malformed.format) }

        #expect(error.position == malformed.position)
        #expect(error.expected.hasPrefix(malformed.expected))
        #expect(error.format == malformed.format)
        #expect(error.description.contains("character \(malformed.position + 1)"))
    }

    // Q1
    @Test func anArgumentOfTheWrongKindIsAnError() {
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == %d", arguments: ["five"]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == %d", arguments: [1.5]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == %f", arguments: ["x"]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("%K == 1", arguments: [5]) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("%K == 1", arguments: ["a..b"]) }
    }

    // Q1
    @Test func hostileTextsAreRefusedRatherThanOverflowTheStack() {
        for hostile in [
            String(repeating: "(", count: 20_000), String(repeating: "NOT ", count: 20_000) + "a == 1",
            "a == " + String(repeating: "-", count: 20_000) + "a", "a == " + String(repeating: "{", count: 20_000),
            "a == 1" + String(repeating: " + 1", count: 20_000), "a" + String(repeating: "[0]", count: 20_000) + " == 1",
            "a == 2" + String(repeating: " ** a", count: 20_000),
        ] {
            #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(hostile) }
        }
    }

    // Q1
    @Test func longListsAndConjunctionsAreNotNesting() throws {
        let list = "a IN {" + (0..<20_000).map(String.init).joined(separator: ",") + "}"
        let conjunction = Array(repeating: "a != -1", count: 5_000).joined(separator: " AND ")

        #expect(try holds(list, ["a": 19_999]))
        #expect(try holds(conjunction, ["a": 1]))
    }

    // Q1
    @Test func noTextCrashesTheParser() {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "a", "b.c", "==", "<", "AND", "OR", "NOT", "(", ")", "{", "}", "[", "]", ",", ".", "'x'", "\"", "1", ".5", "%@", "%K", "$v",
            "#",
            "@count", "ANY", "ALL", "SUBQUERY(", "IN", "BETWEEN", "LIKE", "[cd]", "nil", "SELF", "-", "+", "**", "CAST(", "TERNARY(",
            "sum(",
            "FUNCTION(", "UNION", "é", "\\", "%", "\u{0}", ":", "!", "FIRST",
        ]
        var parsed = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            if (try? NSPredicate.parse(text, arguments: ["k", 2])) != nil { parsed += 1 }
        }
        #expect(parsed > 0)
    }
}
