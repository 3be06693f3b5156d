import Foundation
import GRDBSQLite

/// Packs rows as they come from a statement, in a place of its own of which each row is a copy of the right size.
final class RowPacker {
    /// How many bytes of text a packed row holds at most: a long text would be copied each time it is asked for.
    static let textLimit = 512
    private let count: Int
    private let space: UnsafeMutableRawPointer

    init(_ count: Int) {
        self.count = count
        space = .allocate(byteCount: PackedRow.limit(count, text: Self.textLimit), alignment: MemoryLayout<UInt64>.alignment)
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
        var writer = ValueWriter(place: space + count)
        for slot in cells.indices {
            guard let kind = writer.put(statement, cells[slot], slot, target) else {
                PackedRow(space, count).releaseReferences(before: slot)
                return nil
            }
            space.storeBytes(of: kind.rawValue, toByteOffset: slot, as: UInt8.self)
        }
        assert(writer.place <= space + PackedRow.limit(count, text: Self.textLimit), "a packed row is longer than any may be")
        return RowSnapshot.packed(layout, version: version, bytes: UnsafeRawBufferPointer(start: space, count: writer.place - space))
    }
}

/// Writes the values of one row of a statement.
private struct ValueWriter {
    private var writer: PackedRowWriter
    private var text = 0

    /// Where the next value goes.
    var place: UnsafeMutableRawPointer { writer.place }

    init(place: UnsafeMutableRawPointer) { writer = PackedRowWriter(place: place) }

    /// Puts a value in its place and says what it is.
    @inline(__always)
    mutating func put(
        _ statement: OpaquePointer, _ cell: RowShape.Cell, _ slot: Int, _ target: (Int) -> NSManagedObjectID
    ) -> PackedRow.Kind? {
        // SQLite's values are read as they lie there: the connection is used by this thread alone as long as it is read from.
        let value = sqlite3_column_value(statement, cell.index)
        if sqlite3_value_type(value) == SQLITE_NULL { return .null }
        switch cell.coding {
        case .integer: return writer.put(integer: sqlite3_value_int64(value))
        case .boolean: return sqlite3_value_int64(value) != 0 ? .yes : .no
        case .double: return writer.put(double: sqlite3_value_double(value))
        case .date: return writer.put(date: sqlite3_value_double(value))
        case .string:
            // The text comes before its length: it may have to be converted.
            let text = sqlite3_value_text(value), length = Int(sqlite3_value_bytes(value))
            guard self.text + length <= RowPacker.textLimit else { return nil }
            self.text += length
            return writer.put(text: text, length)
        case .uuid:
            let bytes = sqlite3_value_blob(value)
            guard sqlite3_value_bytes(value) == 16 else { return nil }
            return writer.put(uuid: bytes)
        case .reference: return writer.put(reference: target(slot))
        case .data, .decimal, .uri, .transformable: return nil
        }
    }
}
