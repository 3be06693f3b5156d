import OpenCoreData
import Testing

struct PredicateFunctionTests {
    private func value(_ format: String, _ object: Any? = nil) throws -> PredicateValue {
        try NSExpression.parse(format).node.evaluate(in: EvaluationScope(object))
    }

    // Q10
    @Test func arithmeticBindsAsInMathematics() throws {
        #expect(try value("1 + 2 * 3") == .integer(7))
        #expect(try value("(1 + 2) * 3") == .integer(9))
        #expect(try value("10 - 4 - 3") == .integer(3))
        #expect(try value("2 * 3 ** 2") == .double(18))
        #expect(try value("-2 + 5") == .integer(3))
        #expect(try value("5 - -2") == .integer(7))
        #expect(try value("-a", ["a": 4]) == .integer(-4))
        #expect(try holds("price * count > 10 AND a.b + 1 == 3", ["price": 2.5, "count": 5, "a": ["b": 2]] as [String: Any]))
    }

    // Q10
    @Test func arithmeticReckonsAsSQLiteDoes() throws {
        #expect(try value("7 / 2") == .integer(3))
        #expect(try value("-7 / 2") == .integer(-3))
        #expect(try value("7 / 2.0") == .double(3.5))
        #expect(try value("1 / 0") == .null)
        #expect(try value("1.5 / 0.0") == .null)
        #expect(try value("a + 1", ["b": 1]) == .null)
        #expect(try value("'x' + 1") == .null)
        #expect(try value("9223372036854775807 + 1") == .double(0x1p63))
        #expect(try value("-9223372036854775808 / -1") == .double(0x1p63))
        #expect(try value("YES + 1") == .integer(2))
        #expect(try value("modulus:by:(7, 3)") == .integer(1))
        #expect(try value("modulus:by:(-9223372036854775808, -1)") == .integer(0))
        #expect(try value("CAST('0.1', 'NSDecimalNumber') + CAST('0.2', 'NSDecimalNumber')") == .decimal(Decimal(string: "0.3")!))
    }

    // Q10
    @Test func functionsOfManyValues() throws {
        let object = ["list": [3, 1, 2], "empty": []]
        #expect(try value("sum(list)", object) == .integer(6))
        #expect(try value("sum:(list)", object) == .integer(6))
        #expect(try value("average(list)", object) == .double(2))
        #expect(try value("min(list)", object) == .integer(1))
        #expect(try value("max({3, 9, 4})", object) == .integer(9))
        #expect(try value("count(list)", object) == .integer(3))
        #expect(try value("median(list)", object) == .double(2))
        #expect(try value("sum(empty)", object) == .integer(0))
        #expect(try value("average(empty)", object) == .null)
    }

    // Q10
    @Test func functionsOfNumbersAndStrings() throws {
        #expect(try value("abs(-3)") == .integer(3))
        #expect(try value("abs(-3.5)") == .double(3.5))
        #expect(try value("sqrt(16)") == .double(4))
        #expect(try value("sqrt(-1)") == .null)
        #expect(try value("ceiling(1.2)") == .double(2))
        #expect(try value("floor(-1.2)") == .double(-2))
        #expect(try value("trunc(-1.7)") == .double(-1))
        #expect(try value("floor(5)") == .integer(5))
        #expect(try value("exp(0)") == .double(1))
        #expect(try value("ln(1)") == .double(0))
        #expect(try value("log(1000)") == .double(3))
        #expect(try value("uppercase('straße')") == .string("STRASSE"))
        #expect(try value("lowercase('É')") == .string("é"))
        #expect(try value("canonical('Élan ÅB')") == .string("elan ab"))
        #expect(try value("length('日本')") == .integer(2))
        #expect(try value("UPPERCASE(name)", [:] as [String: Any]) == .null)
        #expect(try value("add:to:(1, 2)") == .integer(3))
        #expect(try value("from:subtract:(5, 2)") == .integer(3))
        #expect(try value("multiply:by:(5, 2)") == .integer(10))
        #expect(try value("divide:by:(5, 2)") == .integer(2))
        #expect(try value("raise:toPower:(2, 10)") == .double(1024))
        #expect(try value("bitwiseAnd:with:(6, 3)") == .integer(2))
        #expect(try value("leftshift:by:(1, 4)") == .integer(16))
        #expect(try value("onesComplement(0)") == .integer(-1))
    }

    // Q10
    @Test func nowIsWhenItIsAsked() throws {
        let before = Date()
        guard case .date(let now) = try value("now()") else {
            Issue.record("not a date")
            return
        }
        #expect(now >= before && now <= Date())
        #expect(try holds("born < now()", ["born": Date(timeIntervalSinceReferenceDate: 0)]))
    }

    // Q10
    @Test func castsConvert() throws {
        #expect(try value("CAST(5, 'NSDate')") == .date(Date(timeIntervalSinceReferenceDate: 5)))
        #expect(try value("CAST(a, 'NSNumber')", ["a": "12"]) == .integer(12))
        #expect(try value("CAST(a, 'NSNumber')", ["a": Date(timeIntervalSinceReferenceDate: 5)]) == .double(5))
        #expect(try value("CAST(a, 'NSString')", ["a": 12]) == .string("12"))
        #expect(try value("CAST(a, 'NSNumber')", ["a": "twelve"]) == .null)
        #expect(
            try value("CAST(a, 'Decimal' )".replacing("'Decimal' ", with: "'NSDecimalNumber'"), ["a": 0.1])
                == .decimal(Decimal(string: "0.1")!))
        #expect(try value("CAST('AQI=', 'NSData')") == .data(Data([1, 2])))
    }

    // Q10
    @Test func ternariesAndMessages() throws {
        #expect(try value("TERNARY(a > 1, 'many', 'few')", ["a": 2]) == .string("many"))
        #expect(try value("TERNARY(a > 1 AND b == 1, 'many', 'few')", ["a": 2]) == .string("few"))
        #expect(try value("FUNCTION(a, 'uppercaseString')", ["a": "x"]) == .string("X"))
        #expect(try value("FUNCTION(a, 'valueForKeyPath:', 'b.c')", ["a": ["b": ["c": 1]]]) == .integer(1))
        #expect(try value("FUNCTION('12', 'intValue')") == .integer(12))
        #expect(try value("FUNCTION(a, 'count')", ["a": [1, 2]]) == .integer(2))
    }
}
