/// `[model]` and `[entity.…]`: the object graph.
public struct ModelConfiguration: Sendable, Hashable {
    /// How the SQL views and their columns are called.
    public enum Naming: String, Sendable, Hashable, CaseIterable {
        /// As the entities and attributes are.
        case model
    }

    /// A model file; always `nil` in this version.
    public var file: String?
    public var naming = Naming.model
    /// The number of the model, for the migration of existing stores.
    public var version = 1
    /// In the order of the files.
    public var entities: [EntityConfiguration] = []

    /// The built-in values: no entities.
    public init() {}

    /// The entity of this name.
    public func entity(named name: String) -> EntityConfiguration? {
        entities.first { $0.name == name }
    }
}
