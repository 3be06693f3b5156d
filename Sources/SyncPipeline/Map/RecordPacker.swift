import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Writes records of an entity that has nothing but attributes straight into packed rows: from the bytes of the page, with no object and no string made
/// for any of them. It belongs to one thread at a time, which need not be that of a context.
///
/// What does not fit (a value that is not what the attribute takes as it is, a text that is too long) is left to the mapper's own way, which also says
/// what is wrong with it.
final class RecordPacker {
    let builder: RowBlockBuilder
    private let mapping: EntityMapping
    private let now: Double
    private let run: Int64
    /// Where the records stand whose rows are in the builder, in the page.
    private(set) var places: [Int] = []

    /// Nil for an entity whose rows name others, or are not packed.
    init?(_ mapping: EntityMapping, now: Date, run: Int64) {
        guard mapping.isPacked else { return nil }
        self.mapping = mapping
        self.now = now.timeIntervalSinceReferenceDate
        self.run = run
        builder = RowBlockBuilder(mapping.layout)
    }

    /// - Parameter hash: of the record, with the mapping's salt.
    /// - Returns: whether the record's row is in the builder now.
    func add(_ record: JSONRecord, at place: Int, hash: Int64) -> Bool {
        for step in mapping.steps {
            let fits =
                switch step {
                case .value(let cell): put(record, cell)
                case .now: builder.put(date: now)
                case .run: builder.put(integer: run)
                case .hash: builder.put(integer: hash)
                case .no: builder.put(bool: false)
                case .fixed(let value): builder.put(value)
                }
            if !fits {
                builder.beginRow()
                return false
            }
        }
        guard builder.endRow() else { return false }
        places.append(place)
        return true
    }

    /// Writes the value of an attribute.
    ///
    /// - Returns: false if that takes a conversion that can fail, or has failed.
    @inline(__always)
    private func put(_ record: JSONRecord, _ attribute: EntityMapping.Cell) -> Bool {
        let cell = record[attribute.field]
        switch (attribute.form, cell) {
        case (.string, .string(let text)): return text.withUTF8 { builder.put(text: $0) }
        case (.integer, .int64(let value)): return builder.put(integer: value)
        case (.double, .double(let value)): return builder.put(double: value)
        case (.double, .int64(let value)): return builder.put(double: Double(value))
        case (.bool, .bool(let value)): return builder.put(bool: value)
        default: return put(cell, of: record, mapping.attributes[attribute.index])
        }
    }

    private func put(_ cell: JSONCell, of record: JSONRecord, _ attribute: EntityMapping.AttributeField) -> Bool {
        switch (attribute.form, cell) {
        case (.date, _) where !cell.isNil:
            DateConversion.seconds(cell, format: attribute.conversion.attribute.format).map { builder.put(date: $0) } ?? false
        case (_, .null): !attribute.isRequired && builder.putNull()
        case (_, .missing): !attribute.isKey && !(attribute.isRequired && attribute.fallback.isNull) && builder.put(attribute.fallback)
        default: (try? attribute.value(cell, of: record)).map { !($0.isNull && attribute.isRequired) && builder.put($0) } ?? false
        }
    }

    /// Adds records that another packer of the same entity has packed.
    func append(_ records: PackedRecords) throws {
        try builder.append(records.rows)
        places.append(contentsOf: records.places)
    }

    /// What was added, for another packer; nil where the records do not follow each other in the page, or are none.
    func records(in spill: BlockSpill) -> PackedRecords? {
        guard let first = places.first, places.last == first + places.count - 1 else { return nil }
        return PackedRecords(rows: builder.rows(in: spill), places: first..<first + places.count)
    }

    /// Forgets what was added.
    func removeAll() {
        places.removeAll(keepingCapacity: true)
        builder.removeAll()
    }

    /// What was added as drafts, in order.
    func drafts() -> [Draft] {
        places.enumerated().compactMap { number, place in
            let row = builder.row(number)
            guard let key = mapping.layout.constraints[0].key(of: row) else { return nil }
            return Draft(mapping: mapping, key: key, row: row.copy(), at: place)
        }
    }
}

/// Records that were packed, and where they stand in the page.
struct PackedRecords: Sendable {
    let rows: BuiltRows
    let places: Range<Int>
}

extension EntityMapping {
    /// Whether new records are rows that can be packed, and name no others.
    var isPacked: Bool { relationships.isEmpty && entity.comesInBlocks }

    /// What most values of an attribute are written by: no more, since it is copied for each of them.
    struct Cell: Sendable {
        /// Which of the attributes it is.
        let index: Int
        let field: Int
        let form: AttributeField.Form
    }

    /// What a slot of a new record's row is.
    enum Step: Sendable {
        case value(Cell)
        case now
        case run
        case hash
        case no
        case fixed(AttributeValue)
    }

    static func steps(_ layout: EntityLayout, _ attributes: [AttributeField], _ bookkeeping: Bookkeeping) -> [Step] {
        (0..<layout.count).map { slot in
            if let index = attributes.firstIndex(where: { $0.slot == slot }) {
                return .value(Cell(index: index, field: attributes[index].field, form: attributes[index].form))
            }
            return switch slot {
            case bookkeeping.firstSeen, bookkeeping.lastChanged: .now
            case bookkeeping.run: .run
            case bookkeeping.hash: .hash
            case bookkeeping.stub: .no
            default: .fixed(layout.defaults[slot])
            }
        }
    }
}
