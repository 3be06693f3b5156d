/// `[[source]]`: one remote service, with one resource (the short form) or several.
public struct SourceConfiguration: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    public var isEnabled = true
    /// At least one; in the short form, one of the source's own name.
    public var resources: [ResourceConfiguration]

    public init(name: String, resources: [ResourceConfiguration] = []) {
        self.name = name
        self.resources = resources
    }

    /// The resource of this name.
    public func resource(named name: String) -> ResourceConfiguration? {
        resources.first { $0.name == name }
    }
}
