/// How a date is written in the JSON.
public enum DateFormat: Sendable, Hashable, CustomStringConvertible {
    /// RFC 3339 text, `2019-10-06T09:28:06.25Z`. Two relaxations, because real data has them: without a zone the time is UTC, and a
    /// date alone means its midnight in UTC.
    case rfc3339
    /// Seconds since 1970, a number (a fraction is kept) or a text holding one.
    case unix
    /// Milliseconds since 1970.
    case unixMilliseconds
    /// Microseconds since 1970.
    case unixMicroseconds
    /// The date of HTTP headers, `Sun, 06 Nov 1994 08:49:37 GMT`.
    case httpDate
    /// A pattern of the directives in ``directives``; everything else stands for itself. Without `%z` or `%s` the time is UTC.
    case pattern(String)

    /// The letters that may follow `%` in a pattern: year (`Y`, two digits `y`), month (`m`, names `b` `B`), day (`d`, `e`, of the year
    /// `j`), weekday names (`a` `A`, read and ignored), hour (`H`, of twelve `I` with `p`), minute, second, fraction of a second (`f`,
    /// one to nine digits), zone (`z`: `Z`, `+0200` or `+02:00`), seconds since 1970 (`s`), `F` = `%Y-%m-%d`, `T` = `%H:%M:%S`,
    /// `R` = `%H:%M`, and `%%`.
    public static let directives: Set<Character> = [
        "Y", "y", "m", "b", "B", "d", "e", "j", "a", "A", "H", "I", "p", "M", "S", "f", "z", "s", "F", "T", "R", "%",
    ]

    /// Whether a time is written as a number.
    package var isNumber: Bool {
        switch self {
        case .unix, .unixMilliseconds, .unixMicroseconds: true
        case .rfc3339, .httpDate, .pattern: false
        }
    }

    /// The format as the configuration writes it.
    public var description: String {
        switch self {
        case .rfc3339: "rfc3339"
        case .unix: "unix"
        case .unixMilliseconds: "unix-ms"
        case .unixMicroseconds: "unix-us"
        case .httpDate: "http-date"
        case .pattern(let pattern): pattern
        }
    }

    /// Reads the configuration's word for a format, or a pattern; `nil` for a word that is neither, or an unknown directive.
    public init?(_ text: String) {
        switch text {
        case "rfc3339": self = .rfc3339
        case "unix": self = .unix
        case "unix-ms": self = .unixMilliseconds
        case "unix-us": self = .unixMicroseconds
        case "http-date": self = .httpDate
        default:
            guard text.contains("%") else { return nil }
            var rest = text[...]
            while let percent = rest.firstIndex(of: "%") {
                let letter = rest.index(after: percent)
                guard letter < rest.endIndex, Self.directives.contains(rest[letter]) else { return nil }
                rest = rest[rest.index(after: letter)...]
            }
            self = .pattern(text)
        }
    }
}

/// A text as a TOML basic string.
package func tomlQuoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case "\n": quoted += "\\n"
        case "\t": quoted += "\\t"
        case "\r": quoted += "\\r"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

/// A key as TOML writes it: bare where it may be, quoted elsewhere.
package func tomlKey(_ key: String) -> String {
    let bare =
        !key.isEmpty
        && key.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
        }
    return bare ? key : tomlQuoted(key)
}
