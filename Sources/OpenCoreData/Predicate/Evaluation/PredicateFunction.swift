import Foundation

/// The functions of expressions, by the names that `NSExpression(forFunction:arguments:)` takes. In format strings the colon of a function
/// of one argument may be left out: `sum(x)`.
package struct PredicateFunction: Sendable {
    package let name: String
    package let argumentCount: Int
    private let body: @Sendable ([PredicateValue]) -> PredicateValue

    /// The function of that name, or nil.
    package init?(_ name: String) {
        guard let known = Self.byName[name] else { return nil }
        self = known
    }

    /// The function a format string means by `name(…)` with that many arguments, or nil.
    init?(spelled name: String, argumentCount: Int) {
        let lowercased = name.lowercased()
        guard let known = Self.bySpelling[lowercased] ?? Self.bySpelling[lowercased + ":"], known.argumentCount == argumentCount
        else { return nil }
        self = known
    }

    func evaluate(_ arguments: [PredicateValue]) -> PredicateValue {
        arguments.count == argumentCount ? body(arguments) : .null
    }

    private init(_ name: String, _ argumentCount: Int, _ body: @escaping @Sendable ([PredicateValue]) -> PredicateValue) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }

    private static let all: [PredicateFunction] = [
        // Of many values.
        PredicateFunction("sum:", 1) { Aggregates.sum(Aggregates.elements($0[0])) },
        PredicateFunction("count:", 1) { .integer(Aggregates.count($0[0])) },
        PredicateFunction("min:", 1) { Aggregates.extreme(Aggregates.elements($0[0]), wanted: -1) },
        PredicateFunction("max:", 1) { Aggregates.extreme(Aggregates.elements($0[0]), wanted: 1) },
        PredicateFunction("average:", 1) { Aggregates.average(Aggregates.elements($0[0])) },
        PredicateFunction("median:", 1) { median(Aggregates.elements($0[0])) },
        PredicateFunction("distinct:", 1) {
            .collection(PredicateCollection(Aggregates.distinct(Aggregates.elements($0[0])), kind: .array))
        },
        // Of numbers.
        PredicateFunction("add:to:", 2) { Arithmetic.add($0[0], $0[1]) },
        PredicateFunction("from:subtract:", 2) { Arithmetic.subtract($0[0], $0[1]) },
        PredicateFunction("multiply:by:", 2) { Arithmetic.multiply($0[0], $0[1]) },
        PredicateFunction("divide:by:", 2) { Arithmetic.divide($0[0], $0[1]) },
        PredicateFunction("modulus:by:", 2) { Arithmetic.modulus($0[0], $0[1]) },
        PredicateFunction("raise:toPower:", 2) { Arithmetic.power($0[0], $0[1]) },
        PredicateFunction("abs:", 1) { Arithmetic.absolute($0[0]) },
        PredicateFunction("sqrt:", 1) { Arithmetic.map($0[0]) { $0.squareRoot() } },
        PredicateFunction("exp:", 1) { Arithmetic.map($0[0]) { Foundation.exp($0) } },
        PredicateFunction("ln:", 1) { Arithmetic.map($0[0]) { Foundation.log($0) } },
        PredicateFunction("log:", 1) { Arithmetic.map($0[0]) { Foundation.log10($0) } },
        PredicateFunction("ceiling:", 1) { Arithmetic.round($0[0], .up) },
        PredicateFunction("floor:", 1) { Arithmetic.round($0[0], .down) },
        PredicateFunction("trunc:", 1) { Arithmetic.round($0[0], .towardZero) },
        PredicateFunction("bitwiseAnd:with:", 2) { bits($0, &) },
        PredicateFunction("bitwiseOr:with:", 2) { bits($0, |) },
        PredicateFunction("bitwiseXor:with:", 2) { bits($0, ^) },
        PredicateFunction("leftshift:by:", 2) { bits($0, <<) },
        PredicateFunction("rightshift:by:", 2) { bits($0, >>) },
        PredicateFunction("onesComplement:", 1) { Arithmetic.integer($0[0]).map { .integer(~$0) } ?? .null },
        // Of strings.
        PredicateFunction("uppercase:", 1) { text($0[0]) { .string($0.uppercased()) } },
        PredicateFunction("lowercase:", 1) { text($0[0]) { .string($0.lowercased()) } },
        PredicateFunction("canonical:", 1) { text($0[0]) { .string(StringFolding.fold($0, [.caseInsensitive, .diacriticInsensitive])) } },
        PredicateFunction("length:", 1) { text($0[0]) { .integer(Int64($0.unicodeScalars.count)) } },
        // The rest.
        PredicateFunction("now", 0) { _ in .date(Date()) },
        PredicateFunction("castObject:toType:", 2) { arguments in
            guard case .string(let type) = arguments[1] else { return .null }
            return Cast(type)?.evaluate(arguments[0]) ?? .null
        },
    ]

    /// Those that make a text of a text.
    package static let ofText: Set<String> = ["uppercase:", "lowercase:", "canonical:"]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    private static let bySpelling = Dictionary(uniqueKeysWithValues: all.map { ($0.name.lowercased(), $0) })

    private static func text(_ value: PredicateValue, _ body: (String) -> PredicateValue) -> PredicateValue {
        if case .string(let string) = value { body(string) } else { .null }
    }

    private static func bits(_ arguments: [PredicateValue], _ body: (Int64, Int64) -> Int64) -> PredicateValue {
        guard let first = Arithmetic.integer(arguments[0]), let second = Arithmetic.integer(arguments[1]) else { return .null }
        return .integer(body(first, second))
    }

    private static func median(_ values: [PredicateValue]) -> PredicateValue {
        let sorted = values.compactMap(Arithmetic.real).sorted()
        guard !sorted.isEmpty else { return .null }
        let middle = sorted.count / 2
        return .real(sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle])
    }
}

/// `CAST(x, 'type')`. What cannot be converted becomes nil.
///
/// Dates and numbers convert by seconds since 2001, as Core Data stores them; strings by the usual texts, data by Base64. The printed form
/// of constants uses these conversions, so they lose nothing.
struct Cast {
    enum Target: String, CaseIterable {
        case number = "NSNumber"
        case decimal = "NSDecimalNumber"
        case string = "NSString"
        case date = "NSDate"
        case data = "NSData"
        case uuid = "NSUUID"
        case url = "NSURL"
    }

    let target: Target

    /// Nil for a type there is no conversion to. `Date` is the same as `NSDate`.
    init?(_ name: String) {
        guard let target = Target(rawValue: name) ?? Target(rawValue: "NS" + name) else { return nil }
        self.target = target
    }

    func evaluate(_ value: PredicateValue) -> PredicateValue {
        switch target {
        case .number: return Self.number(value)
        case .decimal:
            switch value {
            case .decimal: return value
            case .string(let text): return Decimal(string: text, locale: Self.locale).map { .decimal($0) } ?? .null
            case .integer(let number): return .decimal(Decimal(number))
            case .bool(let flag): return .decimal(flag ? 1 : 0)
            case .double(let number): return Decimal(string: "\(number)", locale: Self.locale).map { .decimal($0) } ?? .null
            default: return .null
            }
        case .string: return Self.text(value).map { .string($0) } ?? .null
        case .date:
            if case .date = value { return value }
            return Arithmetic.real(value).map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        case .data:
            switch value {
            case .data: return value
            case .string(let text): return Data(base64Encoded: text).map { .data($0) } ?? .null
            default: return .null
            }
        case .uuid:
            switch value {
            case .uuid: return value
            case .string(let text): return UUID(uuidString: text).map { .uuid($0) } ?? .null
            default: return .null
            }
        case .url:
            switch value {
            case .url: return value
            case .string(let text): return URL(string: text).map { .url($0) } ?? .null
            default: return .null
            }
        }
    }

    private static let locale = Locale(identifier: "en_US_POSIX")

    static func number(_ value: PredicateValue) -> PredicateValue {
        switch value {
        case .bool, .integer, .double, .decimal: value
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .string(let text): Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .null
        default: .null
        }
    }

    private static func text(_ value: PredicateValue) -> String? {
        switch value {
        case .string(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .decimal(let number): NSDecimalNumber(decimal: number).stringValue
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): data.base64EncodedString()
        case .date, .null, .object, .collection, .opaque: nil
        }
    }
}
