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
    private let constants: RecordConstants
    /// What a row is, slot by slot.
    private let steps: [EntityMapping.Step]
    private let longestList: Int
    private let now: Double
    private let run: Int64
    /// Where the records stand whose rows are in the builder, in the page.
    private(set) var places: [Int] = []
    /// The objects that rows in the builder name, list and hold, each once.
    private(set) var targets: [Target] = []
    /// Their numbers among the targets, by entity.
    private var numbers: [Int: [UniqueKey: Int]] = [:]
    /// Those of them that are held, by the hash of what was last said.
    private var held: [UInt64: Int] = [:]
    /// The lists about which records say nothing.
    private var silences: [Silence] = []
    /// The destinations of the mapping's relationships, and what each of these was in the record before.
    private let destinations: [EntityMapping]
    private var recent: [(cell: Int64, number: Int)?]
    /// What was said of objects before the record that is being added said something else.
    private var replaced: [(number: Int, target: Target)] = []
    /// What is made of objects that are held: most of them stand in many records.
    private var readings: [UInt64: Reading] = [:]

    private static let mostReadings = 4096

    /// An object that a record names by its key, or holds.
    struct Target: Sendable {
        let mapping: EntityMapping
        let key: UniqueKey
        /// The values that were said; nil: it is only named.
        fileprivate(set) var said: (row: RowSnapshot, present: SlotSet)?
        /// The hash of what was said last, as it stands in the page.
        fileprivate var hash: UInt64 = 0
        /// Whether it was said in several ways, and whether these can't be true at once.
        fileprivate var isComposed = false
        fileprivate(set) var isTwoThings = false

        fileprivate init(mapping: EntityMapping, key: UniqueKey, said: (row: RowSnapshot, present: SlotSet)?, hash: UInt64) {
            self.mapping = mapping
            self.key = key
            self.said = said
            self.hash = hash
        }

        /// One that is only named.
        init(mapping: EntityMapping, key: UniqueKey) { self.init(mapping: mapping, key: key, said: nil, hash: 0) }
    }

    private struct Reading {
        let key: UniqueKey
        let row: RowSnapshot
        let present: SlotSet
    }

    /// A record of which a list is missing: that is not an empty one.
    struct Silence: Sendable {
        /// Which of the records it is.
        var record: Int
        /// The relationship.
        let index: Int
    }

    /// Nil for an entity whose records are not packed.
    init?(
        _ mapping: EntityMapping, among all: ModelMapping, constants: RecordConstants = RecordConstants(), limits: LimitsConfiguration, now: Date,
        run: Int64
    ) {
        guard mapping.isPacked, !constants.targets.values.contains(where: { $0.mapping.name == mapping.name }) else { return nil }
        self.constants = constants
        steps = mapping.steps.enumerated().map { slot, step -> EntityMapping.Step in
            if slot == constants.name?.slot { return .name }
            return constants.values[slot].map { .fixed($0) } ?? constants.targets[slot].map { .object($0) } ?? step
        }
        destinations = mapping.relationships.compactMap { all.entities[$0.destination] }
        recent = Array(repeating: nil, count: destinations.count)
        longestList = limits.maxMembers
        self.mapping = mapping
        self.now = now.timeIntervalSinceReferenceDate
        self.run = run
        builder = RowBlockBuilder(mapping.layout)
    }

    /// - Parameter hash: of the record, with the mapping's salt.
    /// - Returns: whether the record's row is in the builder now.
    func add(_ record: JSONRecord, at place: Int, hash: Int64) -> Bool {
        let known = targets.count, silent = silences.count
        replaced.removeAll(keepingCapacity: true)
        for step in steps {
            let fits =
                switch step {
                case .value(let cell): put(record, cell)
                case .target(let index): put(record, target: index)
                case .now: builder.put(date: now)
                case .run: builder.put(integer: run)
                case .hash: builder.put(integer: hash)
                case .no: builder.put(bool: false)
                case .fixed(let value): builder.put(value)
                case .name: (try? constants.name?.value(of: record)).map { builder.put($0) } ?? false
                case .content: builder.put(.string(record.contentKey(constants)))
                case .object(let target): builder.put(target: number(of: target))
                }
            if !fits { return forget(known, silent) }
        }
        for index in mapping.lists where !list(record, index) { return forget(known, silent) }
        guard builder.endRow() else { return forget(known, silent) }
        places.append(place)
        return true
    }

    /// A record that goes another way names its objects there.
    private func forget(_ known: Int, _ silent: Int) -> Bool {
        builder.beginRow()
        silences.removeLast(silences.count - silent)
        for (number, target) in replaced.reversed() { targets[number] = target }
        forgetTargets(after: known)
        return false
    }

    /// Writes which object a relationship leads to.
    ///
    /// - Returns: false if the record says it otherwise than by a key, or by none that is one.
    private func put(_ record: JSONRecord, target index: Int) -> Bool {
        let field = mapping.relationships[index], cell = record[field.field]
        if cell.isNil { return builder.putNull() }
        var token: JSONRawValue?
        if case .double = cell { token = record.rawValue(of: field.field) }
        guard let number = number(of: cell, token, index) else { return false }
        return builder.put(target: number)
    }

    /// Writes what a record lists.
    ///
    /// - Returns: false if something in the list is unusual.
    private func list(_ record: JSONRecord, _ index: Int) -> Bool {
        let field = mapping.relationships[index], cell = record[field.field]
        // What is only a part means something else where there is a row already.
        guard case .toMany(let toMany) = field.place, field.mode != .replace || !field.addsOnly(record) else { return false }
        func add(_ cell: JSONCell, _ token: JSONRawValue?) throws(Unlisted) {
            if cell.isNil { return }
            guard let number = number(of: cell, token, index) else { throw Unlisted() }
            builder.list(target: number, in: toMany)
        }
        switch cell {
        case .missing: silences.append(Silence(record: places.count, index: index))
        case .array(let items):
            guard items.count <= longestList else { return false }
            do throws(Unlisted) { try items.forEachRaw(add) } catch { return false }
        default:
            var token: JSONRawValue?
            if case .double = cell { token = record.rawValue(of: field.field) }
            do throws(Unlisted) { try add(cell, token) } catch { return false }
        }
        return true
    }

    private struct Unlisted: Error {}

    /// The number of the object that a cell of a relationship means; nil if that is unusual.
    private func number(of cell: JSONCell, _ token: JSONRawValue?, _ index: Int) -> Int? {
        let field = mapping.relationships[index], destination = destinations[index]
        switch cell {
        case .array, .missing, .null: return nil
        case .object(let object): return field.mayHold && field.isLeaf ? number(of: object, destination) : nil
        case .int64(let integer):
            if let recent = recent[index], recent.cell == integer { return recent.number }
        default: break
        }
        guard field.match != .embedded, let key = destination.onlyKey,
            let value = try? key.value(cell, token: token), !value.isNull
        else { return nil }
        let number = number(of: Target(mapping: destination, key: .one(value)))
        if case .int64(let integer) = cell { recent[index] = (integer, number) }
        return number
    }

    /// The number of an object that a record holds.
    private func number(of object: JSONRecord, _ destination: EntityMapping) -> Int? {
        let hash = object.hash.low ^ UInt64(truncatingIfNeeded: destination.entity.number)
        if let number = held[hash], targets[number].hash == hash { return number }
        let reading: Reading
        if let known = readings[hash] {
            reading = known
        } else {
            guard let draft = try? destination.draft(of: object, knowledge: .embedded), draft.mismatches.isEmpty else { return nil }
            reading = Reading(key: draft.key, row: draft.row, present: draft.present)
            if readings.count >= Self.mostReadings { readings.removeAll(keepingCapacity: true) }
            readings[hash] = reading
        }
        return number(of: Target(mapping: destination, key: reading.key, said: (reading.row, reading.present), hash: hash))
    }

    private func number(of target: Target) -> Int {
        let entity = target.mapping.entity.number
        guard let number = numbers[entity]?[target.key] else {
            targets.append(target)
            numbers[entity, default: [:]][target.key] = targets.count - 1
            if target.said != nil { held[target.hash] = targets.count - 1 }
            return targets.count - 1
        }
        guard let said = target.said, target.isComposed || targets[number].hash != target.hash else { return number }
        replaced.append((number, targets[number]))
        if let before = targets[number].said {
            if target.isTwoThings || before.row.differs(from: said.row, inBoth: before.present, said.present) { targets[number].isTwoThings = true }
            var present = before.present
            present.formUnion(said.present)
            targets[number].said = (before.row.overlaid(with: said.row, said.present).row, present)
            targets[number].isComposed = true
        } else {
            targets[number].said = said
            targets[number].isComposed = target.isComposed
            targets[number].isTwoThings = target.isTwoThings
        }
        targets[number].hash = target.hash
        held[target.hash] = number
        return number
    }

    private func forgetTargets(after count: Int) {
        if targets.count == count { return }
        held = count == 0 ? [:] : held.filter { $0.value < count }
        while targets.count > count {
            let target = targets.removeLast()
            numbers[target.mapping.entity.number]?[target.key] = nil
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
        replaced.removeAll(keepingCapacity: true)
        try builder.append(records.rows, targets: records.targets.map { number(of: $0) })
        silences.append(contentsOf: records.silences.lazy.map { [count = places.count] in Silence(record: $0.record + count, index: $0.index) })
        places.append(contentsOf: records.places)
    }

    /// What was added, for another packer; nil where the records do not follow each other in the page, or are none.
    func records(in spill: BlockSpill) -> PackedRecords? {
        guard let first = places.first, places.last == first + places.count - 1 else { return nil }
        return PackedRecords(rows: builder.rows(in: spill), places: first..<first + places.count, targets: targets, silences: silences)
    }

    /// Forgets what was added.
    func removeAll() {
        forgetTargets(after: 0)
        places.removeAll(keepingCapacity: true)
        silences.removeAll(keepingCapacity: true)
        builder.removeAll()
    }

    /// A record as a draft, and the objects that it leads to.
    struct PackedDraft {
        let draft: Draft
        /// By slot; nil: to none.
        let targets: [(slot: Int, object: Target?)]
        /// By index into the relationships; those about which the record says nothing are left out.
        let lists: [(index: Int, objects: [Target])]
    }

    /// What was added, in order.
    func drafts() -> [PackedDraft] {
        let slots = mapping.relationships.compactMap(\.slot) + constants.targets.keys
        var silences = silences[...]
        return places.enumerated().compactMap { number, place in
            var silent: Set<Int> = []
            while let silence = silences.first, silence.record == number {
                silent.insert(silence.index)
                silences.removeFirst()
            }
            let row = builder.row(number), named = builder.targets(ofRow: number), listed = builder.listed(byRow: number)
            guard let key = mapping.layout.constraints[0].key(of: row) else { return nil }
            let lists = mapping.lists.compactMap { index -> (index: Int, objects: [Target])? in
                guard !silent.contains(index), case .toMany(let toMany) = mapping.relationships[index].place else { return nil }
                return (index, (listed[toMany] ?? []).map { targets[$0] })
            }
            let draft = Draft(mapping: mapping, key: key, row: row.copy(), at: place)
            draft.present.formUnion(constants.slots)
            return PackedDraft(
                draft: draft, targets: slots.map { ($0, named[$0].map { targets[$0] }) },
                lists: lists)
        }
    }
}

/// Records that were packed, and where they stand in the page.
struct PackedRecords: Sendable {
    let rows: BuiltRows
    let places: Range<Int>
    /// The objects that they name, list and hold.
    let targets: [RecordPacker.Target]
    let silences: [RecordPacker.Silence]
}

extension EntityMapping {
    /// Whether new records are rows that can be packed: what they lead to beside their values are objects of other entities, which they name by their keys,
    /// or hold as one row each.
    var isPacked: Bool {
        // What a record leaves out is null in a row that is written whole, and what nothing is made of is not looked at.
        entity.comesInBlocks && schema.missingField == .null && schema.unknownFields == .ignore
            && relationships.allSatisfy { field in
                guard field.destination != name, field.match != .embedded || field.isLeaf else { return false }
                return switch field.place {
                case .slot: !field.isOneToOne
                case .toMany(let number): layout.isListable(number)
                case .composite: false
                }
            }
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
        /// The key that is made of all that the record says.
        case content
        /// The name under which the record stands.
        case name
        /// The object that is set for all records of the listing.
        case object(RecordPacker.Target)
    }
}
