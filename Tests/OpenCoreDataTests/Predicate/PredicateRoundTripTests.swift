import Foundation
import OpenCoreData
import Testing

struct PredicateRoundTripTests {
    // Q16
    @Test(arguments: [
        ("a == 1", "a == 1"), ("a = 'x'", "a == \"x\""), ("a ==[cd] \"x\"", "a ==[cd] \"x\""),
        ("(a=1 && b=2) || c=3", "(a == 1 AND b == 2) OR c == 3"),
        ("not (a = 1)", "NOT a == 1"), ("none a.b = 1", "NOT ANY a.b == 1"), ("not (a=1 or b=2)", "NOT (a == 1 OR b == 2)"),
        ("all a.b in {1,2}", "ALL a.b IN {1, 2}"), ("a between {1,b}", "a BETWEEN {1, b}"), ("a + b * c = 1", "a + (b * c) == 1"),
        ("(a + b) * c = 1", "(a + b) * c == 1"), ("subquery(a,$x,$x.b=1).@count > 0", "SUBQUERY(a, $x, $x.b == 1).@count > 0"),
        ("a[first].b = a[0]", "a[FIRST].b == a[0]"), ("#in.#and = yes", "#in.#and == YES"), ("a = nil", "a == nil"),
        ("a = '\\\"\\\\'", "a == \"\\\"\\\\\""),
        ("sum(a) > now()", "sum(a) > now()"), ("ternary(a=1,2,3) = 2", "TERNARY(a == 1, 2, 3) == 2"), ("a union b = c", "a UNION b == c"),
        ("cast(5,'NSDate') < a", "CAST(5.0, \"NSDate\") < a"), ("a = '50%%%%'", "a == \"50%%%%\""), ("a = '50%'", "a == \"50%\""),
        ("SELF.a = self", "a == SELF"), ("#'odd key'.x = 1", "#\"odd key\".x == 1"), ("truepredicate", "TRUEPREDICATE"),
        ("a = -5", "a == -5"),
    ])
    func theCanonicalText(format: String, canonical: String) throws {
        let predicate = try NSPredicate.parse(format)
        #expect(predicate.canonicalFormat == canonical)
        #expect(try NSPredicate.parse(canonical).node == predicate.node)
    }

    // Q16
    @Test func foundationsPropertyAnswersTheSameText() throws {
        // The property is deprecated on Linux; through a protocol it can be read without the warning.
        let text = (NSPredicate(format: "a = 1 and b = 2") as any FormatReading).predicateFormat
        #expect(text == "a == 1 AND b == 2")
        #expect((NSPredicate(format: "a = 1") as any FormatReading).predicateFormat == "a == 1")
        #expect((NSPredicate(format: "truepredicate") as any FormatReading).predicateFormat == "TRUEPREDICATE")
    }

    // Q16
    @Test func constantsOfEveryTypeHaveTexts() throws {
        let constants: [Any?] = [
            nil, true, 0, Int64.min, Int64.max, UInt64.max, 0.1, -0.0, 1e300, Double.leastNonzeroMagnitude, Double.infinity,
            -Double.infinity, Decimal(string: "-12.340")!, "", "a\"b\\c\n\t\r'%",
            "%%", "%%%", "$x #y %@", "\u{0}é日👩‍👩", Date(timeIntervalSinceReferenceDate: 123.456789), Data([0, 255, 1]), Data(), UUID(),
            URL(string: "http://a/b?c=%20\"")!,
            [1, "x", nil, [2.5, true]] as [Any?], [] as [Any],
        ]
        for constant in constants {
            let predicate = try NSPredicate.parse("a == %@", arguments: [constant])
            let again = try NSPredicate.parse(predicate.canonicalFormat)
            #expect(again.node == predicate.node, "\(predicate.canonicalFormat)")
            #expect(again.evaluate(with: ["a": constant as Any]))
        }
    }

    // Q16, Q12, Q13
    @Test(arguments: 1...8)
    func randomTreesSurviveTheirTexts(seed: UInt64) throws {
        var trees = RandomPredicates(seed: seed)
        var outcomes: Set<Bool> = []
        for _ in 0..<200 {
            let node = trees.predicate(depth: 4)
            let text = node.canonicalFormat
            let parsed = try NSPredicate.parse(text)
            try #require(parsed.node == node, "\(text)")
            #expect(parsed.canonicalFormat == text)
            let built = RandomPredicates.byHand(node)
            #expect(built.node == node)
            for _ in 0..<5 {
                let object = trees.object()
                let answer = try node.evaluate(object, variables: ["v": .integer(1)])
                outcomes.insert(answer)
                #expect(parsed.evaluate(with: object, substitutionVariables: ["v": 1]) == answer, "\(text) for \(object)")
                #expect(built.evaluate(with: object, substitutionVariables: ["v": 1]) == answer, "\(text) for \(object)")
                #expect(built.withSubstitutionVariables(["v": 1]).evaluate(with: object) == answer, "\(text) for \(object)")
                #expect(try PredicateNode.not(node).evaluate(object, variables: ["v": .integer(1)]) != answer)
            }
        }
        #expect(outcomes == [true, false])
    }
}

private protocol FormatReading {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatReading {}
