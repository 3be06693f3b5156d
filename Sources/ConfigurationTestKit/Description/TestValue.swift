package import Foundation
package import SyncConfiguration

/// A value of a test file or of JSON.
package indirect enum TestValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    /// A date, or a date and a time, as it is written.
    case moment(String)
    case list([TestValue])
    case table([String: TestValue])

    /// No value, as a test file says it, where TOML has no word for that.
    package static let nothing = TestValue.table([:])

    /// What a file says.
    package init(_ node: DocumentNode) {
        switch node.value {
        case .string(let text): self = .text(text)
        case .integer(let integer): self = .integer(integer)
        case .number(let number): self = .number(number)
        case .boolean(let flag): self = .bool(flag)
        case .moment(let text): self = .moment(text)
        case .array(let nodes): self = .list(nodes.map { TestValue($0) })
        case .table(let table): self = .table(table.mapValues { TestValue($0) })
        }
    }

    /// What JSON says; nil: it is none.
    package init?(json: some Collection<UInt8>) {
        guard let value = try? JSONDecoder().decode(TestValue.self, from: Data(json)) else { return nil }
        self = value
    }

    /// Whether this value is what a test says of it: the same, but that its tables may have more members, and that a whole number may be written as a
    /// fraction.
    package func holds(_ expected: TestValue) -> Bool {
        switch (self, expected) {
        case (.table(let mine), .table(let theirs)): theirs.allSatisfy { name, value in mine[name]?.holds(value) ?? false }
        case (.list(let mine), .list(let theirs)): mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.holds($1) }
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)): Double(integer) == number
        default: self == expected
        }
    }

    /// As JSON.
    package var json: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let integer): "\(integer)"
        case .number(let number): number.isFinite ? "\(number)" : "null"
        case .text(let text), .moment(let text): Self.quoted(text)
        case .list(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
        case .table(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)): \($0.value.json)" }.joined(separator: ", ") + "}"
        }
    }

    /// As TOML; null as ``nothing``.
    package var toml: String {
        switch self {
        case .null: "{}"
        case .bool(let flag): "\(flag)"
        case .integer(let integer): "\(integer)"
        case .number(let number): Self.toml(number)
        case .text(let text): tomlQuoted(text)
        case .moment(let text): text
        case .list(let values): "[" + values.map(\.toml).joined(separator: ", ") + "]"
        case .table(let members) where members.isEmpty: "{}"
        case .table(let members):
            "{ " + members.sorted { $0.key < $1.key }.map { "\(Self.key($0.key)) = \($0.value.toml)" }.joined(separator: ", ") + " }"
        }
    }

    /// A name as the key of a table.
    package static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
            }
        return isBare ? name : tomlQuoted(name)
    }

    private static func toml(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return "\(number)"
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension TestValue: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads any JSON.
    package init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            var table: [String: TestValue] = [:]
            for name in members.allKeys { table[name.stringValue] = try members.decode(TestValue.self, forKey: name) }
            self = .table(table)
            return
        }
        if var values = try? decoder.unkeyedContainer() {
            var list: [TestValue] = []
            while !values.isAtEnd { list.append(try values.decode(TestValue.self)) }
            self = .list(list)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }
}

extension TestValue {
    /// The moment that it stands for; a date stands for its midnight, and a time without a zone is in UTC. Nil: it is none.
    package var date: Date? {
        switch self {
        case .text(let text), .moment(let text): Self.date(text)
        default: nil
        }
    }

    private static func date(_ text: String) -> Date? {
        let pattern = /([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?/
        guard let match = text.wholeMatch(of: pattern) else { return nil }
        let time = match.2.map(String.init) ?? "00:00:00"
        let zone = match.4.map { $0.uppercased() } ?? "Z"
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        guard let whole = formatter.date(from: "\(match.1)T\(time)\(zone)") else { return nil }
        let fraction = match.3.flatMap { Double("0\($0)") } ?? 0
        return whole.addingTimeInterval(fraction)
    }

    /// A moment, in UTC, to the microsecond.
    package init(_ date: Date) {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let whole = formatter.string(from: Date(timeIntervalSince1970: seconds))
        let micros = Int(((date.timeIntervalSince1970 - seconds) * 1_000_000).rounded())
        guard micros > 0, micros < 1_000_000, whole.hasSuffix("Z") else {
            self = .moment(micros >= 1_000_000 ? formatter.string(from: Date(timeIntervalSince1970: seconds + 1)) : whole)
            return
        }
        var digits = String(micros)
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        self = .moment("\(whole.dropLast()).\(digits)Z")
    }
}
