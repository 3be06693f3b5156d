import Foundation
import JSONPaths

/// The value an attribute has until another is given; of the attribute's own type.
public enum AttributeDefault: Sendable, Hashable {
    /// For `int16`, `int32` and `int64`, in their range.
    case integer(Int64)
    /// For `decimal`.
    case decimal(Decimal)
    /// For `double`, finite.
    case double(Double)
    /// For `bool`.
    case bool(Bool)
    /// For `string`; may be empty.
    case string(String)
    /// For `date`; written in RFC 3339, whatever the attribute's format.
    case date(Date)
    /// For `uuid`.
    case uuid(UUID)
    /// For `uri`; not empty.
    case uri(URL)
}

extension AttributeDefault {
    struct Complaint: Error {
        var message: String
        var suggestion: String
    }

    /// A default as the configuration writes it: dates in RFC 3339 whatever their format, decimals as numbers or texts.
    init(_ node: DocumentNode, _ type: AttributeType) throws(Complaint) {
        func mismatch(_ expected: String, _ example: String) -> Complaint {
            Complaint(message: "expected \(expected), found \(node.found)", suggestion: "write \(example)")
        }
        func integer(_ range: ClosedRange<Int64>) throws(Complaint) -> AttributeDefault {
            guard case .integer(let value) = node.value else { throw mismatch("an integer", "0") }
            guard range.contains(value) else {
                throw Complaint(message: "\(value) does not fit into \(type)", suggestion: "use a larger type, or a smaller value")
            }
            return .integer(value)
        }
        switch type {
        case .int16: self = try integer(Int64(Int16.min)...Int64(Int16.max))
        case .int32: self = try integer(Int64(Int32.min)...Int64(Int32.max))
        case .int64: self = try integer(.min ... .max)
        case .double:
            switch node.value {
            case .integer(let value): self = .double(Double(value))
            case .number(let value) where value.isFinite: self = .double(value)
            default: throw mismatch("a finite number", "0.0")
            }
        case .decimal:
            let text: String? =
                switch node.value {
                case .integer(let value): "\(value)"
                case .number(let value) where value.isFinite: "\(value)"
                case .string(let text) where Self.isDecimal(text): text
                default: nil
                }
            guard let text, let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
                throw mismatch("a number, or a text holding one", "\"12.50\"")
            }
            self = .decimal(value)
        case .bool:
            guard case .boolean(let flag) = node.value else { throw mismatch("true or false", "false") }
            self = .bool(flag)
        case .string:
            guard let text = node.string else { throw mismatch("a text", "it in quotes") }
            self = .string(text)
        case .date:
            guard let text = node.string, let date = Self.date(text) else { throw mismatch("a date", "\"2000-01-01T00:00:00Z\"") }
            self = .date(date)
        case .uuid:
            guard let uuid = node.string.flatMap({ UUID(uuidString: $0) }) else {
                throw mismatch("a UUID", "\"00000000-0000-0000-0000-000000000000\"")
            }
            self = .uuid(uuid)
        case .uri:
            guard let text = node.string, !text.isEmpty, let url = URL(string: text) else {
                throw mismatch("a URI", "\"https://example.com/\"")
            }
            self = .uri(url)
        case .data, .json: throw Complaint(message: "the type \(type) has no default", suggestion: "remove it")
        }
    }

    private static func isDecimal(_ text: String) -> Bool {
        text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?/) != nil
    }

    /// RFC 3339 with the relaxations of ``DateFormat/rfc3339``.
    static func date(_ text: String) -> Date? {
        let pattern =
            /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?/
        guard let match = text.wholeMatch(of: pattern), let year = Int(match.1), let month = Int(match.2), let day = Int(match.3) else {
            return nil
        }
        let hour = match.4.flatMap { Int($0) } ?? 0
        let minute = match.5.flatMap { Int($0) } ?? 0
        let second = match.6.flatMap { Int($0) } ?? 0
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[month - 1]).contains(day), hour < 24, minute < 60, second < 61 else { return nil }
        var offset = 0
        if let zone = match.8, zone.lowercased() != "z" {
            guard let hours = Int(zone.dropFirst().prefix(2)), let minutes = Int(zone.suffix(2)), hours < 24, minutes < 60 else {
                return nil
            }
            offset = (zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400 + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
        let fraction = match.7.flatMap { Double("0" + $0) } ?? 0
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset) + fraction)
    }

    /// RFC 3339, which ``date(_:)`` reads; by the calendar of today at any time. Nil for a moment outside of the years 1 to 9999.
    static func text(of date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
        let (days, second) = Int(seconds).quotientAndRemainder(dividingBy: 86_400)
        let time = second < 0 ? second + 86_400 : second
        // Days since 1 March of the year 0; the years begin in March, so that a leap day ends one.
        let day = days - (second < 0 ? 1 : 0) + 719_468
        let era = day / 146_097, ofEra = day % 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let dayOfMonth = ofYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        func padded(_ number: Int, _ count: Int) -> String { String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)" }
        let milliseconds = Int((date.timeIntervalSince1970 - seconds) * 1_000)
        return "\(padded(year, 4))-\(padded(month < 10 ? month + 3 : month - 9, 2))-\(padded(dayOfMonth, 2))T"
            + "\(padded(time / 3600, 2)):\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2)).\(padded(milliseconds, 3))Z"
    }

    /// The value as TOML.
    var toml: String {
        switch self {
        case .integer(let value): "\(value)"
        case .decimal(let value): tomlQuoted("\(value)")
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): tomlQuoted(value)
        case .date(let value): tomlQuoted(Self.text(of: value) ?? "")
        case .uuid(let value): tomlQuoted(value.uuidString)
        case .uri(let value): tomlQuoted(value.absoluteString)
        }
    }
}

extension JSONPath {
    /// The key of the record this path names, if it is one step to a key and nothing more.
    var singleKey: String? {
        if segments.count == 1, case .key(let key) = segments[0] { key } else { nil }
    }
}
