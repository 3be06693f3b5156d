/// `[entity.X]`: a kind of object, its properties and what it is recognised by.
public struct EntityConfiguration: Sendable, Hashable {
    public var name: String
    /// One or more of its attributes, unique together. Never empty in a configuration that was read: without the key `key` it is the
    /// attribute `id`, else `remoteID`.
    public var key: [String]
    /// In the order of the files.
    public var attributes: [AttributeConfiguration]
    /// In the order of the files.
    public var relationships: [RelationshipConfiguration]

    public init(
        name: String, key: [String], attributes: [AttributeConfiguration] = [], relationships: [RelationshipConfiguration] = []
    ) {
        self.name = name
        self.key = key
        self.attributes = attributes
        self.relationships = relationships
    }

    /// The attribute of this name.
    public func attribute(named name: String) -> AttributeConfiguration? {
        attributes.first { $0.name == name }
    }

    /// The relationship of this name.
    public func relationship(named name: String) -> RelationshipConfiguration? {
        relationships.first { $0.name == name }
    }
}
