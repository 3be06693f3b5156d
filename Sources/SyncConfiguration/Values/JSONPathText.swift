/// A place in a JSON document, written as a path (`$.owner.login`, `$['full name'][0]`) or as a JSON Pointer (`/owner/login`).
///
/// Only the form is checked here: no wildcards, no filters, no counting from the end. The text stays as written beside its canonical
/// form, so that whoever compiles the path may use either.
public struct JSONPathText: Sendable, Hashable, CustomStringConvertible {
    /// One step down.
    public enum Segment: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    /// The canonical form, beginning with `$`.
    public let text: String
    /// What stood in the configuration.
    public let original: String
    /// The steps from the root of the document, or of the record; none for `$`.
    public let segments: [Segment]

    /// Whether it was written as a pointer with a number in it, such as `/items/0` or `/4217`. A pointer does not say whether the number is
    /// an index or a key; ``segments`` holds an index, and an object that is met instead of an array has a key of these digits.
    public let isAmbiguous: Bool

    public var description: String { text }

    /// The record or document itself.
    public static let root = JSONPathText(segments: [])

    /// A path of the given steps.
    public init(segments: [Segment]) {
        self.segments = segments
        self.text = Self.canonical(segments)
        self.original = self.text
        self.isAmbiguous = false
    }

    /// Reads a path or a pointer.
    /// - Throws: ``Complaint`` saying what is wrong with it.
    public init(_ original: String) throws(Complaint) {
        var parser = JSONPathParser(original)
        self.segments = try parser.parse()
        self.original = original
        self.text = Self.canonical(segments)
        self.isAmbiguous = original.hasPrefix("/") && segments.contains { if case .index = $0 { true } else { false } }
    }

    /// Two spellings of one place are equal.
    public static func == (left: JSONPathText, right: JSONPathText) -> Bool {
        left.segments == right.segments && left.isAmbiguous == right.isAmbiguous
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(segments)
    }

    /// The same place as a JSON Pointer; empty for the whole document. An index becomes a number, as pointers write it.
    public var pointer: String {
        segments.map { segment in
            switch segment {
            case .key(let key):
                "/"
                    + key.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                    .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
            case .index(let index): "/\(index)"
            }
        }.joined()
    }

    /// The key of the record this path names, if it is one step to a key and nothing more.
    public var singleKey: String? {
        if segments.count == 1, case .key(let key) = segments[0] { key } else { nil }
    }

    /// Why a text is not a path.
    public enum Complaint: Error, Sendable, Hashable {
        /// Not a path at all, in words.
        case malformed(String)
        /// A wildcard, filter, slice, recursive descent or negative index: a part of the language that is not in this version.
        case notInThisVersion(String)
    }

    private static func canonical(_ segments: [Segment]) -> String {
        var text = "$"
        for segment in segments {
            switch segment {
            case .index(let index): text += "[\(index)]"
            case .key(let key) where JSONPathParser.isPlain(key): text += ".\(key)"
            case .key(let key):
                let quoted = key.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
                text += "['\(quoted)']"
            }
        }
        return text
    }
}
