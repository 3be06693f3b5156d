import OpenCoreData
import Testing

struct PredicateStringTests {
    // Q14
    @Test func withoutOptionsStringsCompareByBytes() throws {
        #expect(try !holds("a == 'X'", ["a": "x"]) && !holds("a == 'e'", ["a": "é"]))
        #expect(try !holds("a == 'e\u{301}'", ["a": "\u{E9}"]), "one letter in two spellings")
        #expect(try holds("a < 'a'", ["a": "Z"]) && holds("a > 'z'", ["a": "é"]) && holds("a < '\u{1F600}'", ["a": "\u{FFFD}"]))
        #expect(try holds("a < 'ab'", ["a": "a"]) && holds("a <= ''", ["a": ""]) && holds("a > ''", ["a": "\u{0}"]))
    }

    // Q14
    @Test func caseAndDiacriticsAreFoldedByUnicode() throws {
        #expect(try holds("a ==[c] 'ÉCOLE'", ["a": "école"]) && !holds("a ==[c] 'ecole'", ["a": "école"]))
        #expect(try holds("a ==[d] 'Ecole'", ["a": "École"]) && !holds("a ==[d] 'ecole'", ["a": "École"]))
        #expect(try holds("a ==[cd] 'ECOLE'", ["a": "école"]) && holds("a ==[dc] 'é'", ["a": "E"]))
        #expect(try holds("a ==[c] 'STRASSE'", ["a": "straße"]) && holds("a ==[c] 'ΣΑΣ'", ["a": "σας"]))
        #expect(try holds("a ==[c] '\u{E9}'", ["a": "E\u{301}"]), "one letter in two spellings")
        #expect(try holds("a ==[cd] 'PRILIS ZLUTOUCKY'", ["a": "příliš žluťoučký"]))
        #expect(try !holds("a !=[cd] 'ECOLE'", ["a": "école"]) && holds("a <[c] 'B'", ["a": "a"]) && holds("a >=[cd] 'É'", ["a": "e"]))
        #expect(try holds("a ==[n] 'x'", ["a": "x"]) && !holds("a ==[n] 'X'", ["a": "x"]))
    }

    // Q14
    @Test func foldingIsTheSameHoweverOftenItIsDone() {
        let options: [NSComparisonPredicate.Options] = [
            [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ]
        for text in ["", "abc", "ÀÉÎ", "İıßﬁ", "E\u{301}\u{323}", "日本が", "ΑΣ ς", "👩‍👩‍👧", "\u{0}A", "ộĲǅ", "한글", "Ａ"] {
            for option in options {
                let folded = StringFolding.fold(text, option)
                #expect(StringFolding.fold(folded, option) == folded)
                if option.isEmpty { #expect(Array(folded.utf8) == Array(text.utf8)) }
            }
        }
    }

    // Q13, Q14
    @Test func theTablesOfFoldingSayWhatFoundationSays() {
        var random = SeededGenerator(seed: 5)
        let combinations: [NSComparisonPredicate.Options] = [
            .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ]
        let tables: [ClosedRange<UInt32>] = [0x20...0x7E, 0x80...0x52F, 0x1E00...0x1FFF]
        let beyond: [ClosedRange<UInt32>] = [0x300...0x330, 0x2100...0x2200, 0x3040...0x3100, 0xAC00...0xAC10]
        var mismatches: [String] = []
        for _ in 0..<3_000 {
            // Most draws stay within the tables; a few meet combining marks and scripts beyond them.
            let ranges = Int.random(in: 0..<5, using: &random) > 0 ? tables : tables + beyond
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let value = UInt32.random(in: ranges.randomElement(using: &random)!, using: &random)
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            }
            for options in combinations {
                let folded = StringFolding.fold(String(text), options)
                let expected = StringFolding.foldByFoundation(String(text), options)
                if Array(folded.utf8) != Array(expected.utf8) { mismatches.append(String(text).debugDescription) }
            }
        }
        #expect(mismatches.isEmpty)
    }

    // Q2
    @Test func beginningsEndingsAndParts() throws {
        let object = ["a": "Straßenbahn"]
        #expect(
            try holds("a BEGINSWITH 'Stra'", object) && !holds("a BEGINSWITH 'stra'", object) && holds("a BEGINSWITH[c] 'STRASS'", object))
        #expect(try holds("a ENDSWITH 'bahn'", object) && !holds("a ENDSWITH 'Bahn'", object) && holds("a ENDSWITH[c] 'BAHN'", object))
        #expect(try holds("a CONTAINS 'ßen'", object) && !holds("a CONTAINS 'SSEN'", object) && holds("a CONTAINS[c] 'SSEN'", object))
        #expect(try holds("a CONTAINS ''", object) && holds("a BEGINSWITH ''", object) && holds("a ENDSWITH ''", object))
        #expect(try !holds("a CONTAINS 'Straßenbahnen'", object) && !holds("a ENDSWITH 'xStraßenbahn'", object))
        #expect(try holds("a CONTAINS 'aab'", ["a": "aaab"]) && !holds("a CONTAINS 'aab'", ["a": "aaaa"]))
    }

    // Q3
    @Test(arguments: [
        ("", "", true), ("", "*", true), ("", "?", false), ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true),
        ("abc", "*b*", true), ("abc", "a?c", true), ("abc", "a?", false), ("abc", "??????", false), ("abc", "*d*", false),
        ("abc", "a**c", true), ("aXbXc", "a*X?", true), ("aaab", "*ab", true), ("mississippi", "m*iss*ip*", true),
        ("mississippi", "m*issx*", false), ("a*c", "a\\*c", true), ("abc", "a\\*c", false), ("a?c", "a\\?c", true), ("abc", "a\\?c", false),
        ("a\\c", "a\\\\c", true), ("é", "?", true), ("日本", "??", true), ("日本", "日?", true), ("a\nb", "a*b", true), ("e\u{301}", "??", true),
        ("%_", "%_", true), ("ab", "%_", false), ("a.c", "a.c", true), ("abc", "a.c", false), ("ABC", "abc", false), ("x\\", "x\\", true),
    ])
    func likeMatchesItsWildcards(text: String, pattern: String, matches: Bool) throws {
        #expect(try holds("a LIKE %@", ["a": text], pattern) == matches)
    }

    // Q3
    @Test func likeTakesOptions() throws {
        #expect(
            try holds("a LIKE[c] 'É*E'", ["a": "école"]) && !holds("a LIKE[c] 'E*'", ["a": "école"])
                && holds("a LIKE[cd] 'E*'", ["a": "école"]))
        #expect(try holds("a LIKE 'x\\*'", ["a": "x*"]) && !holds("a LIKE 'x\\*'", ["a": "xy"]))
    }

    // Q3
    @Test func likeIsNotSlowOnManyRuns() throws {
        let text = String(repeating: "a", count: 2_000)
        let pattern = String(repeating: "*a", count: 500) + "*b"
        #expect(try !holds("a LIKE %@", ["a": text], pattern))
    }

    // Q3
    @Test func matchesCoversTheWholeString() throws {
        #expect(
            try holds("a MATCHES '[a-z]+'", ["a": "abc"]) && !holds("a MATCHES '[a-z]+'", ["a": "abc1"])
                && !holds("a MATCHES 'b'", ["a": "abc"]))
        #expect(try holds("a MATCHES 'a|ab'", ["a": "ab"]), "the longer alternative is found")
        #expect(try !holds("a MATCHES '[a-z]+'", ["a": "abc\n"]))
        #expect(try holds("a MATCHES[c] 'ABC'", ["a": "abc"]) && !holds("a MATCHES 'ABC'", ["a": "abc"]))
        #expect(
            try holds("a MATCHES[cd] 'ECOLE\\d'", ["a": "école7"]) && holds("a MATCHES '\\\\d+'", ["a": "42"])
                && holds("a MATCHES '\\d+'", ["a": "42"]))
        #expect(try holds("a MATCHES '.\\p{L}.'", ["a": "👩é👩"]))
    }

    // Q3
    @Test func aPatternThatIsNoneIsAnError() throws {
        let predicate = NSPredicate(format: "a MATCHES b")
        #expect(throws: PredicateEvaluationError.malformedPattern("([")) { try predicate.holds(for: ["a": "x", "b": "(["]) }
        #expect(throws: PredicateEvaluationError.costlyPattern("(a+)+$")) {
            try predicate.holds(for: ["a": String(repeating: "a", count: 50) + "b", "b": "(a+)+$"])
        }
        // What takes time in proportion to the string has the time.
        #expect(try predicate.holds(for: ["a": String(repeating: "ab", count: 100_000), "b": "(?:a|b)*"]))
    }
}
