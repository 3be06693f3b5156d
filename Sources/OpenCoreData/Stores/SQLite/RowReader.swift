import Foundation
import GRDBSQLite

/// Reads the rows of one statement straight into snapshots.
struct RowReader {
    private let shape: RowShape
    private let schema: SQLiteSchema
    private let identity: StoreIdentity
    private var current: (number: Int64, map: EntityMap, cells: [RowShape.Cell])?
    /// Recent targets of each to-one: many rows name few, and an ID is an object.
    private var recent: [NSManagedObjectID?]
    private static let memory = 64

    init(_ shape: RowShape, schema: SQLiteSchema, identity: StoreIdentity) {
        self.shape = shape
        self.schema = schema
        self.identity = identity
        recent = Array(repeating: nil, count: shape.referenceCount * Self.memory)
    }

    /// The current row; nil if it is of an entity that this shape does not know.
    mutating func read(_ statement: OpaquePointer) throws -> FetchedRow? {
        guard let (map, cells) = try select(sqlite3_column_int64(statement, 1)) else { return nil }
        let key = sqlite3_column_int64(statement, 0)
        let row = RowSnapshot.make(map.layout, version: sqlite3_column_int64(statement, 2))
        for cell in cells where sqlite3_column_type(statement, cell.index) != SQLITE_NULL {
            if cell.coding == .reference {
                row.update(cell.slot, to: .objectID(target(statement, cell)))
            } else if let value = ValueCoding.value(statement, cell.index, cell.coding) {
                row.update(cell.slot, to: value)
            } else {
                throw NSError.coreData(
                    .coreData,
                    "The stored value of \(map.name).\(map.layout.names[cell.slot]) in row \(key) of \(shape.table) is not a "
                        + "\(map.layout.types[cell.slot].words).")
            }
        }
        return FetchedRow(id: NSManagedObjectID(entity: map.entity, key: key, store: identity, isTemporary: false), row: row)
    }

    /// Only the ID of the current row, whose first two columns are key and entity.
    mutating func readID(_ statement: OpaquePointer) throws -> NSManagedObjectID? {
        guard let (map, _) = try select(sqlite3_column_int64(statement, 1)) else { return nil }
        return NSManagedObjectID(entity: map.entity, key: sqlite3_column_int64(statement, 0), store: identity, isTemporary: false)
    }

    @inline(__always)
    private mutating func select(_ number: Int64) throws -> (EntityMap, [RowShape.Cell])? {
        if let current, current.number == number { return (current.map, current.cells) }
        guard let reader = shape.reader(number) else { return nil }
        current = (number, reader.map, reader.cells)
        return (reader.map, reader.cells)
    }

    private mutating func target(_ statement: OpaquePointer, _ cell: RowShape.Cell) -> NSManagedObjectID {
        let key = sqlite3_column_int64(statement, cell.index)
        var entity = cell.destination
        if cell.entityIndex >= 0, sqlite3_column_type(statement, cell.entityIndex) != SQLITE_NULL {
            entity = schema[file: sqlite3_column_int64(statement, cell.entityIndex)]?.entity ?? entity
        }
        guard let entity else { Violation.misuse("a to-one of \(shape.table) has no destination entity") }
        let place = cell.reference * Self.memory + Int(key & Int64(Self.memory - 1))
        if let known = recent[place], known.key == key, known.entity === entity { return known }
        let made = NSManagedObjectID(entity: entity, key: key, store: identity, isTemporary: false)
        recent[place] = made
        return made
    }
}
