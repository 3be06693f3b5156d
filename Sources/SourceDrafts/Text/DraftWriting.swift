/// How texts from outside are written into a draft: none of them ends a line, a quote or a comment.
enum DraftWriting {
    /// A text as TOML has it. What could not be seen, or would change how the rest looks, is escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where isVisible(scalar): quoted.unicodeScalars.append(scalar)
            default: quoted += escape(scalar)
            }
        }
        return quoted + "\""
    }

    /// What a comment says, in one line.
    static func comment(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(longestComment) { scalars.append(isVisible(scalar) ? scalar : "\u{FFFD}") }
        return "# " + String(scalars)
    }

    private static let longestComment = 400

    /// The names, quoted and divided by commas; the first few of many.
    static func names(_ names: [String], most: Int = 4) -> String {
        names.prefix(most).map(quoted).joined(separator: ", ") + (names.count > most ? " and \(names.count - most) more" : "")
    }

    static func count(_ number: Int, _ noun: String, _ plural: String) -> String { "\(number) \(number == 1 ? noun : plural)" }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true), width = scalar.value > 0xFFFF ? 8 : 4
        return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }
}
