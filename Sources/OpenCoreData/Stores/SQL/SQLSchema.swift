import Foundation

extension ColumnCoding {
    /// Where columns of this kind stand in their table: keys and integers, then times, then text, then blobs.
    var rank: Int {
        switch self {
        case .integer, .boolean, .reference: 0
        case .date, .double: 1
        case .decimal: 2
        case .string, .uri: 3
        case .data, .uuid, .transformable: 4
        }
    }
}

/// The column of one slot.
struct SlotColumn: Sendable {
    let slot: Int
    let name: String
    let coding: ColumnCoding
    /// Of a to-one whose target may be of a subentity: the column that says which.
    let entityColumn: String?

    /// Its columns in the table.
    var names: [String] { [name, entityColumn].compactMap { $0 } }
}

/// A table of pairs: a many-to-many, or a to-many without an inverse.
struct JoinTable: Sendable {
    let name: String
    /// Columns of the side whose relationship names the table, and of the other.
    let ownerColumn: String
    let memberColumn: String
    /// The order of the members of an owner, and of the owners of a member, where the relationship keeps one.
    let ownerOrderColumn: String?
    let memberOrderColumn: String?
    let relationship: NSRelationshipDescription
}

/// Where the members of a to-many are found.
enum ToManyPlace: Sendable {
    /// In the rows that name the owner: table and column of the inverse to-one, and the column that orders them.
    case inverse(table: String, column: String, entityColumn: String?, order: String?)
    /// In a join table, seen from one of its sides.
    case pairs(join: Int, mine: String, theirs: String, order: String?, isOwnerSide: Bool)
}

/// One table: an entity tree.
struct TableMap: Sendable {
    let name: String
    /// The numbers (`Z_ENT`) of the tree's entities that this store keeps.
    let members: [Int64]
    /// The number under which the keys of the table are counted: that of the tree's root, if it is kept, as it is everywhere else.
    let root: Int64
    let columns: [(name: String, declaration: String)]
    var indexes: [IndexMap] = []
    /// Join tables that name rows of this table, with the column that does.
    let joins: [(table: String, column: String)]
    /// How its rows are summed, if they are.
    let sum: (any SQLRowSum)?
}

/// One index.
struct IndexMap: Sendable {
    let name: String
    let sql: String
    let isUnique: Bool
    /// What it is over, and what its condition names.
    let columns: [String]
}

/// A uniqueness constraint of an entity, in columns.
struct ConstraintMap: Sendable {
    let columns: [SlotColumn]
    /// The entities whose rows it covers, where those are not all of the table.
    let scope: [Int64]?
}

/// How one entity maps to its table.
final class EntityMap: Sendable {
    let entity: NSEntityDescription
    let layout: EntityLayout
    /// `Z_ENT` in this file.
    let number: Int64
    let table: Int
    let tableName: String
    /// By slot; nil for a transient.
    let columns: [SlotColumn?]
    /// Those that hold what objects are given; the others are computed.
    let givenColumns: [SlotColumn]
    /// By number of the to-many.
    let toManys: [ToManyPlace?]
    let constraints: [ConstraintMap]

    init(
        entity: NSEntityDescription, number: Int64, table: Int, tableName: String, columns: [SlotColumn?], toManys: [ToManyPlace?],
        constraints: [ConstraintMap]
    ) {
        self.entity = entity
        self.layout = entity.layout
        self.number = number
        self.table = table
        self.tableName = tableName
        self.columns = columns
        givenColumns = columns.compactMap { $0 }.filter { !entity.layout.derivedSlots.contains($0.slot) }
        self.toManys = toManys
        self.constraints = constraints
    }

    var name: String { entity.name ?? "?" }
}

/// How the entities of a store map to tables: computed once when the store is opened.
final class SQLSchema: Sendable {
    let dialect: any SQLDialect
    let tables: [TableMap]
    let joins: [JoinTable]
    /// In the order of their numbers.
    let entities: [EntityMap]
    private let byModelNumber: [Int: EntityMap]
    private let byFileNumber: [Int64: EntityMap]

    init(dialect: any SQLDialect, tables: [TableMap], joins: [JoinTable], entities: [EntityMap]) {
        self.dialect = dialect
        self.tables = tables
        self.joins = joins
        self.entities = entities
        byModelNumber = Dictionary(uniqueKeysWithValues: entities.map { ($0.entity.number, $0) })
        byFileNumber = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, $0) })
    }

    subscript(entity: NSEntityDescription) -> EntityMap? { byModelNumber[entity.number] }
    subscript(file number: Int64) -> EntityMap? { byFileNumber[number] }

    /// The map of an entity that the store is known to keep.
    func map(of entity: NSEntityDescription) throws -> EntityMap {
        guard let map = byModelNumber[entity.number], map.entity === entity else {
            throw NSError.coreData(.coreData, "This store does not keep entity \(entity.name ?? "?").")
        }
        return map
    }

    /// The numbers of an entity and its descendants in this file.
    func numbers(of entity: NSEntityDescription, includingSubentities: Bool = true) -> [Int64] {
        (includingSubentities ? entity.withDescendants : [entity]).compactMap { byModelNumber[$0.number]?.number }.sorted()
    }
}

extension String {
    /// As an identifier in SQL.
    var sqlName: String { "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
    /// As a text constant in SQL.
    var sqlText: String { "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'" }
}
