/// `[[source]]`: one remote service, with one resource (the short form) or several.
public struct SourceConfiguration: Sendable, Hashable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    public var isEnabled = true
    /// What the paths of the resources are appended to; `nil` in the short form with `url`.
    public var baseURL: String?
    /// At least one; in the short form, one of the source's own name.
    public var resources: [ResourceConfiguration]

    public init(name: String, baseURL: String? = nil, resources: [ResourceConfiguration] = []) {
        self.name = name
        self.baseURL = baseURL
        self.resources = resources
    }

    /// The resource of this name.
    public func resource(named name: String) -> ResourceConfiguration? {
        resources.first { $0.name == name }
    }
}
