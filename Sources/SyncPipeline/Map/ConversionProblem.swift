import JSONReader

/// Why a value does not fit an attribute: the reason for which the record is set aside.
struct ConversionProblem: Error, Sendable {
    let path: String
    let message: String
    /// A value is of another type than its property.
    var isMismatch = false
    /// The record lacks what it has to say: that fails its page.
    var isMissing = false
    /// What the record says, where only its beginning stands in the message; nil: the message has all that it says of it.
    var cutText: String?

    /// So much of what a record says stands in a message, in characters.
    private static let mostQuoted = 40
    /// So much of it is kept to find secrets that the message has a part of.
    private static let mostKept = 8192

    /// The same, told of another place.
    func moved(to path: String, _ message: String) -> ConversionProblem {
        ConversionProblem(path: path, message: message, isMismatch: isMismatch, isMissing: isMissing, cutText: cutText)
    }

    /// The same without the secrets that a server has sent back, and without the part of one that the message was cut in.
    func redacted(by redactor: Redactor) -> ConversionProblem {
        var words = message
        if let cutText, redactor.finds(in: cutText) {
            words = words.replacing(Self.quoted(cutText), with: Self.quoted(redactor.redact(cutText)))
        }
        return ConversionProblem(path: path, message: redactor.redact(words), isMismatch: isMismatch, isMissing: isMissing)
    }

    /// As much of what a record says as stands in a message.
    static func quoted(_ text: String) -> String { String(text.prefix(mostQuoted)) }

    /// What a record says, as far as it is kept; nil: a message has all of it.
    static func cut(_ text: String) -> String? { text.dropFirst(mostQuoted).isEmpty ? nil : String(text.prefix(mostKept)) }
}

extension JSONCell {
    /// The value in a few words, for messages.
    var brief: String {
        switch self {
        case .missing: "a missing value"
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bigNumber(let digits): ConversionProblem.quoted(String(digits))
        case .string(let text): "\"\(ConversionProblem.quoted(String(text)))\""
        case .raw(let text): ConversionProblem.quoted(String(text))
        case .object: "an object"
        case .array: "a list"
        }
    }

    /// The value, as far as it is kept, where those words have only its beginning.
    var cutText: String? {
        switch self {
        case .bigNumber(let digits): ConversionProblem.cut(String(digits))
        case .string(let text): ConversionProblem.cut(String(text))
        case .raw(let text): ConversionProblem.cut(String(text))
        case .missing, .null, .bool, .int64, .double, .object, .array: nil
        }
    }
}
