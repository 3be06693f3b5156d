/// A source's resource: `github/issues`.
public struct ResourceScope: Hashable, Sendable, LosslessStringConvertible, Comparable {
    public let source: String
    public let resource: String

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

    public var description: String { "\(source)/\(resource)" }

    public static func < (left: ResourceScope, right: ResourceScope) -> Bool {
        (left.source, left.resource) < (right.source, right.resource)
    }
}

extension ResourceScope: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let scope = ResourceScope(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a scope is written SOURCE/RESOURCE")
        }
        self = scope
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
