import Foundation
import OpenCoreData

/// Random format strings over the model of `PredicateTextTests`: most make sense, some are torn apart, and some are meant to do harm.
struct RandomPredicateTexts {
    enum Kind: CaseIterable {
        case number, text, flag
    }

    var numbers: SeededNumbers

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    mutating func text() -> String {
        let text = predicate(depth: 3)
        guard numbers.chance(25) else { return text }
        var words = text.split(separator: " ").map(String.init)
        for _ in 0..<Int.random(in: 1...3, using: &numbers) where words.count > 1 {
            let place = Int.random(in: 0..<words.count, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: words.remove(at: place)
            case 1: words.insert(words[place], at: place)
            case 2: words.swapAt(place, Int.random(in: 0..<words.count, using: &numbers))
            default: words[place] = numbers.pick(["(", ")", "{", "}", "NOT", "$x", "\"", "%@", "#", "\u{0}", "ANY", ",", "-", "[", "1e999", "0x"])
            }
        }
        return words.joined(separator: " ")
    }

    private mutating func predicate(depth: Int) -> String {
        guard depth > 0 else { return comparison(depth: 0) }
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0: return "( \(predicate(depth: depth - 1)) AND \(predicate(depth: depth - 1)) )"
        case 1: return "( \(predicate(depth: depth - 1)) OR \(predicate(depth: depth - 1)) OR TRUEPREDICATE )"
        case 2, 3: return "NOT ( \(predicate(depth: depth - 1)) )"
        case 4: return deep()
        default: return comparison(depth: depth)
        }
    }

    /// What nests as deep as it may, and deeper.
    private mutating func deep() -> String {
        let count = numbers.pick([5, 20, 40, 60, 2_000])
        func nested(_ opening: String, _ core: String, _ closing: String) -> String {
            String(repeating: opening, count: count) + core + String(repeating: closing, count: count)
        }
        return numbers.pick([
            nested("NOT ", "number == 1", ""), nested("( ", "number == 1", " )"), nested("abs( ", "number", " )") + " == 1",
            nested("", "number == 1", " + 1"), nested("TERNARY( ", "number == 1", " , 1 , 2 ) == 1"), nested("- ( ", "number", " )") + " == 1",
            nested("CAST( ", "number", " , 'NSNumber' )") + " == 1",
        ])
    }

    private mutating func comparison(depth: Int) -> String {
        let kind = numbers.pick(Kind.allCases)
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0: return "\(numbers.pick(["ANY", "ALL", "NONE"])) parts.\(attribute(kind)) \(sign(kind)) \(value(kind, depth: 0))"
        case 1: return "SUBQUERY( parts , $p , $p.\(attribute(kind)) \(sign(kind)) \(value(kind, depth: 0)) ).@count > \(numbers.pick([0, 1]))"
        case 2: return "\(value(kind, depth: depth)) IN { \(constant(kind)) , \(constant(kind)) , \(value(kind, depth: 0)) }"
        case 3 where kind == .number: return "\(value(kind, depth: depth)) BETWEEN { \(constant(kind)) , \(constant(kind)) }"
        case 4: return "text MATCHES \(pattern())"
        case 5: return "text MATCHES[\(numbers.pick(["c", "d", "cd"]))] \(pattern())"
        case 6:
            let operation = numbers.pick(["LIKE", "BEGINSWITH", "CONTAINS[c]", "ENDSWITH[d]", "<[l]", "==[cl]", ">=[dl]"])
            return "text \(operation) \(value(.text, depth: 0))"
        case 7 where numbers.chance(20): return "\(numbers.pick(["nothing", "$NOBODY", "parts.nothing"])) == \(constant(kind))"
        case 8: return "text MATCHES whole.text"
        default: return "\(value(kind, depth: depth)) \(sign(kind)) \(value(kind, depth: depth))"
        }
    }

    private mutating func sign(_ kind: Kind) -> String {
        numbers.pick(kind == .flag ? ["==", "!="] : ["==", "!=", "<", "<=", ">", ">="])
    }

    private mutating func attribute(_ kind: Kind) -> String {
        switch kind {
        case .number: numbers.pick(["number", "real"])
        case .text: "text"
        case .flag: "flag"
        }
    }

    private mutating func pattern() -> String {
        numbers.pick([
            "'a.*'", "'(a+)+$'", "'(a|aa)+'", "'a|b'", "'a)|(b'", "'(?x) a # b'", "'[a'", "'(.*)(.*)(.*)(.*)x'", "''", "'(a*)*b'", "'(?i)AB?'",
            "'\\\\Qa.b'", "'(?:a?){30}a{30}'", "'é'", "'(x)\\\\1'",
        ])
    }

    private mutating func constant(_ kind: Kind) -> String {
        switch kind {
        case .number: numbers.pick(["0", "1", "-1", "42", "1.5", "-0.0", "9223372036854775807", "1e308", "nil", "YES"])
        case .text: numbers.pick(["''", "'a'", "'A'", "'é'", "'a.b'", "'aaaa'", "nil", "'%'", "'日本'"])
        case .flag: numbers.pick(["YES", "NO", "nil", "1"])
        }
    }

    private mutating func value(_ kind: Kind, depth: Int) -> String {
        if numbers.chance(30) { return constant(kind) }
        guard depth > 0, numbers.chance(45) else { return numbers.pick(["", "", "whole."]) + attribute(kind) }
        switch kind {
        case .number:
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: return "parts.@count"
            case 1: return "parts.@\(numbers.pick(["sum", "min", "max", "avg"])).\(attribute(.number))"
            case 2: return "length( \(value(.text, depth: depth - 1)) )"
            case 3: return "\(numbers.pick(["abs", "floor", "ceiling", "trunc"]))( \(value(.number, depth: depth - 1)) )"
            case 4:
                return "TERNARY( \(comparison(depth: 0)) , \(attribute(.number)) , \(numbers.pick(["1", "2.5", "-3"])) )"
            case 5: return "- ( \(value(.number, depth: depth - 1)) )"
            default:
                return "( \(value(.number, depth: depth - 1)) \(numbers.pick(["+", "-", "*", "/"])) \(value(.number, depth: depth - 1)) )"
            }
        case .text: return "\(numbers.pick(["uppercase", "lowercase", "canonical"]))( \(value(.text, depth: depth - 1)) )"
        case .flag: return "whole.whole.flag"
        }
    }
}
