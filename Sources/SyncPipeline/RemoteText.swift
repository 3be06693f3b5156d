/// Text from outside, made safe to read: the only functions for terminals, the journal, lines of standard error, status and error columns.
///
/// Escapes, C1 controls, marks that change the direction of writing and other invisible characters become U+FFFD; whatever breaks a line
/// becomes a blank. Letters of every script stay as they are.
public enum RemoteText {
    /// The default maximum of scalars in a line; what is cut off is shown as `…`.
    public static let longestLine = 2_000

    /// `text` as one line.
    public static func line(_ text: String, limit: Int = longestLine) -> String {
        shown(text, limit: limit) { breaksLine($0) || $0 == "\t" ? " " : nil }
    }

    /// `text` with its lines and tabs, for what is shown as it came, such as a record that was set aside.
    public static func block(_ text: String, limit: Int = .max) -> String {
        shown(text, limit: limit) { $0 == "\n" || $0 == "\t" ? $0 : breaksLine($0) ? " " : nil }
    }

    /// Whether the scalar may be shown as it is.
    public static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        // Words of some scripts, and some emoji, need the joiners; a soft hyphen is only a hint.
        case .format: return scalar == "\u{200C}" || scalar == "\u{200D}" || scalar == "\u{AD}"
        default: return true
        }
    }

    private static func shown(_ text: String, limit: Int, _ replacement: (Unicode.Scalar) -> Unicode.Scalar?) -> String {
        // By scalars: "\r\n" is one Character, and equal to neither of its parts.
        let scalars = text.unicodeScalars
        var result = String.UnicodeScalarView()
        var count = 0
        var previous: Unicode.Scalar = " "
        for scalar in scalars {
            defer { previous = scalar }
            if scalar == "\n", previous == "\r", replacement("\n") == " " { continue }
            guard count < limit else {
                result.removeLast()
                result.append("…")
                break
            }
            result.append(replacement(scalar) ?? (isHarmless(scalar) ? scalar : "\u{FFFD}"))
            count += 1
        }
        return String(result)
    }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
