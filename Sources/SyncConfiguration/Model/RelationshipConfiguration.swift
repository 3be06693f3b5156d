import JSONPaths

/// A relationship of an entity.
public struct RelationshipConfiguration: Sendable, Hashable {
    /// How the other side is known.
    public enum Inverse: Sendable, Hashable {
        /// Neither side names the other. Whoever builds the model adds a hidden inverse if it needs one.
        case none
        /// Named here: this relationship of the target, which exists and points back.
        case declared(String)
        /// Not named here; this relationship of the target names this one.
        case implied(String)

        /// The relationship of the target.
        public var name: String? {
            switch self {
            case .none: nil
            case .declared(let name), .implied(let name): name
            }
        }
    }

    /// What becomes of the targets when the object goes.
    public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
        case nullify
        case cascade
        case deny
        case noAction = "no-action"
    }

    /// How the JSON names the targets.
    public enum Match: String, Sendable, Hashable, CaseIterable {
        /// By the token: an object is embedded, a scalar is a key, an array is several of either.
        case auto
        /// Objects, found or made by their key.
        case embedded
        /// One value of the target's key.
        case key
        /// An array of values of the target's key.
        case keys
    }

    public var name: String
    /// The target entity; it exists in the model.
    public var destination: String
    /// Where the record holds the targets; the first path that exists counts. Empty: matched by name (``NameMatch``).
    public var paths: [JSONPath] = []
    public var isToMany = false
    public var isOrdered = false
    public var inverse = Inverse.none
    public var onDelete = DeleteRule.nullify
    public var match = Match.auto

    public init(name: String, destination: String) {
        self.name = name
        self.destination = destination
    }
}
