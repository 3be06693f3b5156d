/// How a time is written, in the directives of Python's `strftime` and those of manifests besides: `%s`, `%ms`, `%s_as_float`,
/// `%epoch_microseconds`, `%_ms`.
struct TimePattern: Sendable, Hashable {
    let source: String

    private enum Part {
        case literal(Character)
        case directive(String)
    }

    private var parts: [Part] {
        var parts: [Part] = [], rest = source[...]
        let long = ["%s_as_float", "%epoch_microseconds", "%ms", "%_ms"]
        while let first = rest.first {
            if let name = long.first(where: { rest.hasPrefix($0) }) {
                parts.append(.directive(name))
                rest = rest.dropFirst(name.count)
            } else if first == "%", rest.count > 1 {
                parts.append(.directive(String(rest.prefix(2))))
                rest = rest.dropFirst(2)
            } else {
                parts.append(.literal(first))
                rest = rest.dropFirst()
            }
        }
        return parts
    }

    /// Whether times are numbers in it.
    var isNumber: Bool { ["%s", "%ms", "%s_as_float", "%epoch_microseconds"].contains(source) }

    /// The seconds that two times may lie apart and be written alike.
    var granularity: Double {
        if source.contains("%f") || source.contains("%_ms") { return source.contains("%f") ? 0.000_001 : 0.001 }
        switch source {
        case "%ms": return 0.001
        case "%s_as_float", "%epoch_microseconds": return 0.000_001
        default: return source == "%s" || source.contains("%S") || source.contains("%T") ? 1 : 86_400
        }
    }

    // MARK: Writing

    /// Milliseconds since 1970, as it writes them: a number where it is one.
    func value(_ milliseconds: Int) -> DataValue {
        switch source {
        case "%s": return .int(Self.floor(milliseconds, 1000))
        case "%ms": return .int(milliseconds)
        case "%epoch_microseconds": return .int(milliseconds * 1000)
        case "%s_as_float": return .double(Double(milliseconds) / 1000)
        default: return .text(text(milliseconds))
        }
    }

    func text(_ milliseconds: Int) -> String {
        let fields = Fields(milliseconds)
        var text = ""
        for part in parts {
            switch part {
            case .literal(let character): text.append(character)
            case .directive(let name): text += Self.written(name, fields, milliseconds)
            }
        }
        return text
    }

    private static func written(_ name: String, _ fields: Fields, _ milliseconds: Int) -> String {
        switch name {
        case "%Y": padded(fields.year, 4)
        case "%y": padded(fields.year % 100, 2)
        case "%m": padded(fields.month, 2)
        case "%d": padded(fields.day, 2)
        case "%H": padded(fields.hour, 2)
        case "%M": padded(fields.minute, 2)
        case "%S": padded(fields.second, 2)
        case "%f": padded(fields.millisecond * 1000, 6)
        case "%_ms": padded(fields.millisecond, 3)
        case "%z": "+00:00"
        case "%Z": "UTC"
        case "%F": "\(padded(fields.year, 4))-\(padded(fields.month, 2))-\(padded(fields.day, 2))"
        case "%T": "\(padded(fields.hour, 2)):\(padded(fields.minute, 2)):\(padded(fields.second, 2))"
        case "%s": "\(floor(milliseconds, 1000))"
        case "%ms": "\(milliseconds)"
        case "%epoch_microseconds": "\(milliseconds * 1000)"
        case "%s_as_float": "\(Double(milliseconds) / 1000)"
        case "%%": "%"
        default: name
        }
    }

    // MARK: Reading

    /// Milliseconds since 1970; nil where the text is not written so.
    func milliseconds(_ text: String) -> Int? {
        var fields = Fields(0), rest = text[...], absolute: Int?, zone = 0
        for part in parts {
            switch part {
            case .literal(let character):
                guard rest.first == character else { return nil }
                rest = rest.dropFirst()
            case .directive("%s"), .directive("%ms"), .directive("%epoch_microseconds"), .directive("%s_as_float"):
                let digits = rest.prefix { $0.isNumber || $0 == "." }
                rest = rest.dropFirst(digits.count)
                guard let number = Double(digits) else { return nil }
                if case .directive(let name) = part {
                    if name != "%s_as_float", digits.contains(".") { return nil }
                    absolute = name == "%ms" ? Int(number) : name == "%epoch_microseconds" ? Int(number / 1000) : Int(number * 1000)
                }
            case .directive("%z"):
                guard let (offset, length) = Self.zone(rest) else { return nil }
                zone = offset
                rest = rest.dropFirst(length)
            case .directive(let name):
                guard let used = fields.read(name, rest) else { return nil }
                rest = rest.dropFirst(used)
            }
        }
        guard rest.isEmpty else { return nil }
        return absolute ?? fields.milliseconds - zone * 60_000
    }

    /// Minutes east of Greenwich, and how many characters say so.
    private static func zone(_ text: Substring) -> (Int, Int)? {
        if text.hasPrefix("Z") { return (0, 1) }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().prefix { $0.isNumber || $0 == ":" }
        let plain = digits.filter { $0 != ":" }
        guard plain.count == 4, let number = Int(plain) else { return nil }
        let minutes = number / 100 * 60 + number % 100
        return (sign == "-" ? -minutes : minutes, digits.count + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }

    static func floor(_ number: Int, _ divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }

    /// A time by the calendar, in UTC.
    private struct Fields {
        var year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, millisecond: Int

        init(_ milliseconds: Int) {
            let seconds = TimePattern.floor(milliseconds, 1000)
            let days = TimePattern.floor(seconds, 86_400)
            millisecond = milliseconds - seconds * 1000
            let rest = seconds - days * 86_400
            (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
            // Days of the Gregorian calendar, counted from the first of March of the year 0.
            let shifted = days + 719_468
            let era = TimePattern.floor(shifted, 146_097)
            let ofEra = shifted - era * 146_097
            let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
            let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let shiftedMonth = (5 * ofYear + 2) / 153
            day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
            month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }

        var milliseconds: Int {
            let shiftedYear = month <= 2 ? year - 1 : year
            let era = TimePattern.floor(shiftedYear, 400)
            let yearOfEra = shiftedYear - era * 400
            let shiftedMonth = month > 2 ? month - 3 : month + 9
            let ofYear = (153 * shiftedMonth + 2) / 5 + day - 1
            let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
            let days = era * 146_097 + ofEra - 719_468
            return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millisecond
        }

        /// Takes a directive's digits from the front of a text: how many there are, nil where something else stands there.
        mutating func read(_ name: String, _ text: Substring) -> Int? {
            func digits(_ width: Int, in range: ClosedRange<Int>) -> Int? {
                let found = text.prefix(width)
                guard found.count == width, found.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(found) else { return nil }
                return range.contains(number) ? number : nil
            }
            switch name {
            case "%Y":
                guard let number = digits(4, in: 1...9999) else { return nil }
                year = number
                return 4
            case "%m":
                guard let number = digits(2, in: 1...12) else { return nil }
                month = number
            case "%d":
                guard let number = digits(2, in: 1...31) else { return nil }
                day = number
            case "%H":
                guard let number = digits(2, in: 0...23) else { return nil }
                hour = number
            case "%M":
                guard let number = digits(2, in: 0...59) else { return nil }
                minute = number
            case "%S":
                guard let number = digits(2, in: 0...60) else { return nil }
                second = number
            case "%_ms":
                guard let number = digits(3, in: 0...999) else { return nil }
                millisecond = number
                return 3
            case "%f":
                let found = text.prefix { $0.isASCII && $0.isNumber }
                guard (1...9).contains(found.count), let number = Double("0.\(found)") else { return nil }
                millisecond = Int(number * 1000)
                return found.count
            default: return nil
            }
            return 2
        }
    }
}
