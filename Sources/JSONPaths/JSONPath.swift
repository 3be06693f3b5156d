/// The path from a JSON value down to a value inside it: keys of objects and indices of arrays. With wildcards it leads to several values.
///
/// Written `$`, `$.a.b`, `$['a key']`, `$.list[0]`, `$.groups[*].items`, or as a JSON Pointer (RFC 6901), which has no wildcards: ``, `/a/b`, `/list/0`,
/// `/a~1b`. ``description`` gives the `$` form, whichever was read.
public struct JSONPath: Sendable, Hashable {
    /// One step down.
    public enum Segment: Sendable, Hashable {
        /// Into the object's value of this key. Keys compare byte by byte.
        case key(String)
        /// Into the array's element of this index, counted from 0. When an object is met instead of an array, the digits are taken as its
        /// key, because a JSON Pointer such as `/4217` does not say which of the two it means.
        case index(Int)
        /// Into every element of the array, or every value of the object, in the document's order: `[*]`, `.*`.
        case each
    }

    /// The steps, from the outside to the inside. Empty: the value itself.
    public let segments: [Segment]

    /// Whether it leads to as many values as there are.
    public var hasWildcard: Bool { segments.contains(.each) }

    /// A path from its steps. An index must lie in `0 ... 4294967295`; another one traps.
    public init(segments: [Segment]) {
        for case .index(let index) in segments {
            precondition(JSONPath.indices.contains(index), "JSONPath: array index \(index) is outside of 0...4294967295")
        }
        self.segments = segments
    }

    /// A path of keys only.
    public init(keys: [String]) {
        self.init(segments: keys.map(Segment.key))
    }

    /// `$`: the value itself.
    public static let root = JSONPath(segments: [])

    static let indices = 0...Int(UInt32.max)

    /// The path that goes on from this one.
    public func appending(_ segment: Segment) -> JSONPath {
        JSONPath(segments: segments + [segment])
    }
}

extension JSONPath: CustomStringConvertible {
    /// The canonical `$` form: `$.a.b`, `$['3166-1'][0]`.
    public var description: String {
        var text = "$"
        for segment in segments {
            switch segment {
            case .index(let index):
                text += "[\(index)]"
            case .each:
                text += "[*]"
            case .key(let key) where JSONPath.isPlain(key):
                text += ".\(key)"
            case .key(let key):
                text += "['"
                for character in key.unicodeScalars {
                    switch character {
                    case "'": text += "\\'"
                    case "\\": text += "\\\\"
                    default: text.unicodeScalars.append(character)
                    }
                }
                text += "']"
            }
        }
        return text
    }

    /// Whether a key stands after a dot in the canonical form: one that does not look like a number in front.
    static func isPlain(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return key.unicodeScalars.allSatisfy(isWord)
    }

    /// What may stand after a dot without quotes: everything beyond ASCII, as RFC 9535 has it, and the hyphen besides, which many keys have.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: scalar.value >= 0x80
        }
    }
}

extension JSONPath: ExpressibleByStringLiteral {
    /// For paths written in a program; a malformed one traps. Text from outside goes through ``init(parsing:)``.
    public init(stringLiteral value: String) {
        do {
            self = try JSONPath(parsing: value)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
