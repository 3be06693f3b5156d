/// A time in the calendar, in UTC, to the second.
struct CivilTime: Hashable {
    let year: Int
    let month: Int
    let day: Int
    /// Of the day.
    let second: Int

    /// Reads an ISO 8601 time, `2024-01-31T10:00:00.5Z` or a date alone; fractions are dropped; a zone is taken off. Nil: it is none.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        var position = 0
        func number(_ count: Int) -> Int? {
            guard position + count <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[position..<position + count] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            position += count
            return value
        }
        func skip(_ characters: String) -> Bool {
            guard position < bytes.count, characters.utf8.contains(bytes[position]) else { return false }
            position += 1
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), (1...12).contains(month), skip("-"), let day = number(2), (1...31).contains(day)
        else { return nil }
        var second = 0, zone = 0
        if position < bytes.count {
            guard skip("Tt "), let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
            second = hour * 3600 + minute * 60
            if skip(":") {
                guard let seconds = number(2), seconds < 61 else { return nil }
                second += seconds
            }
            if skip(".") { while number(1) != nil {} }
            if position < bytes.count, !skip("Zz") {
                let isWest = position < bytes.count && bytes[position] == UInt8(ascii: "-")
                guard skip("+-"), let hours = number(2) else { return nil }
                _ = skip(":")
                zone = (hours * 3600 + (number(2) ?? 0) * 60) * (isWest ? -1 : 1)
            }
            guard position == bytes.count else { return nil }
        }
        self.init(epoch: Self.days(year, month, day) * 86_400 + second - zone)
    }

    /// - Parameter epoch: seconds since 1970.
    init(epoch: Int) {
        let days = (epoch >= 0 ? epoch : epoch - 86_399) / 86_400
        second = epoch - days * 86_400
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
        let shifted = days + 719_468, era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Seconds since 1970.
    var epoch: Int { Self.days(year, month, day) * 86_400 + second }

    /// `2024-01-31T10:00:00Z`.
    var rfc3339: String { "\(date)T\(time)Z" }

    /// As a pattern of Python writes it; nil: the pattern has a directive that is not known here.
    func text(_ pattern: String) -> String? {
        switch pattern {
        case "%ms": return "\(epoch * 1000)"
        case "%epoch_microseconds": return "\(epoch * 1_000_000)"
        case "%s_as_float": return "\(epoch).0"
        default: break
        }
        var result = "", rest = pattern.replacing("%_ms", with: "000")[...]
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            guard let letter = rest.popFirst(), let text = directive(letter) else { return nil }
            result += text
        }
        return result + rest
    }

    private var date: String { "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))" }
    private var time: String { "\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):\(Self.padded(second % 60, 2))" }

    private func directive(_ letter: Character) -> String? {
        switch letter {
        case "Y": Self.padded(year, 4)
        case "y": Self.padded(year % 100, 2)
        case "m": Self.padded(month, 2)
        case "d": Self.padded(day, 2)
        case "H": Self.padded(second / 3600, 2)
        case "M": Self.padded(second / 60 % 60, 2)
        case "S": Self.padded(second % 60, 2)
        case "f": "000000"
        case "z": "+0000"
        case "s": "\(epoch)"
        case "F": date
        case "T": time
        case "%": "%"
        default: nil
        }
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Days since 1970.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year, era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400, shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// A length of time as ISO 8601 writes it: `P1DT12H`.
struct ISODuration: Hashable {
    /// Rounded up where it has fractions.
    let seconds: Int
    /// Whether it has months or years, which differ in length: a month is taken for 30 days, a year for 365.
    let isRough: Bool

    /// Nil: it is none.
    init?(_ text: String) {
        guard text.hasPrefix("P") else { return nil }
        var total = 0.0, isRough = false, isTime = false, digits = "", count = 0
        for character in text.dropFirst() {
            if ("0"..."9").contains(character) || character == "." {
                digits.append(character)
                continue
            }
            if character == "T", digits.isEmpty, !isTime {
                isTime = true
                continue
            }
            guard let value = Double(digits), value < 1e9 else { return nil }
            digits = ""
            count += 1
            switch (character, isTime) {
            case ("Y", false):
                total += value * 365 * 86_400
                isRough = isRough || value > 0
            case ("M", false):
                total += value * 30 * 86_400
                isRough = isRough || value > 0
            case ("W", false): total += value * 7 * 86_400
            case ("D", false): total += value * 86_400
            case ("H", true): total += value * 3600
            case ("M", true): total += value * 60
            case ("S", true): total += value
            default: return nil
            }
        }
        guard digits.isEmpty, count > 0, total < 4e11 else { return nil }
        seconds = Int(total.rounded(.up))
        self.isRough = isRough
    }
}
