/// The text of a path is malformed or asks for something this version does not do.
public struct JSONPathError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the trouble is.
    public enum Problem: Sendable, Hashable {
        /// Not a path: what is wrong, and what to write instead.
        case malformed(String)
        /// A wildcard, filter, slice, list, search or count from the end: a part of the language that is not in this version.
        case notInThisVersion(String)
    }

    /// The text as it was given.
    public let text: String
    /// Where the trouble is: the first character is 1.
    public let position: Int
    /// What the trouble is.
    public let problem: Problem

    /// The trouble in words.
    public var reason: String {
        switch problem {
        case .malformed(let reason): reason
        case .notInThisVersion(let what): "\(what) is not in this version"
        }
    }

    /// One line with the text of the path, the character and the reason.
    public var description: String {
        "JSON path \"\(text)\", character \(position): \(reason)"
    }
}
