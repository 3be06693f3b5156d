/// What forms texts have.
enum ScalarForm {
    /// Whether it is a UUID in the usual spelling.
    static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.indices.allSatisfy { place in
            [8, 13, 18, 23].contains(place) ? bytes[place] == UInt8(ascii: "-") : isHexadecimal(bytes[place])
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Formats that nothing else looks like, by which all of the texts are dates. Days and months in figures may be either, and are not among them.
    static func dateFormat(of texts: [String]) -> String? {
        guard !texts.isEmpty else { return nil }
        return formats.first { format in texts.allSatisfy { matches($0, format.forms) } }?.name
    }

    private struct Format {
        /// What the configuration calls it.
        let name: String
        let forms: [[Part]]

        init(_ name: String, _ forms: [Part]...) {
            self.name = name
            self.forms = forms
        }
    }

    /// Stricter than what is read: nothing passes here that does not pass there.
    private static let formats: [Format] = [
        Format(
            "rfc3339", day, moment("T", []), moment("T", [.colonZone]), moment("T", dot), moment("T", dot + [.colonZone]), moment(" ", []),
            moment(" ", [.colonZone]), moment(" ", dot), moment(" ", dot + [.colonZone])),
        Format("%FT%T%z", moment("T", [.zone])),
        Format("%FT%T.%f%z", moment("T", dot + [.zone])),
        Format("%FT%R%z", day + minutes),
        Format("%a, %d %b %Y %T GMT", english + time + greenwich),
        Format("%a, %d %b %Y %T %z", english + time + spacedZone),
        Format("%a %b %d %T %z %Y", american + time + zoneAndYear),
        Format("%Y/%m/%d", slashes),
    ]

    private enum Part {
        case literal(String)
        case year, month, day, hour, minute, second, fraction, zone, colonZone, weekday, monthName
    }

    private static let day: [Part] = [.year, .literal("-"), .month, .literal("-"), .day]
    private static let time: [Part] = [.hour, .literal(":"), .minute, .literal(":"), .second]
    private static let dot: [Part] = [.literal("."), .fraction]
    private static let english: [Part] = [.weekday, .literal(", "), .day, .literal(" "), .monthName, .literal(" "), .year, .literal(" ")]
    private static let greenwich: [Part] = [.literal(" GMT")]
    private static let spacedZone: [Part] = [.literal(" "), .zone]
    private static let american: [Part] = [.weekday, .literal(" "), .monthName, .literal(" "), .day, .literal(" ")]
    private static let zoneAndYear: [Part] = [.literal(" "), .zone, .literal(" "), .year]
    private static let minutes: [Part] = [.literal("T"), .hour, .literal(":"), .minute, .zone]
    private static let slashes: [Part] = [.year, .literal("/"), .month, .literal("/"), .day]

    private static func moment(_ divider: String, _ rest: [Part]) -> [Part] {
        var parts = day
        parts.append(.literal(divider))
        return parts + time + rest
    }

    private static func matches(_ text: String, _ forms: [[Part]]) -> Bool {
        guard text.utf8.count <= 64 else { return false }
        let bytes = Array(text.utf8)
        return forms.contains { form in
            var scanner = Scanner(bytes: bytes)
            for part in form {
                guard scanner.take(part) else { return false }
            }
            return scanner.isAtEnd && scanner.isDate
        }
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0
        var year = 2000, month = 1, day = 1

        var isAtEnd: Bool { position == bytes.count }

        var isDate: Bool {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            return (1...12).contains(month) && (1...[31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]).contains(day)
        }

        mutating func take(_ part: Part) -> Bool {
            switch part {
            case .literal(let text): return skip(text)
            case .year: return number(4, 1...9999, \.year)
            case .month: return number(2, 1...12, \.month)
            case .day: return number(2, 1...31, \.day)
            case .hour: return figures(2, below: 24)
            case .minute, .second: return figures(2, below: 60)
            case .fraction: return digits(1...9)
            case .zone: return zone(withColon: false)
            case .colonZone: return zone(withColon: true)
            case .weekday: return name(among: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]) != nil
            case .monthName:
                let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                guard let index = name(among: months) else { return false }
                month = index + 1
                return true
            }
        }

        private mutating func skip(_ text: String) -> Bool {
            guard bytes[position...].starts(with: text.utf8) else { return false }
            position += text.utf8.count
            return true
        }

        private mutating func digits(_ count: ClosedRange<Int>) -> Bool {
            let found = bytes[position...].prefix(count.upperBound).prefix { (0x30...0x39).contains($0) }.count
            position += found
            return found >= count.lowerBound
        }

        private mutating func figures(_ count: Int) -> Int? {
            let start = position
            guard digits(count...count) else { return nil }
            return Int(String(decoding: bytes[start..<position], as: UTF8.self))
        }

        private mutating func figures(_ count: Int, below limit: Int) -> Bool {
            guard let value = figures(count) else { return false }
            return value < limit
        }

        private mutating func number(_ count: Int, _ range: ClosedRange<Int>, _ slot: WritableKeyPath<Scanner, Int>) -> Bool {
            guard let value = figures(count), range.contains(value) else { return false }
            self[keyPath: slot] = value
            return true
        }

        private mutating func name(among names: [String]) -> Int? {
            for (index, name) in names.enumerated() where skip(name) { return index }
            return nil
        }

        private mutating func zone(withColon: Bool) -> Bool {
            if skip("Z") { return true }
            guard skip("+") || skip("-"), figures(2, below: 24) else { return false }
            if withColon, !skip(":") { return false }
            return figures(2, below: 60)
        }
    }
}
