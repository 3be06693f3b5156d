/// The text of a path is malformed or asks for something this version does not do.
public struct JSONPathError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text as it was given.
    public let text: String
    /// Where the trouble is: the first character is 1.
    public let position: Int
    /// What is wrong, and what to write instead.
    public let reason: String

    public var description: String {
        "JSON path \"\(text)\", character \(position): \(reason)"
    }
}
