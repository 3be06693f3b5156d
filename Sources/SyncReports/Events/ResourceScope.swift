/// A source's resource, `github/issues`, or one part of a resource that is one list for each of many things: `github/issues[42]`.
public struct ResourceScope: Hashable, Sendable, LosslessStringConvertible, Comparable {
    /// The name of the source in the configuration, the part before the `/`.
    public let source: String
    /// The name of the resource within its source, what follows the first `/`.
    public let resource: String
    /// What the part is called, in brackets; nil: it is the resource as a whole.
    public let partition: String?

    /// Joins the names. They are not checked: one that is empty, a source with a `/`, or a resource with a `[`, gives a scope that does not read back
    /// as itself.
    public init(source: String, resource: String, partition: String? = nil) {
        self.source = source
        self.resource = resource
        self.partition = partition
    }

    /// Reads `github/issues` and `github/issues[42]`; nil if it is not made like that.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        if let bracket = parts[1].firstIndex(of: "["), parts[1].hasSuffix("]") {
            let partition = parts[1][bracket...].dropFirst().dropLast()
            guard bracket > parts[1].startIndex, !partition.isEmpty else { return nil }
            self.init(source: String(parts[0]), resource: String(parts[1][..<bracket]), partition: String(partition))
        } else {
            self.init(source: String(parts[0]), resource: String(parts[1]))
        }
    }

    /// The resource as a whole.
    public var whole: ResourceScope { partition == nil ? self : ResourceScope(source: source, resource: resource) }

    /// `github/issues` or `github/issues[42]`: what ``init(_:)`` reads.
    public var description: String { "\(source)/\(resource)" + (partition.map { "[\($0)]" } ?? "") }

    /// By source, then by resource, then by part, each by Unicode order.
    public static func < (left: ResourceScope, right: ResourceScope) -> Bool {
        (left.source, left.resource, left.partition ?? "") < (right.source, right.resource, right.partition ?? "")
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
