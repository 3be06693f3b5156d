import Foundation
import GRDBSQLite

/// Packs rows as they come from a statement, in a place of its own of which each row is a copy of the right size.
final class RowPacker {
    /// How many bytes of text a packed row holds at most: a long text would be copied each time it is asked for.
    static let textLimit = 512
    private let count: Int
    private let space: UnsafeMutablePointer<UInt64>
    private var used = 0

    init(_ count: Int) {
        self.count = count
        space = .allocate(capacity: PackedRow.size(count, bytes: Self.textLimit))
    }

    deinit { space.deallocate() }

    /// Whether columns of this kind can be packed.
    static func packs(_ coding: ColumnCoding) -> Bool {
        switch coding {
        case .integer, .boolean, .double, .date, .string, .uuid, .reference: true
        case .data, .decimal, .uri, .transformable: false
        }
    }

    /// Packs the values of the current row.
    ///
    /// - Returns: nil, with nothing left behind, if there is too much text or a value makes no sense; the row has to be read another way.
    func pack(
        _ statement: OpaquePointer, _ cells: UnsafeBufferPointer<RowShape.Cell>, _ layout: EntityLayout, version: Int64,
        target: (Int) -> NSManagedObjectID
    ) -> RowSnapshot? {
        let row = PackedRow(space, count)
        used = 0
        for slot in cells.indices where !set(slot, of: row, statement, cells, target) {
            for earlier in 0..<slot where row[kindAt: earlier] == .objectID { row.releaseReferences([earlier]) }
            return nil
        }
        return RowSnapshot.packed(layout, version: version, words: space, bytes: used)
    }

    @inline(__always)
    private func set(
        _ slot: Int, of row: PackedRow, _ statement: OpaquePointer, _ cells: UnsafeBufferPointer<RowShape.Cell>,
        _ target: (Int) -> NSManagedObjectID
    ) -> Bool {
        // SQLite's values are read as they lie there: the connection is used by this thread alone as long as it is read from.
        let value = sqlite3_column_value(statement, cells[slot].index)
        if sqlite3_value_type(value) == SQLITE_NULL {
            row[kindAt: slot] = .null
            return true
        }
        switch cells[slot].coding {
        case .integer:
            row.words[slot] = UInt64(bitPattern: sqlite3_value_int64(value))
            row[kindAt: slot] = .int64
        case .boolean:
            row.words[slot] = sqlite3_value_int64(value) != 0 ? 1 : 0
            row[kindAt: slot] = .bool
        case .double:
            row.words[slot] = sqlite3_value_double(value).bitPattern
            row[kindAt: slot] = .double
        case .date:
            row.words[slot] = sqlite3_value_double(value).bitPattern
            row[kindAt: slot] = .date
        case .string:
            // The text comes before its length: it may have to be converted.
            let text = sqlite3_value_text(value), length = Int(sqlite3_value_bytes(value))
            guard used + length <= Self.textLimit else { return false }
            row.setBytes(text, length, at: used, slot: slot, .string)
            used += length
        case .uuid:
            let bytes = sqlite3_value_blob(value)
            guard sqlite3_value_bytes(value) == 16, used + 16 <= Self.textLimit else { return false }
            row.setBytes(bytes, 16, at: used, slot: slot, .uuid)
            used += 16
        case .reference: row.setReference(target(slot), slot: slot)
        case .data, .decimal, .uri, .transformable: return false
        }
        return true
    }
}
