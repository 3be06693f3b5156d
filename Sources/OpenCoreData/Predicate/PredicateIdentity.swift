/// Something that predicates compare by who it is: a managed object, or the ID of one.
///
/// `owner == %@` holds for an object and for its ID alike, because both answer the same identity.
public protocol PredicateIdentity {
    /// What stands for the object: for a managed object its ID, for an ID itself.
    var predicateIdentity: any Hashable & Sendable { get }
}
