/// A source's resource: `github/issues`.
public struct ResourceScope: Hashable, Sendable, CustomStringConvertible, Comparable {
    public let source: String
    public let resource: String

    public init(source: String, resource: String) {
        self.source = source
        self.resource = resource
    }

    public var description: String { "\(source)/\(resource)" }

    public static func < (left: ResourceScope, right: ResourceScope) -> Bool {
        (left.source, left.resource) < (right.source, right.resource)
    }
}
