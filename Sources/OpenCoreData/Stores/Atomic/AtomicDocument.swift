import Foundation

/// All that a store holds whose file is read and written as a whole: values that know neither the model nor how a file spells them.
///
/// Data flows one way: rows ⇄ `AtomicDocument` (`AtomicCoding`, which knows the model) ⇄ bytes (an `AtomicFormat`, which does not).
struct AtomicDocument: Equatable {
    var uuid: String
    /// The largest key that was ever given to an object.
    var largestKey: Int64 = 0
    /// A property list: what is kept about the store as a whole.
    var metadata: PropertyList
    var objects: [Object] = []

    struct PropertyList: Equatable {
        var values: [String: Any]

        static func == (left: Self, right: Self) -> Bool { NSDictionary(dictionary: left.values).isEqual(to: right.values) }
    }

    struct Object: Equatable {
        /// The name of its entity, in the spelling of the format.
        var entity: String
        var name: Name
        /// Its version in the store.
        var version: Int64 = 1
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        /// Where it stands in the file; nil if a format has no lines.
        var line: Int?
    }

    /// What the file calls an object: its key, and the entity at the root of its tree where the keys of two trees are the same.
    struct Name: Hashable {
        var key: Int64
        var tree: String?
    }

    struct Attribute: Equatable {
        var name: String
        /// The type, for readers: nobody needs it who knows the model.
        var type: String
        var value: Value
    }

    enum Value: Equatable {
        case text(String)
        case data(Data)
    }

    struct Relationship: Equatable {
        var name: String
        /// The least and the greatest number of members; 0 of the latter is without limit.
        var minCount: Int
        var maxCount: Int
        var destination: String
        /// In order, if it is ordered.
        var members: [Name]
    }
}

/// How a file spells a document.
protocol AtomicFormat: Sendable {
    /// The type of the stores that are kept so.
    var type: String { get }
    /// The names of entities and of properties as they stand in the file: two that become the same can't be told apart there.
    func entityName(_ name: String) -> String
    func propertyName(_ name: String) -> String
    /// Whether an entity may be called so.
    func canName(_ entity: String) -> Bool
    /// Throws 134030 for what the format can't spell.
    func bytes(_ document: AtomicDocument) throws -> Data
    /// Throws 134000 for bytes that are no such file, 134080 for one that is damaged; both with the path and, where there are lines, the line.
    func document(_ bytes: Data, path: String) throws -> AtomicDocument
}

extension AtomicFormat {
    func entityName(_ name: String) -> String { name }
    func propertyName(_ name: String) -> String { name }
    func canName(_ entity: String) -> Bool { true }
}
