import Foundation
import JSONReader
import SyncConfiguration

/// Dates in JSON, to seconds since 2001-01-01 00:00:00 UTC. Hand-written: a formatter takes a thousand times as long.
enum DateConversion {
    /// Between 1970 and 2001.
    private static let offset: Double = 978_307_200

    static func seconds(_ cell: JSONCell, format: DateFormat) -> Double? {
        switch (format, cell) {
        case (.unix, .int64(let value)): return Double(value) - offset
        case (.unix, .double(let value)): return value - offset
        case (.unixMilliseconds, .int64(let value)): return Double(value) / 1000 - offset
        case (.unixMilliseconds, .double(let value)): return value / 1000 - offset
        case (.unixMicroseconds, .int64(let value)): return Double(value) / 1_000_000 - offset
        case (.unixMicroseconds, .double(let value)): return value / 1_000_000 - offset
        case (_, .string(let text)): return text.withUTF8 { seconds($0, format: format) }
        default: return nil
        }
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        if let value = NumberText.double(ofFewDigits: text) { return value }
        guard let number = NumberText(text), let value = Double(number.canonical), value.isFinite else { return nil }
        return value
    }

    static func seconds(_ text: String, format: DateFormat) -> Double? {
        var text = text
        return text.withUTF8 { seconds($0, format: format) }
    }

    /// - Parameter text: UTF-8.
    private static func seconds(_ text: UnsafeBufferPointer<UInt8>, format: DateFormat) -> Double? {
        switch format {
        case .unix: return number(text).map { $0 - offset }
        case .unixMilliseconds: return number(text).map { $0 / 1000 - offset }
        case .unixMicroseconds: return number(text).map { $0 / 1_000_000 - offset }
        case .httpDate: return HTTPDate.parse(String(decoding: text, as: UTF8.self), now: Date()).map(\.timeIntervalSinceReferenceDate)
        case .rfc3339:
            var scanner = DateScanner(text)
            return scanner.rfc3339()
        case .pattern(let pattern):
            var scanner = DateScanner(text)
            return scanner.match(pattern)
        }
    }
}

/// Reads a date from the bytes of a text, while they are there.
private struct DateScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0
    private var fraction = 0.0
    private var zone = 0
    private var isAfternoon: Bool?
    private var epoch: Double?
    private var dayOfYear: Int?

    init(_ text: UnsafeBufferPointer<UInt8>) { bytes = UnsafeBufferPointer(rebasing: text.prefix(256)) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func number(_ digits: ClosedRange<Int>) -> Int? {
        let start = position
        var value = 0
        while let byte = next, position - start < digits.upperBound, byte >= 48, byte <= 57 {
            value = value * 10 + Int(byte - 48)
            position += 1
        }
        return position - start >= digits.lowerBound ? value : nil
    }

    private mutating func readFraction() -> Bool {
        let start = position
        var scale = 0.1
        fraction = 0
        while let byte = next, byte >= 48, byte <= 57 {
            fraction += Double(byte - 48) * scale
            scale /= 10
            position += 1
        }
        return position > start
    }

    private mutating func readZone(colonRequired: Bool) -> Bool {
        if skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return true }
        guard let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        position += 1
        guard let hours = number(2...2), hours < 24 else { return false }
        let colon = skip(UInt8(ascii: ":"))
        if colonRequired && !colon { return false }
        guard let minutes = number(2...2), minutes < 60 else { return false }
        zone = (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
        return true
    }

    private mutating func readDay() -> Bool {
        guard let year = number(4...4), skip(UInt8(ascii: "-")), let month = number(2...2), skip(UInt8(ascii: "-")), let day = number(2...2)
        else { return false }
        (self.year, self.month, self.day) = (year, month, day)
        return true
    }

    private mutating func readTime(seconds: Bool) -> Bool {
        guard let hour = number(2...2), skip(UInt8(ascii: ":")), let minute = number(2...2) else { return false }
        (self.hour, self.minute) = (hour, minute)
        guard seconds else { return true }
        guard skip(UInt8(ascii: ":")), let second = number(2...2) else { return false }
        self.second = second
        return true
    }

    mutating func rfc3339() -> Double? {
        guard readDay() else { return nil }
        if position == bytes.count { return total() }
        guard skip(UInt8(ascii: "T")) || skip(UInt8(ascii: "t")) || skip(UInt8(ascii: " ")), readTime(seconds: true) else { return nil }
        if skip(UInt8(ascii: ".")) && !readFraction() { return nil }
        if position < bytes.count && !readZone(colonRequired: true) { return nil }
        return position == bytes.count ? total() : nil
    }

    mutating func match(_ pattern: String) -> Double? {
        var isDirective = false
        for byte in pattern.utf8 {
            if isDirective {
                isDirective = false
                guard read(byte) else { return nil }
            } else if byte == UInt8(ascii: "%") {
                isDirective = true
            } else if !skip(byte) {
                return nil
            }
        }
        return position == bytes.count ? total() : nil
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private mutating func word() -> String {
        let start = position
        while let byte = next, (65...90).contains(byte & 0xDF) { position += 1 }
        return String(decoding: bytes[start..<position].map { $0 | 0x20 }, as: UTF8.self)
    }

    private mutating func take(_ digits: ClosedRange<Int>, _ slot: WritableKeyPath<DateScanner, Int>) -> Bool {
        guard let value = number(digits) else { return false }
        self[keyPath: slot] = value
        return true
    }

    private mutating func read(_ directive: UInt8) -> Bool {
        switch Character(UnicodeScalar(directive)) {
        case "Y": return take(4...4, \.year)
        case "y":
            guard let short = number(2...2) else { return false }
            year = short + (short < 69 ? 2000 : 1900)
            return true
        case "m": return take(1...2, \.month)
        case "d", "e":
            _ = skip(UInt8(ascii: " "))
            return take(1...2, \.day)
        case "j":
            dayOfYear = number(1...3)
            return dayOfYear != nil
        case "b", "B":
            let name = word()
            guard name.count >= 3, let index = Self.months.firstIndex(where: { name.hasPrefix($0) }) else { return false }
            month = index + 1
            return true
        case "a", "A": return !word().isEmpty
        case "H", "I": return take(1...2, \.hour)
        case "p":
            let half = word()
            guard half == "am" || half == "pm" else { return false }
            isAfternoon = half == "pm"
            return true
        case "M": return take(1...2, \.minute)
        case "S": return take(1...2, \.second)
        case "f": return readFraction()
        case "z": return readZone(colonRequired: false)
        case "s":
            let negative = skip(UInt8(ascii: "-"))
            guard let value = number(1...18) else { return false }
            epoch = Double(negative ? -value : value)
            return true
        case "F": return readDay()
        case "T": return readTime(seconds: true)
        case "R": return readTime(seconds: false)
        case "%": return skip(UInt8(ascii: "%"))
        default: return false
        }
    }

    /// Seconds since 2001, if the parts are a date that exists. A leap second counts as the second after it.
    private func total() -> Double? {
        if let epoch { return epoch + fraction - 978_307_200 }
        var hour = hour
        if let isAfternoon {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        guard (1...12).contains(month), hour < 24, minute < 60, second <= 60 else { return nil }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days: Int
        if let dayOfYear {
            guard (1...(leap ? 366 : 365)).contains(dayOfYear) else { return nil }
            days = CalendarDay(year: year, month: 1, day: 1).number + dayOfYear - 1
        } else {
            let length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            guard (1...length).contains(day) else { return nil }
            days = CalendarDay(year: year, month: month, day: day).number
        }
        return Double(days * 86_400 + hour * 3600 + minute * 60 + second - zone) + fraction - 978_307_200
    }
}
