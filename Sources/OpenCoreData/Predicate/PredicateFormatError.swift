/// A format string that is not a predicate.
public struct PredicateFormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text as given.
    public let format: String
    /// Where it stops making sense: the number of Unicode scalars before that place.
    public let position: Int
    /// What could have stood there: "a comparison operator", "an argument for %@".
    public let expected: String
    /// What stands there instead.
    public let found: String

    init(format: String, position: Int, expected: String, found: String) {
        self.format = format
        self.position = position
        self.expected = expected
        self.found = found
    }

    public var description: String {
        "predicate format, character \(position + 1): expected \(expected), found \(found), in: \(format)"
    }
}
