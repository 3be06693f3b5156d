/// `[model]` and `[entity.…]`: the object graph.
public struct ModelConfiguration: Sendable, Hashable {
    /// The number of the model. The store has it in its metadata, as the version identifier of the model that it was last opened with.
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
