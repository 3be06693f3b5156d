import Foundation
import GRDBSQLite

/// Binds the values of one row after the other. Strings go into one buffer that outlives the step, so that SQLite need not copy them.
final class RowBinder {
    private let schema: SQLSchema
    private let identity: StoreIdentity
    private var buffer = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 1)
    private var capacity = 4096

    init(schema: SQLSchema, identity: StoreIdentity) {
        self.schema = schema
        self.identity = identity
    }

    deinit { buffer.deallocate() }

    /// Binds the values of `columns` from `first` on. The statement must be reset before the next call.
    func bind(_ row: RowSnapshot, columns: [SlotColumn], to statement: SQLStatement, from first: Int32) throws {
        var needed = 0
        for column in columns {
            if case .string(let string) = row[column.slot] { needed += string.utf8.count }
        }
        if needed > capacity {
            buffer.deallocate()
            capacity = needed * 2
            buffer = .allocate(byteCount: capacity, alignment: 1)
        }
        var used = 0, index = first
        for column in columns {
            if case .string(var string) = row[column.slot], column.coding == .string {
                let start = buffer + used
                let count = string.withUTF8 { bytes -> Int in
                    if let base = bytes.baseAddress, !bytes.isEmpty { start.copyMemory(from: base, byteCount: bytes.count) }
                    return bytes.count
                }
                used += count
                // A null destructor says that the bytes stay where they are until the statement is bound anew.
                let code = sqlite3_bind_text(
                    statement.raw, index, start.assumingMemoryBound(to: CChar.self), Int32(count), nil)
                if code != SQLITE_OK { throw statement.failure("while binding \(column.name)") }
            } else {
                try bind(row[column.slot], column, row: row, to: statement, at: index)
            }
            index += 1
            if column.entityColumn != nil {
                let number = row[column.slot].objectID.flatMap { schema[$0.entity]?.number }
                try statement.bind(number.map { .integer($0) } ?? .null, at: index)
                index += 1
            }
        }
    }

    private func bind(
        _ value: AttributeValue, _ column: SlotColumn, row: RowSnapshot, to statement: SQLStatement, at index: Int32
    ) throws {
        switch value {
        case .int64(let integer): sqlite3_bind_int64(statement.raw, index, integer)
        case .double(let double), .date(let double): sqlite3_bind_double(statement.raw, index, double)
        case .bool(let bool): sqlite3_bind_int64(statement.raw, index, bool ? 1 : 0)
        case .null: sqlite3_bind_null(statement.raw, index)
        case .objectID(let id):
            if !id.mayBe(in: identity) { throw NSError.leadsElsewhere(row, slot: column.slot, to: id) }
            sqlite3_bind_int64(statement.raw, index, id.key)
        default:
            let name = "\(row.entity.name ?? "?").\(row.layout.names[column.slot])"
            try statement.bind(ValueCoding.parameter(value, column.coding, attribute: name, row.layout.attribute(atSlot: column.slot)), at: index)
        }
    }
}
