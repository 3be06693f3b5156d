import Foundation

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
