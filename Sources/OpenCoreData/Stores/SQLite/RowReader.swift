import Foundation
import GRDBSQLite

/// Reads the rows of one statement straight into snapshots.
struct RowReader {
    private let shape: RowShape
    private let schema: SQLSchema
    private let identity: StoreIdentity
    private var number: Int64 = -1
    private var current: RowShape.Reader?
    private var packer: RowPacker?
    /// How many rows were read.
    private var count = 0
    /// Recent targets of each to-one: many rows name few, and an ID is an object.
    private var recent: [NSManagedObjectID?]
    private static let memory = 64

    init(_ shape: RowShape, schema: SQLSchema, identity: StoreIdentity) {
        self.shape = shape
        self.schema = schema
        self.identity = identity
        recent = Array(repeating: nil, count: shape.referenceCount * Self.memory)
    }

    /// The current row; nil if it is of an entity that this shape does not know.
    mutating func read(_ statement: OpaquePointer) throws -> FetchedRow? {
        guard let reader = select(sqlite3_column_int64(statement, 1)) else { return nil }
        // A row and its ID take 200 bytes or so.
        if count & 255 == 255 { HeapRoom.make(56 << 10) }
        count += 1
        let map = reader.map, key = sqlite3_column_int64(statement, 0)
        let id = NSManagedObjectID(entity: map.entity, key: key, store: identity, isTemporary: false)
        if let packer {
            let packed = reader.cells.withUnsafeBufferPointer { cells in
                packer.pack(statement, cells, map.layout, version: sqlite3_column_int64(statement, 2)) { target(statement, cells[$0]) }
            }
            if let packed { return FetchedRow(id: id, row: packed) }
        }
        var wrong: Int?
        let row = RowSnapshot.make(map.layout, version: sqlite3_column_int64(statement, 2)) { values in
            if !reader.isComplete { values.initialize(repeating: .null, count: map.layout.count) }
            reader.cells.withUnsafeBufferPointer { cells in
                for number in cells.indices {
                    let value: AttributeValue
                    // SQLite's values are read as they lie there: the connection is used by this thread alone as long as it is read from.
                    let column = sqlite3_column_value(statement, cells[number].index)
                    if sqlite3_value_type(column) == SQLITE_NULL {
                        value = .null
                    } else if cells[number].coding == .reference {
                        value = .objectID(target(statement, cells[number]))
                    } else if let known = ValueCoding.value(
                        column, cells[number].coding, map.layout.attribute(atSlot: cells[number].slot))
                    {
                        value = known
                    } else {
                        wrong = cells[number].slot
                        value = .null
                    }
                    // Where not every slot has a cell, the slots hold nulls already, which need no end.
                    (values + cells[number].slot).initialize(to: value)
                }
            }
        }
        if let wrong {
            let name = map.layout.fullName(wrong)
            if map.layout.kinds[wrong].column == .transformable,
                let reason = TransformableCoding.reason(map.layout.attribute(atSlot: wrong), named: name)
            {
                throw NSError.coreData(.coreData, "Row \(key) of \(shape.table) can't be read. \(reason)")
            }
            throw NSError.coreData(
                .coreData,
                "The stored value of \(map.name).\(map.layout.names[wrong]) in row \(key) of \(shape.table) is not a "
                    + "\(map.layout.kinds[wrong].name).")
        }
        return FetchedRow(id: id, row: row)
    }

    /// Only the ID of the current row, whose first two columns are key and entity.
    mutating func readID(_ statement: OpaquePointer) throws -> NSManagedObjectID? {
        guard let reader = select(sqlite3_column_int64(statement, 1)) else { return nil }
        return NSManagedObjectID(entity: reader.map.entity, key: sqlite3_column_int64(statement, 0), store: identity, isTemporary: false)
    }

    @inline(__always)
    private mutating func select(_ number: Int64) -> RowShape.Reader? {
        if self.number == number { return current }
        guard let reader = shape.reader(number) else { return nil }
        self.number = number
        current = reader
        packer = reader.isPackable ? RowPacker(reader.cells.count) : nil
        return reader
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

/// Which columns are read for objects of some entities of one table, and which slot of which entity each of them fills.
final class RowShape: Sendable {
    /// A column of the result on its way into a slot.
    struct Cell: Sendable {
        let slot: Int
        let index: Int32
        let coding: ColumnCoding
        /// The result column that says of which entity a to-one's target is.
        let entityIndex: Int32
        /// The target entity where no column says otherwise.
        let destination: NSEntityDescription?
        /// The number of this to-one among the shape's, for the reader's memory of recent targets.
        let reference: Int
    }

    let table: String
    /// The result columns: key, entity, version, then the values. Without an alias.
    let columns: [String]
    /// The columns, each of the alias that hardly any statement has another for.
    private let list: String
    private static let alias = "t"
    private let readers: [Int64: Reader]

    /// How the rows of one entity are read.
    final class Reader: Sendable {
        let map: EntityMap
        /// In the order of the slots.
        let cells: [Cell]
        /// Whether every slot has its cell.
        let isComplete: Bool
        /// Whether its rows can be packed, as far as the columns go.
        let isPackable: Bool

        init(_ map: EntityMap, _ cells: [Cell]) {
            self.map = map
            self.cells = cells
            isComplete = cells.map(\.slot) == Array(0..<map.layout.count)
            isPackable = isComplete && cells.allSatisfy { RowPacker.packs($0.coding) }
        }
    }

    let referenceCount: Int

    init(_ members: [EntityMap], table: String) {
        self.table = table
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"], indexes: [String: Int32] = [:]
        func index(of column: String) -> Int32 {
            if let known = indexes[column] { return known }
            let new = Int32(columns.count)
            columns.append(column.sqlName)
            indexes[column] = new
            return new
        }
        var readers: [Int64: Reader] = [:], references: [Int32: Int] = [:]
        for map in members {
            let cells = map.columns.compactMap { column -> Cell? in
                guard let column else { return nil }
                let at = index(of: column.name)
                if column.coding == .reference, references[at] == nil { references[at] = references.count }
                return Cell(
                    slot: column.slot, index: at, coding: column.coding, entityIndex: column.entityColumn.map { index(of: $0) } ?? -1,
                    destination: map.layout.relationship(atSlot: column.slot)?.destinationEntity, reference: references[at] ?? -1)
            }
            readers[map.number] = Reader(map, cells)
        }
        self.columns = columns
        list = Self.list(columns, Self.alias)
        self.readers = readers
        referenceCount = references.count
    }

    func reader(_ number: Int64) -> Reader? { readers[number] }

    /// The columns, each of the table that the alias names.
    func list(alias: String) -> String { alias == Self.alias ? list : Self.list(columns, alias) }

    private static func list(_ columns: [String], _ alias: String) -> String { columns.map { "\(alias).\($0)" }.joined(separator: ", ") }
}
