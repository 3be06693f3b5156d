import Foundation
import GRDBSQLite

/// Binds the values of one row after the other. Strings go into a buffer that outlives the step, so that SQLite need not copy them.
final class RowBinder {
    private let schema: SQLSchema
    private let identity: StoreIdentity
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    /// How much of the buffer strings take.
    private var used = 0
    /// Smaller buffers with strings that are bound still.
    private var former: [UnsafeMutableRawBufferPointer] = []

    init(schema: SQLSchema, identity: StoreIdentity) {
        self.schema = schema
        self.identity = identity
    }

    deinit {
        for buffer in former { buffer.deallocate() }
        buffer.deallocate()
    }

    /// Binds the values of `columns` from `first` on. The statement must be reset before the next call.
    func bind(_ row: RowSnapshot, columns: [SlotColumn], to statement: SQLStatement, from first: Int32) throws {
        begin()
        try bindNext(row, columns: columns, to: statement, from: first)
    }

    /// Lets go of what was bound. Statements must be reset.
    func begin() {
        used = 0
        if former.isEmpty { return }
        for buffer in former { buffer.deallocate() }
        former = []
    }

    /// Binds the values of a further row, beside those since `begin()`.
    func bindNext(_ row: RowSnapshot, columns: [SlotColumn], to statement: SQLStatement, from first: Int32) throws {
        try columns.withUnsafeBufferPointer { columns in
            var index = first
            for number in columns.indices {
                // Not the column itself, which would be copied with its names.
                let slot = columns[number].slot
                switch row[slot] {
                case .int64(let integer): sqlite3_bind_int64(statement.raw, index, integer)
                case .double(let double), .date(let double): sqlite3_bind_double(statement.raw, index, double)
                case .bool(let bool): sqlite3_bind_int64(statement.raw, index, bool ? 1 : 0)
                case .null: sqlite3_bind_null(statement.raw, index)
                case .string(let string) where columns[number].coding == .string:
                    let bytes = keep(string)
                    // A null destructor says that the bytes stay where they are until the statement is bound anew.
                    let code = sqlite3_bind_text(statement.raw, index, bytes.start, bytes.count, nil)
                    if code != SQLITE_OK { throw statement.failure("while binding \(columns[number].name)") }
                case .objectID(let id):
                    if !id.mayBe(in: identity) { throw NSError.leadsElsewhere(row, slot: slot, to: id) }
                    sqlite3_bind_int64(statement.raw, index, id.key)
                case let value:
                    let name = "\(row.entity.name ?? "?").\(row.layout.names[slot])", attribute = row.layout.attribute(atSlot: slot)
                    try statement.bind(ValueCoding.parameter(value, columns[number].coding, attribute: name, attribute), at: index)
                }
                index += 1
                if columns[number].entityColumn != nil {
                    let number = row[slot].objectID.flatMap { schema[$0.entity]?.number }
                    try statement.bind(number.map { .integer($0) } ?? .null, at: index)
                    index += 1
                }
            }
        }
    }

    /// The bytes of a string, at a place where they stay until the next row.
    @inline(__always)
    private func keep(_ string: String) -> (start: UnsafePointer<CChar>, count: Int32) {
        var string = string
        return string.withUTF8 { bytes in
            if bytes.count > buffer.count - used { grow(by: bytes.count) }
            guard let end = buffer.baseAddress else { return (SQLStatement.empty, 0) }
            let start = end + used
            if let base = bytes.baseAddress { start.copyMemory(from: base, byteCount: bytes.count) }
            used += bytes.count
            return (UnsafePointer(start.assumingMemoryBound(to: CChar.self)), Int32(bytes.count))
        }
    }

    /// What is bound already stays where it is.
    private func grow(by count: Int) {
        former.append(buffer)
        buffer = .allocate(byteCount: max(count, buffer.count) * 2, alignment: 1)
        used = 0
    }
}
