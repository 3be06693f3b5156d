/// What becomes of the text of a value before it is read as its attribute's type: one word of `transform`.
///
/// Numbers, truth values and JSON are no texts, and stay as they are. Where an attribute is part of a key, keys by which others name its object are
/// transformed alike.
public enum TextTransform: Sendable, Hashable, CustomStringConvertible {
    /// White space at both ends goes, line breaks too.
    case trim
    /// Letters become small, whatever the language of the machine.
    case lower
    /// Letters become capitals.
    case upper
    /// A text without a character is null.
    case emptyToNull
    /// What is behind so many characters goes: 1 to 1,000,000. A character is what a reader takes for one.
    case truncate(Int)

    /// The words without a number.
    static let words = ["trim", "lower", "upper", "empty-to-null"]
    static let lengths = 1...1_000_000

    /// The transform that a configuration writes so; nil: there is none.
    public init?(_ text: String) {
        switch text {
        case "trim": self = .trim
        case "lower": self = .lower
        case "upper": self = .upper
        case "empty-to-null": self = .emptyToNull
        default:
            guard text.hasPrefix("truncate:"), let length = Int(text.dropFirst(9)), Self.lengths.contains(length) else { return nil }
            self = .truncate(length)
        }
    }

    /// As a configuration writes it.
    public var description: String {
        switch self {
        case .trim: "trim"
        case .lower: "lower"
        case .upper: "upper"
        case .emptyToNull: "empty-to-null"
        case .truncate(let length): "truncate:\(length)"
        }
    }

    /// Whether it is about letters, of which numbers, dates and identifiers have none to lose.
    var isForTextOnly: Bool {
        switch self {
        case .trim, .emptyToNull: false
        case .lower, .upper, .truncate: true
        }
    }

    /// The text that becomes of a text; nil: null.
    public func callAsFunction(_ text: String) -> String? {
        switch self {
        case .trim: String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        case .lower: text.lowercased()
        case .upper: text.uppercased()
        case .emptyToNull: text.isEmpty ? nil : text
        case .truncate(let length): String(text.prefix(length))
        }
    }
}
