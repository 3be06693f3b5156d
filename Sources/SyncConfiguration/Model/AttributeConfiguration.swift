import JSONPaths

/// An attribute of an entity.
public struct AttributeConfiguration: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    /// Where its value stands in the record; the first path that exists counts. Empty: matched by name (``NameMatch``).
    public var paths: [JSONPath] = []
    public var isOptional = true
    public var defaultValue: AttributeDefault?
    public var isIndexed = false
    /// For dates.
    public var format = DateFormat.rfc3339

    public init(name: String, type: AttributeType) {
        self.name = name
        self.type = type
    }
}
