import Foundation

/// Encodes a push.
struct PushRecordWriter {
    private var writer: ByteWriter
    private let stores: [String]

    /// - Parameter stores: those of the file's header.
    init(stores: [String]) {
        self.stores = stores
        writer = ByteWriter(reserving: 1024)
    }

    var bytes: [UInt8] { writer.bytes }

    /// Throws 134030 for a value that can't be archived.
    mutating func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws {
        for (id, row) in rows {
            tag(.foundation, id)
            try values(row, slots: 0..<row.count)
        }
        try changes.forEach { id, change in
            switch change.kind {
            case .deleted: tag(.delete, id)
            case .inserted:
                guard let row = change.row else { return }
                tag(.insert, id)
                slots(change.changed.slots)
                try values(row, slots: 0..<row.count)
            case .updated:
                guard let row = change.row else { return }
                let stored = change.changed.slots.filter { !row.layout.isTransient[$0] }
                tag(.update, id)
                slots(stored)
                try values(row, slots: stored)
            }
        }
        for (key, pairs) in changes.pairs {
            tag(.pairs, key.owner)
            writer.number(key.toMany)
            ids(pairs.removed)
            ids(pairs.added)
        }
        for (key, order) in changes.orders {
            tag(.order, key.owner)
            writer.number(key.toMany)
            ids(order)
        }
    }

    mutating func forget(_ forget: PushForget) {
        writer.fixed(forget.entries.lowerBound)
        writer.fixed(forget.entries.upperBound)
        writer.byte(forget.ids == nil ? 0 : 1)
        if let some = forget.ids { ids(some) }
    }

    /// Entry, u8 whether it is committed, those that are none any more, the others, and what became of these. Throws 134030 as `write` does.
    mutating func turn(_ turn: PushTurn, at entry: UInt64, isCommitted: Bool) throws {
        writer.fixed(entry)
        writer.byte(isCommitted ? 1 : 0)
        ids(turn.identities.keys)
        ids(turn.identities.values)
        try write(turn.changes, needing: turn.rows)
    }

    private mutating func tag(_ tag: PushRecord.Tag, _ id: NSManagedObjectID) {
        writer.byte(tag.rawValue)
        reference(id)
    }

    private mutating func slots(_ slots: [Int]) {
        writer.number(slots.count)
        for slot in slots { writer.number(slot) }
    }

    private mutating func ids(_ ids: some Collection<NSManagedObjectID>) {
        writer.number(ids.count)
        for id in ids { reference(id) }
    }

    /// Entity, key, and the store: 0 none yet, else its place in the header, or one past the last and its UUID.
    private mutating func reference(_ id: NSManagedObjectID) {
        writer.number(id.layout.number)
        writer.number(UInt64(bitPattern: id.key))
        guard let uuid = id.storeIdentity.uuid else { return writer.byte(0) }
        let place = stores.firstIndex(of: uuid) ?? stores.count
        writer.number(place + 1)
        if place == stores.count { writer.string(uuid) }
    }

    private mutating func values(_ row: RowSnapshot, slots: some Sequence<Int>) throws {
        for slot in slots { try value(row.layout.isTransient[slot] ? .null : row[slot], of: row, slot) }
    }

    private mutating func value(_ value: AttributeValue, of row: RowSnapshot, _ slot: Int) throws {
        func tag(_ tag: PushRecord.ValueTag) { writer.byte(tag.rawValue) }
        switch value {
        case .null: tag(.null)
        case .int64(let value):
            tag(.int64)
            writer.number(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
        case .double(let value):
            tag(.double)
            writer.fixed(value.bitPattern)
        case .bool(let value): tag(value ? .yes : .no)
        case .date(let value):
            tag(.date)
            writer.fixed(value.bitPattern)
        case .string(let value):
            tag(.string)
            writer.string(value)
        case .data(let value):
            tag(.data)
            writer.data(value)
        case .uuid(let value):
            tag(.uuid)
            withUnsafeBytes(of: value.uuid) { writer.append(Array($0)) }
        case .decimal(let value):
            tag(value.isNaN ? .null : .decimal)
            if !value.isNaN { writer.string(value.description) }
        case .objectID(let id):
            tag(.objectID)
            reference(id)
        case .object(let box):
            if row.layout.kinds[slot].column == .uri, let url = box.value.base as? URL {
                tag(.url)
                return writer.string(url.absoluteString)
            }
            tag(.archive)
            writer.data(try TransformableCoding.data(box.value, of: row.layout.attribute(atSlot: slot), named: row.layout.fullName(slot)))
        }
    }
}
