import Foundation

/// Why something given (a record, a value, the name of an attribute) can't be used: what, where, and what to do.
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The entity whose object was to be found or filled.
    public let entity: String
    /// The attribute or relationship, if it is about one.
    public let property: String?
    /// Where in the input, as a path from its root: `$[3].owner.zip`. Nil where there is no input.
    public let place: String?
    /// The value as it was given, in words and shortened; nil if it is not about a value.
    public let value: String?
    /// What is wrong, without the subject.
    public let problem: String
    /// What to do about it.
    public let remedy: String

    init(entity: String, property: String? = nil, place: InputPlace? = nil, value: Any? = nil, problem: String, remedy: String) {
        self.entity = entity
        self.property = property
        self.place = place?.description
        self.value = value.map(Self.words)
        self.problem = problem
        self.remedy = remedy
    }

    /// One line: place, entity and property, value, problem; what to do.
    public var description: String {
        let subject = [place, property.map { "\(entity).\($0)" } ?? entity, value].compactMap(\.self)
        return "\(subject.joined(separator: ": ")): \(problem); \(remedy)"
    }

    /// The same line.
    public var errorDescription: String? { description }

    private static let longest = 80

    private static func words(_ value: Any) -> String {
        let text =
            switch value {
            case is NSNull: "null"
            case let text as String: "\"\(text)\""
            case let truth as Bool where Number.isTruth(value): "\(truth)"
            default: "\(value)"
            }
        return text.count > longest ? "\(text.prefix(longest))…" : text
    }
}

/// A place in the input: the keys and numbers that lead there from its root.
struct InputPlace: Hashable, Sendable, CustomStringConvertible {
    private(set) var description = "$"

    /// The element of this number, counted from 0.
    subscript(number: Int) -> InputPlace {
        var place = self
        place.description += "[\(number)]"
        return place
    }

    /// What the keys lead to, one within the other.
    subscript(path: [String]) -> InputPlace {
        var place = self
        for key in path {
            let isPlain = !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            place.description += isPlain ? ".\(key)" : "['\(key)']"
        }
        return place
    }
}
