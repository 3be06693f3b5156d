/// `for_each`: the parts that a resource consists of. Each is a list of its own, with requests, validators and deletions of its own.
public struct PartitionConfiguration: Sendable, Hashable {
    /// What there is a part for.
    public enum Kind: Sendable, Hashable {
        /// `values`: one for each of these.
        case values([String])
        /// `resource`: one for each object that another resource lists.
        case parents(Parents)
    }

    /// Objects that another resource lists.
    public struct Parents: Sendable, Hashable {
        /// What lists them: `github/repos`.
        public var resource: String
        /// The entity of its records.
        public var entity: String
        /// `where`: a predicate that the objects have to fulfil; `nil`: all of them.
        public var filter: String?

        /// All objects that a resource lists.
        public init(resource: String, entity: String) {
            self.resource = resource
            self.entity = entity
        }
    }

    /// `for_each.as`: what templates call the part's value or object.
    public var alias: String
    /// `for_each.values` or `for_each.resource`.
    public var kind: Kind

    /// Parts that templates know by a name.
    public init(as alias: String, _ kind: Kind) {
        self.alias = alias
        self.kind = kind
    }

    /// The objects, if it is objects that there is a part for.
    public var parents: Parents? {
        if case .parents(let parents) = kind { parents } else { nil }
    }
}

/// `set`: what a property of every record's object is, whatever the record says.
public struct AssignedProperty: Sendable, Hashable {
    /// An attribute or a to-one of the resource's entity.
    public var name: String
    /// What its value is made of: `{repo.fullName}` for an attribute, `{repo}` for a to-one.
    public var template: Template

    /// A property and its value.
    public init(name: String, _ template: Template) {
        self.name = name
        self.template = template
    }
}
