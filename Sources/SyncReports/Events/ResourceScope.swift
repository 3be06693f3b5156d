/// A source's resource: `github/issues`.
public struct ResourceScope: Hashable, Sendable, LosslessStringConvertible, Comparable {
    /// The name of the source in the configuration, the part before the `/`.
    public let source: String
    /// The name of the resource within its source, the part after the first `/`.
    public let resource: String

    /// Joins two names. They are not checked: one that is empty, or a source with a `/`, gives a scope that does not read back as itself.
    public init(source: String, resource: String) {
        self.source = source
        self.resource = resource
    }

    /// Reads `github/issues`; nil if it is not made like that.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        self.init(source: String(parts[0]), resource: String(parts[1]))
    }

    /// `github/issues`: what ``init(_:)`` reads.
    public var description: String { "\(source)/\(resource)" }

    /// By source, then by resource, each by Unicode order.
    public static func < (left: ResourceScope, right: ResourceScope) -> Bool {
        (left.source, left.resource) < (right.source, right.resource)
    }
}

extension ResourceScope: Codable {
    /// Reads one string, `github/issues`. Throws `DecodingError.dataCorrupted` if it is not made like that.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let scope = ResourceScope(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a scope is written SOURCE/RESOURCE")
        }
        self = scope
    }

    /// Writes one string, `github/issues`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
