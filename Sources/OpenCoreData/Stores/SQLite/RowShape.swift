import Foundation

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
        self.readers = readers
        referenceCount = references.count
    }

    func reader(_ number: Int64) -> Reader? { readers[number] }

    /// The columns, each of the table that the alias names.
    func list(alias: String) -> String { columns.map { "\(alias).\($0)" }.joined(separator: ", ") }
}
