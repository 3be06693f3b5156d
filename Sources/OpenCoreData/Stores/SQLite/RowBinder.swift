import Foundation
import GRDBSQLite

/// Binds the values of one row after the other. Strings go into a buffer that outlives the step, so that SQLite need not copy them.
final class RowBinder {
    private let schema: SQLSchema
    let identity: StoreIdentity
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

    /// Binds the values of a packed row, each as it lies there: the bytes stay until the statement is bound anew. That the objects that it names may be in
    /// the store was looked at before.
    ///
    /// - Parameter parameters: by slot: how far from `first` its value goes; -1: nowhere.
    func bindPacked(_ row: PackedRow, _ parameters: [Int32], to statement: SQLStatement, from first: Int32) throws {
        let raw = statement.raw
        try parameters.withUnsafeBufferPointer { parameters in
            try row.walk(0..<row.count) { slot, kind, place in
                guard parameters[slot] >= 0 else { return }
                let index = first + parameters[slot]
                let code: Int32
                switch kind {
                case .null: code = sqlite3_bind_null(raw, index)
                case .int8: code = sqlite3_bind_int64(raw, index, Int64(place.load(as: Int8.self)))
                case .int16: code = sqlite3_bind_int64(raw, index, Int64(place.loadUnaligned(as: Int16.self)))
                case .int32: code = sqlite3_bind_int64(raw, index, Int64(place.loadUnaligned(as: Int32.self)))
                case .int64: code = sqlite3_bind_int64(raw, index, place.loadUnaligned(as: Int64.self))
                case .no: code = sqlite3_bind_int64(raw, index, 0)
                case .yes: code = sqlite3_bind_int64(raw, index, 1)
                case .double, .date: code = sqlite3_bind_double(raw, index, place.loadUnaligned(as: Double.self))
                case .wholeDouble, .wholeDate: code = sqlite3_bind_double(raw, index, Double(place.loadUnaligned(as: Int32.self)))
                case .shortString: code = bind(text: place + 1, Int32(place.load(as: UInt8.self)), to: raw, index)
                case .string: code = bind(text: place + 2, Int32(place.loadUnaligned(as: UInt16.self)), to: raw, index)
                case .uuid: code = sqlite3_bind_blob(raw, index, place, 16, nil)
                case .data: code = sqlite3_bind_blob(raw, index, place + 4, Int32(place.loadUnaligned(as: UInt32.self)), nil)
                case .objectID: code = sqlite3_bind_int64(raw, index, PackedRow.reference(place)._withUnsafeGuaranteedRef { $0.key })
                }
                if code != SQLITE_OK { throw statement.failure("while binding a value of a block") }
            }
        }
    }

    private func bind(text: UnsafeRawPointer, _ count: Int32, to statement: OpaquePointer, _ index: Int32) -> Int32 {
        sqlite3_bind_text(statement, index, text.assumingMemoryBound(to: CChar.self), count, nil)
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
