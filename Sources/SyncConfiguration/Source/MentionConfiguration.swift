public import JSONPaths

/// An element of `also`: a list of a page that holds no records of the resource, but other objects, which the page mentions.
///
/// Such an object is made, or changed by what is said of it, as one that a record holds is. Nothing follows from its absence.
public struct MentionConfiguration: Sendable, Hashable {
    /// `records`: where the objects are, as ``ResourceConfiguration/records`` are. A page need not have any.
    public var records: JSONPath
    /// `entity`: what they become; it exists in the model, and its key is what its records say.
    public var entity: String
    /// `map_key`: the attribute that is the name under which an object stands; as of a resource. `nil`: names mean nothing.
    public var mapKey: String?
    /// `where`: which objects of the list are meant; `nil`: all.
    public var condition: RecordCondition?

    /// All objects of a list. Nothing is checked.
    public init(records: JSONPath, entity: String) {
        self.records = records
        self.entity = entity
    }
}
