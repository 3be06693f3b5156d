import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Writes records straight into packed rows: from the bytes of the page, with no object and no string made for any of them. It belongs to one thread at a time,
/// which need not be that of a context: objects that records name by their keys are only listed, and are looked up when the rows are inserted.
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
    /// The objects that rows in the builder name, each once.
    private(set) var targets: [Target] = []
    /// Their numbers among the targets, by entity.
    private var numbers: [Int: [AttributeValue: Int]] = [:]
    /// The destinations of the mapping's relationships, and what each of these was in the record before.
    private let destinations: [EntityMapping]
    private var recent: [(cell: Int64, number: Int)?]

    /// An object that a record names by its key.
    struct Target: Sendable {
        let mapping: EntityMapping
        let value: AttributeValue

        var key: UniqueKey { UniqueKey([value]) }
    }

    /// Nil for an entity whose records are not packed.
    init?(_ mapping: EntityMapping, among all: ModelMapping, now: Date, run: Int64) {
        guard mapping.isPacked else { return nil }
        destinations = mapping.relationships.compactMap { all.entities[$0.destination] }
        recent = Array(repeating: nil, count: destinations.count)
        self.mapping = mapping
        self.now = now.timeIntervalSinceReferenceDate
        self.run = run
        builder = RowBlockBuilder(mapping.layout)
    }

    /// - Parameter hash: of the record, with the mapping's salt.
    /// - Returns: whether the record's row is in the builder now.
    func add(_ record: JSONRecord, at place: Int, hash: Int64) -> Bool {
        let known = targets.count
        for step in mapping.steps {
            let fits =
                switch step {
                case .value(let cell): put(record, cell)
                case .target(let index): put(record, target: index)
                case .now: builder.put(date: now)
                case .run: builder.put(integer: run)
                case .hash: builder.put(integer: hash)
                case .no: builder.put(bool: false)
                case .fixed(let value): builder.put(value)
                }
            if !fits {
                builder.beginRow()
                forgetTargets(after: known)
                return false
            }
        }
        guard builder.endRow() else {
            forgetTargets(after: known)
            return false
        }
        places.append(place)
        return true
    }

    /// Writes which object a relationship leads to.
    ///
    /// - Returns: false if the record says it otherwise than by a key, or by none that is one.
    private func put(_ record: JSONRecord, target index: Int) -> Bool {
        let field = mapping.relationships[index], cell = record[field.field], destination = destinations[index]
        switch cell {
        case .missing, .null: return builder.putNull()
        case .object, .array: return false
        case .int64(let integer):
            if let recent = recent[index], recent.cell == integer { return builder.put(target: recent.number) }
        default: break
        }
        guard destination.keys.count == 1 else { return false }
        var token: JSONRawValue?
        if case .double = cell { token = record.rawValue(of: field.field) }
        guard let value = try? destination.keys[0].conversion.value(cell, token: token), !value.isNull else { return false }
        let number = number(of: Target(mapping: destination, value: value))
        if case .int64(let integer) = cell { recent[index] = (integer, number) }
        return builder.put(target: number)
    }

    private func number(of target: Target) -> Int {
        let entity = target.mapping.entity.number
        if let known = numbers[entity]?[target.value] { return known }
        targets.append(target)
        numbers[entity, default: [:]][target.value] = targets.count - 1
        return targets.count - 1
    }

    /// A record that goes another way names its objects there.
    private func forgetTargets(after count: Int) {
        while targets.count > count {
            let target = targets.removeLast()
            numbers[target.mapping.entity.number]?[target.value] = nil
        }
        for index in recent.indices where recent[index].map({ $0.number >= count }) == true { recent[index] = nil }
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
        try builder.append(records.rows, targets: records.targets.map { number(of: $0) })
        places.append(contentsOf: records.places)
    }

    /// What was added, for another packer; nil where the records do not follow each other in the page, or are none.
    func records(in spill: BlockSpill) -> PackedRecords? {
        guard let first = places.first, places.last == first + places.count - 1 else { return nil }
        return PackedRecords(rows: builder.rows(in: spill), places: first..<first + places.count, targets: targets)
    }

    /// Forgets what was added.
    func removeAll() {
        forgetTargets(after: 0)
        places.removeAll(keepingCapacity: true)
        builder.removeAll()
    }

    /// What was added as drafts, in order, with what each of them names, by slot.
    func drafts() -> [(draft: Draft, targets: [(slot: Int, object: Target?)])] {
        let slots = mapping.relationships.compactMap(\.slot)
        return places.enumerated().compactMap { number, place in
            let row = builder.row(number), named = builder.targets(ofRow: number)
            guard let key = mapping.layout.constraints[0].key(of: row) else { return nil }
            return (Draft(mapping: mapping, key: key, row: row.copy(), at: place), slots.map { ($0, named[$0].map { targets[$0] }) })
        }
    }
}

/// Records that were packed, and where they stand in the page.
struct PackedRecords: Sendable {
    let rows: BuiltRows
    let places: Range<Int>
    /// The objects that they name.
    let targets: [RecordPacker.Target]
}

extension EntityMapping {
    /// Whether new records are rows that can be packed: what they name beside their values are objects of other entities, by their keys.
    var isPacked: Bool {
        entity.comesInBlocks
            && relationships.allSatisfy { $0.slot != nil && !$0.isOneToOne && $0.match != .embedded && $0.destination != name }
    }

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
        /// The object that one of the relationships leads to.
        case target(Int)
        case now
        case run
        case hash
        case no
        case fixed(AttributeValue)
    }
}
