/// One version of a model, as a file of Xcode's model editor says it. Names are not resolved yet: an entity may have a parent that is nowhere.
///
/// Lines are those of the file, counted from 1; two files that say the same in other lines are not equal.
package struct ModelFile: Equatable, Sendable {
    /// Where it was read.
    package let path: String
    /// What the developer calls this version; empty unless something was written.
    package var versionIdentifier: String?
    package var entities: [Entity] = []
    package var fetchRequests: [FetchRequest] = []
    package var configurations: [Configuration] = []
    /// The types of composite attributes.
    package var composites: [Composite] = []

    package struct Entity: Equatable, Sendable {
        package let line: Int
        package var name: String
        /// `Module.Class`, or `.Class`, which is the class of that name in whatever module the model is built into.
        package var className: String?
        package var parent: String?
        package var isAbstract = false
        package var renamingIdentifier: String?
        package var versionHashModifier: String?
        package var codeGeneration = CodeGeneration.none
        package var attributes: [Attribute] = []
        package var relationships: [Relationship] = []
        package var fetchedProperties: [FetchedProperty] = []
        package var indexes: [Index] = []
        /// Each names the properties that are unique together.
        package var constraints: [[String]] = []
        package var userInfo: [String: String] = [:]
    }

    /// Who writes the class of an entity.
    package enum CodeGeneration: String, CaseIterable, Sendable {
        /// The developer.
        case none
        /// The build, all of it.
        case `class`
        /// The build, its properties; the developer writes the class.
        case category
    }

    /// What properties of every kind have in common.
    package struct Property: Equatable, Sendable {
        package let line: Int
        package var name: String
        package var isOptional = false
        package var isTransient = false
        package var isIndexed = false
        package var renamingIdentifier: String?
        package var versionHashModifier: String?
        package var userInfo: [String: String] = [:]
    }

    package struct Attribute: Equatable, Sendable {
        package var property: Property
        /// Nil is allowed only for a transient one.
        package var type: AttributeType?
        /// As written; dates as seconds since 2001.
        package var defaultValue: String?
        package var minimum: String?
        package var maximum: String?
        package var regularExpression: String?
        package var transformer: String?
        /// The class of the values of a transformable attribute.
        package var valueClass: String?
        package var derivation: String?
        /// The name of the type of a composite one.
        package var composite: String?
        package var usesScalar = false
        package var allowsExternalStorage = false
        package var preservesAfterDeletion = false
    }

    /// What composite attributes of one type are composed of.
    package struct Composite: Equatable, Sendable {
        package let line: Int
        package var name: String
        package var elements: [Attribute] = []
    }

    /// How a truth value is written; nil for another text.
    package static func truth(_ text: String) -> Bool? {
        ["YES": true, "true": true, "1": true, "NO": false, "false": false, "0": false][text]
    }

    /// Named as the editor names them.
    package enum AttributeType: String, CaseIterable, Sendable {
        case integer16 = "Integer 16"
        case integer32 = "Integer 32"
        case integer64 = "Integer 64"
        case decimal = "Decimal"
        case double = "Double"
        case float = "Float"
        case string = "String"
        case boolean = "Boolean"
        case date = "Date"
        case binary = "Binary"
        case uuid = "UUID"
        case uri = "URI"
        case transformable = "Transformable"
        case objectID = "ObjectID"
        case composite = "Composite"
    }

    package struct Relationship: Equatable, Sendable {
        package var property: Property
        package var destination: String
        package var inverse: String?
        /// The entity that declares the inverse.
        package var inverseEntity: String?
        package var deletionRule = DeletionRule.nullify
        package var isToMany = false
        package var isOrdered = false
        package var minCount = 0
        /// 0: no limit.
        package var maxCount = 1
    }

    /// Named as the editor names them.
    package enum DeletionRule: String, CaseIterable, Sendable {
        case noAction = "No Action"
        case nullify = "Nullify"
        case cascade = "Cascade"
        case deny = "Deny"
    }

    package struct FetchedProperty: Equatable, Sendable {
        package var property: Property
        package var request: FetchRequest
    }

    package struct FetchRequest: Equatable, Sendable {
        package let line: Int
        package var name: String
        package var entity: String
        package var predicate: String?
        /// Core Data's number: 0 objects, 1 IDs, 2 dictionaries, 4 a count.
        package var resultType = 0
        package var limit = 0
        package var batchSize = 0
        package var includesSubentities = true
        package var includesPropertyValues = true
        package var includesPendingChanges = true
        package var returnsObjectsAsFaults = true
        package var returnsDistinctResults = false
    }

    package struct Index: Equatable, Sendable {
        package struct Element: Equatable, Sendable {
            /// Of an expression its words.
            package var property: String
            package var isAscending: Bool
            package var isExpression = false
            package var isRTree = false
        }
        package let line: Int
        package var name: String
        package var elements: [Element] = []
        /// Which objects are in it.
        package var predicate: String?
    }

    package struct Configuration: Equatable, Sendable {
        package let line: Int
        package var name: String
        package var members: [String] = []
    }
}
