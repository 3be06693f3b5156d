import OpenCoreData
import Testing

struct PredicateFormatTests {
    private func constant(_ format: String, _ arguments: Any?...) throws -> PredicateValue? {
        guard case .comparison(let comparison) = try NSPredicate.parse(format, arguments: arguments).node,
            case .constant(let value) = comparison.right
        else { return nil }
        return value
    }

    // Q1
    @Test func placeholdersTakeArgumentsInOrder() throws {
        #expect(try constant("a == %@", "x") == .string("x"))
        #expect(try constant("a == %@", nil as String?) == .null)
        #expect(try constant("a == %@", NSNull()) == .null)
        #expect(try constant("a == %d", 5) == .integer(5))
        #expect(try constant("a == %i", Int8(-5)) == .integer(-5))
        #expect(try constant("a == %u", UInt(7)) == .integer(7))
        #expect(try constant("a == %ld", 5) == .integer(5))
        #expect(try constant("a == %lu", 5) == .integer(5))
        #expect(try constant("a == %lld", Int64.max) == .integer(.max))
        #expect(try constant("a == %llu", UInt64.max) == .decimal(Decimal(UInt64.max)))
        #expect(try constant("a == %f", 1.5) == .double(1.5))
        #expect(try constant("a == %f", 2) == .double(2))
        #expect(try constant("a == %.2lf", Float(0.5)) == .double(0.5))
        #expect(try constant("a == %s", "text") == .string("text"))
        #expect(try constant("a == %@", true) == .bool(true))
        #expect(try constant("a == %d", true) == .integer(1))
        #expect(try constant("a == %@", Date(timeIntervalSinceReferenceDate: 9)) == .date(Date(timeIntervalSinceReferenceDate: 9)))
        #expect(
            try node("%K == %@ AND %K.name < %d", "owner.age", 3, "owner", 4)
                == node("owner.age == 3 AND owner.name < 4"))
    }

    // Q1
    @Test func foundationsBoxesBecomeValues() throws {
        #expect(try constant("a == %@", NSNumber(value: true)) == .bool(true))
        #expect(try constant("a == %@", NSNumber(value: Int8(-5))) == .integer(-5))
        #expect(try constant("a == %@", NSNumber(value: 1.5)) == .double(1.5))
        #expect(try constant("a == %@", NSNumber(value: UInt64.max)) == .decimal(Decimal(UInt64.max)))
        #expect(try constant("a == %@", NSDecimalNumber(string: "1.10")) == .decimal(Decimal(string: "1.1")!))
        #expect(try constant("a == %@", NSString("é")) == .string("é"))
        #expect(try constant("a == %@", NSDate(timeIntervalSinceReferenceDate: 1)) == .date(Date(timeIntervalSinceReferenceDate: 1)))
        #expect(try constant("a == %@", NSData(data: Data([1, 2]))) == .data(Data([1, 2])))
        let uuid = UUID()
        #expect(try constant("a == %@", NSUUID(uuidString: uuid.uuidString)) == .uuid(uuid))
        #expect(try constant("a == %@", NSURL(string: "http://a/b")) == .url(URL(string: "http://a/b")!))
        let two = PredicateValue.collection(PredicateCollection([.integer(1), .integer(2)], kind: .array))
        #expect(try constant("a IN %@", [1, 2]) == two)
        #expect(try constant("a IN %@", NSArray(array: [1, 2])) == two)
        #expect(try constant("a IN %@", NSOrderedSet(array: [1, 2])) == two)
        #expect(try constant("a IN %@", [1, nil] as [Int?]) == .collection(PredicateCollection([.integer(1), .null], kind: .array)))
        #expect(try constant("a IN %@", Set([3])) == .collection(PredicateCollection([.integer(3)], kind: .set)))
        #expect(try constant("a IN %@", NSSet(array: ["x"])) == .collection(PredicateCollection([.string("x")], kind: .set)))
        #expect(try constant("a == %@", Double.nan) == .null)
    }

    // Q1
    @Test func anExpressionMayBeAnArgument() throws {
        #expect(try node("%@ == 1", NSExpression(forKeyPath: "a.b")) == node("a.b == 1"))
    }

    // Q1
    @Test func placeholdersWithinQuotesAreText() throws {
        #expect(try constant("a == '%@'") == .string("%@"))
        #expect(try constant("a == \"%K $x\"") == .string("%K $x"))
        #expect(try constant("a == '100%'") == .string("100%"))
        #expect(try constant("a == '100%%'") == .string("100%"))
    }

    // Q1
    @Test func stringsMayBeQuotedEitherWayAndHoldTheOtherQuote() throws {
        #expect(try constant("a == 'say \"hi\"'") == .string("say \"hi\""))
        #expect(try constant("a == \"it's\"") == .string("it's"))
        #expect(try constant("a == 'it\\'s'") == .string("it's"))
        #expect(try constant("a == \"\\\"\\\\\\n\\t\\r\"") == .string("\"\\\n\t\r"))
        #expect(try constant("a == '\\d\\*'") == .string("\\d\\*"))
        #expect(try constant("a == ''") == .string(""))
        #expect(try constant("a == '日本 👩‍👩'") == .string("日本 👩‍👩"))
    }

    // Q1
    @Test func numbersOfEveryForm() throws {
        #expect(try constant("a == 0") == .integer(0))
        #expect(try constant("a == -5") == .integer(-5))
        #expect(try constant("a == 9223372036854775807") == .integer(.max))
        #expect(try constant("a == -9223372036854775808") == .integer(.min))
        #expect(try constant("a == 9223372036854775808") == .decimal(Decimal(string: "9223372036854775808")!))
        #expect(try constant("a == 1.5") == .double(1.5))
        #expect(try constant("a == .5") == .double(0.5))
        #expect(try constant("a == -.5e-2") == .double(-0.005))
        #expect(try constant("a == 1e3") == .double(1000))
        #expect(try constant("a == 1.5E+2") == .double(150))
        #expect(try constant("a == 0xFF") == .integer(255))
        #expect(
            try constant("a IN {1, -2, .5}") == .collection(PredicateCollection([.integer(1), .integer(-2), .double(0.5)], kind: .array)))
    }

    // Q1
    @Test(arguments: ["nil", "NIL", "Nil", "null", "NULL"])
    func nilHasTwoNamesInAnyCase(word: String) throws {
        #expect(try constant("a == \(word)") == .null)
    }

    // Q1
    @Test func booleansHaveFourNamesInAnyCase() throws {
        for word in ["YES", "yes", "true", "TRUE"] { #expect(try constant("a == \(word)") == .bool(true)) }
        for word in ["NO", "no", "false", "False"] { #expect(try constant("a == \(word)") == .bool(false)) }
    }

    // Q1
    @Test func constantPredicates() throws {
        #expect(try node("TRUEPREDICATE") == .constant(true))
        #expect(try node("FalsePredicate") == .constant(false))
        #expect(try holds("TRUEPREDICATE", nil))
        #expect(try !holds("FALSEPREDICATE", nil))
    }

    // Q1
    @Test func keywordsIgnoreCase() throws {
        #expect(
            try node("any a.b beginswith[C] 'x' and not (c in {1}) or d between {1,2}")
                == node("ANY a.b BEGINSWITH[c] 'x' AND NOT (c IN {1}) OR d BETWEEN {1,2}"))
    }

    // Q1
    @Test func aHashMakesAKeyOfAKeyword() throws {
        #expect(try holds("#in == 1 AND #self == 2", ["in": 1, "self": 2]))
        #expect(
            try node("#AND == 1") == .comparison(PredicateComparison(left: .keys("AND"), right: .constant(.integer(1)), type: .equalTo)))
        #expect(try holds("#'odd key' == 1", ["odd key": 1]))
        #expect(try holds("a.in == 1", ["a": ["in": 1] as [String: Any]]), "after a point no word is reserved")
        #expect(try holds("size == 1 AND first == 2", ["size": 1, "first": 2]), "reserved within brackets alone")
    }

    // Q1
    @Test func selfInFrontOfAKeyPathSaysNothing() throws {
        #expect(try node("SELF.a.b == 1") == node("a.b == 1"))
        #expect(try node("%K == 1", "SELF.a") == node("a == 1"))
        #expect(try node("%K == 1", "self") == node("SELF == 1"))
    }

    // Q1
    @Test func variablesAreFilledInOrGivenAtEvaluation() throws {
        let template = NSPredicate(format: "age > $MIN AND name == $NAME")
        let filled = template.withSubstitutionVariables(["MIN": 5, "NAME": "Ann"])
        let object: [String: Any] = ["age": 6, "name": "Ann"]

        #expect(filled.node == (try node("age > 5 AND name == 'Ann'")))
        #expect(filled.evaluate(with: object))
        #expect(template.evaluate(with: object, substitutionVariables: ["MIN": 5, "NAME": "Ann"]))
        #expect(!template.evaluate(with: object, substitutionVariables: ["MIN": 6, "NAME": "Ann"]))
        #expect(template.node.freeVariables == ["MIN", "NAME"])
        #expect(filled.node.freeVariables.isEmpty)
        #expect(template.withSubstitutionVariables(["MIN": 5]).node.freeVariables == ["NAME"])
        #expect(template.withSubstitutionVariables(["MIN": 5, "NAME": NSNull()]).evaluate(with: ["age": 6]))
    }

    // Q1
    @Test func theVariableOfASubqueryIsNotFilledIn() throws {
        let predicate = NSPredicate(format: "SUBQUERY(pets, $x, $x.age > $LIMIT).@count == $x").withSubstitutionVariables([
            "x": 1, "LIMIT": 2,
        ])

        #expect(predicate.node == (try node("SUBQUERY(pets, $x, $x.age > 2).@count == 1")))
    }

    // Q4
    @Test func notBindsTighterThanAndAndAndTighterThanOr() throws {
        let a = try node("a == 1")
        let b = try node("b == 2")
        let c = try node("c == 3")

        #expect(try node("a == 1 OR b == 2 AND c == 3") == .or([a, .and([b, c])]))
        #expect(try node("a == 1 && b == 2 || c == 3") == .or([.and([a, b]), c]))
        #expect(try node("(a == 1 OR b == 2) AND c == 3") == .and([.or([a, b]), c]))
        #expect(try node("NOT a == 1 AND b == 2") == .and([.not(a), b]))
        #expect(try node("!a == 1") == .not(a))
        #expect(try node("NOT (a == 1 AND b == 2)") == .not(.and([a, b])))
        #expect(try node("! ! a == 1") == .not(.not(a)))
        #expect(try node("a == 1 AND b == 2 AND c == 3") == .and([a, b, c]))
        #expect(try node("((((a == 1))))") == a)
    }

    // Q1
    @Test func aParenthesisHoldsAPredicateOrAnExpression() throws {
        #expect(try holds("(a + 1) * 2 == 6", ["a": 2]))
        #expect(try holds("((a)) == (2) AND (b == 1)", ["a": 2, "b": 1]))
        #expect(try holds("(a) IN {2}", ["a": 2]))
        #expect(try holds("((%@ == a) AND (b == %@))", ["a": 2, "b": 3], 2, 3))
        let deep = String(repeating: "(", count: 45) + "a + 1" + String(repeating: ")", count: 45) + " == 2"
        #expect(try holds(deep, ["a": 1]))
    }

    // Q2
    @Test func operatorsHaveAllTheirSpellings() throws {
        #expect(try node("a = 1") == node("a == 1"))
        #expect(try node("a <> 1") == node("a != 1"))
        #expect(try node("a =< 1") == node("a <= 1"))
        #expect(try node("a => 1") == node("a >= 1"))
        #expect(try node("a==1&&b!=2||!c<3") == node("a == 1 AND b != 2 OR NOT c < 3"))
        #expect(try node("a NOT IN {1}") == node("NOT a IN {1}"))
        #expect(try node("SOME a.b == 1") == node("ANY a.b == 1"))
        #expect(try node("NONE a.b == 1") == node("NOT ANY a.b == 1"))
    }

    // Q16
    @Test func equalTextsGiveEqualPredicates() {
        #expect(NSPredicate(format: "a == 1 AND b == 2").isEqual(NSPredicate(format: "(a = 1) && (b = 2)")))
        #expect(!NSPredicate(format: "a == 1").isEqual(NSPredicate(format: "a == 2")))
        #expect(NSPredicate(format: "a == 1").hash == NSPredicate(format: "a = 1").hash)
        #expect(NSPredicate(format: "a == 1").isEqual(NSPredicate(format: "a == 1").copy()))
        #expect((NSPredicate(format: "a == 1 OR b == 2").copy() as? NSPredicate)?.evaluate(with: ["b": 2]) == true)
    }
}
