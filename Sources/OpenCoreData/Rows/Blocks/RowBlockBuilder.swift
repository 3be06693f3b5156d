import CXXHash
import Foundation

/// Writes rows for a block, value after value in the order of the slots. It belongs to one thread at a time.
///
/// A value that can't be packed, or that a rule of the model does not take, is not written, and the row has to go another way: `put` then says false.
///
/// A to-one is written as the number of an object in a list that whoever makes the block hands in: the objects need not be known before. So is what a row
/// lists in a to-many.
package final class RowBlockBuilder {
    let layout: EntityLayout
    private let slots: [Slot]
    private let keySlots: [Int]
    private let isListable: [Bool]
    // Unchecked, as nobody gets at them while they change: a check for each access costs as much as writing the value.
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var offsets: [UInt32] = [0]
    /// The hashes of the rows' unique keys.
    @exclusivity(unchecked) private(set) var hashes: [UInt64] = []
    @exclusivity(unchecked) private var references: [BuiltRows.Reference] = []
    @exclusivity(unchecked) private var pairs: [BuiltRows.Pair] = []
    /// How many of the pairs are of rows that have ended.
    @exclusivity(unchecked) private var endedPairs = 0
    @exclusivity(unchecked) private var writer: PackedRowWriter
    /// The slot that the next value is for.
    @exclusivity(unchecked) private var slot = 0

    /// More rows are not looked through at once by anybody, and a longer piece of memory is harder to find.
    package static let rowLimit = 8192
    private static let byteLimit = 1 << 20
    private static let pairLimit = 1 << 16

    private struct Slot {
        let form: AttributeValue.Form
        let isReference: Bool
        let isRequired: Bool
        let integers: ClosedRange<Int64>?
    }

    package init(_ layout: EntityLayout) {
        precondition(layout.isBlockable, "\(layout.entity.name ?? "?") has rows that are for no block")
        self.layout = layout
        slots = layout.slots.indices.map { slot in
            let rule = layout.rules.first { $0.slot == slot }
            return Slot(
                form: layout.kinds[slot].form ?? .null, isReference: layout.relationship(atSlot: slot) != nil, isRequired: rule?.isRequired == true,
                integers: layout.kinds[slot].integers)
        }
        keySlots = layout.constraints[0].slots.sorted()
        isListable = layout.toManys.indices.map { layout.isListable($0) }
        capacity = 1 << 16
        bytes = .allocate(byteCount: capacity, alignment: MemoryLayout<UInt64>.alignment)
        writer = PackedRowWriter(place: bytes)
        beginRow()
    }

    deinit { bytes.deallocate() }

    package var count: Int { offsets.count - 1 }
    package var isFull: Bool { count >= Self.rowLimit || offsets[count] >= UInt32(Self.byteLimit) || endedPairs >= Self.pairLimit }

    private var rowStart: Int { Int(offsets[offsets.count - 1]) }

    /// Forgets what was written of a row that has not ended.
    package func beginRow() {
        let start = rowStart
        while let last = references.last, last.place >= start { references.removeLast() }
        if pairs.count > endedPairs { pairs.removeLast(pairs.count - endedPairs) }
        makeRoom(PackedRow.limit(layout.count, text: 0), after: start)
        writer.place = bytes + start + layout.count
        slot = 0
    }

    /// Makes room for so many bytes, whatever is written already.
    private func makeRoom(_ count: Int, after used: Int) {
        if used + count <= capacity { return }
        let place = writer.place - bytes
        capacity = max(capacity * 2, used + count)
        let more = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: MemoryLayout<UInt64>.alignment)
        more.copyMemory(from: bytes, byteCount: max(place, used))
        bytes.deallocate()
        bytes = more
        writer.place = bytes + place
    }

    @inline(__always)
    private func note(_ kind: PackedRow.Kind) {
        bytes.storeBytes(of: kind.rawValue, toByteOffset: rowStart + slot, as: UInt8.self)
        slot += 1
    }

    package func putNull() -> Bool {
        if slots[slot].isRequired { return false }
        note(.null)
        return true
    }

    package func put(integer: Int64) -> Bool {
        guard slots[slot].form == .int64, slots[slot].integers?.contains(integer) != false else { return false }
        note(writer.put(integer: integer))
        return true
    }

    package func put(double: Double) -> Bool {
        guard slots[slot].form == .double, !double.isNaN else { return false }
        note(writer.put(double: double))
        return true
    }

    package func put(date: Double) -> Bool {
        guard slots[slot].form == .date, !date.isNaN else { return false }
        note(writer.put(date: date))
        return true
    }

    package func put(bool: Bool) -> Bool {
        guard slots[slot].form == .bool else { return false }
        note(bool ? .yes : .no)
        return true
    }

    package func put(data: Data) -> Bool {
        guard slots[slot].form == .data, data.count <= PackedRow.longestData else { return false }
        makeRoom(data.count + PackedRow.limit(layout.count - slot, text: 4), after: writer.place - bytes)
        note(data.withUnsafeBytes { writer.put(data: $0) })
        return true
    }

    /// - Parameter text: UTF-8.
    package func put(text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard slots[slot].form == .string, text.count <= PackedRow.longestText else { return false }
        makeRoom(text.count + PackedRow.limit(layout.count - slot, text: 2), after: writer.place - bytes)
        note(writer.put(text: text.baseAddress, text.count))
        return true
    }

    /// - Parameter target: the number of an object.
    package func put(target: Int) -> Bool {
        guard slots[slot].isReference else { return false }
        references.append(BuiltRows.Reference(place: UInt32(writer.place - bytes), target: UInt32(target)))
        note(writer.put(target: target))
        return true
    }

    /// Writes that the row lists an object, at any time before it ends. What it lists twice it lists once.
    ///
    /// - Parameters:
    ///   - target: the number of the object.
    ///   - number: that of the to-many, for which `EntityLayout.isListable` holds.
    package func list(target: Int, in number: Int) {
        precondition(isListable[number], "what a row lists there is for no block")
        pairs.append(BuiltRows.Pair(row: UInt16(count), toMany: UInt16(number), target: UInt32(target)))
    }

    package func put(uuid: UUID) -> Bool {
        guard slots[slot].form == .uuid else { return false }
        withUnsafeBytes(of: uuid.uuid) { note(writer.put(uuid: $0.baseAddress)) }
        return true
    }

    package func put(_ value: AttributeValue) -> Bool {
        switch value {
        case .null: return putNull()
        case .int64(let value): return put(integer: value)
        case .double(let value): return put(double: value)
        case .date(let value): return put(date: value)
        case .bool(let value): return put(bool: value)
        case .uuid(let value): return put(uuid: value)
        case .string(var text): return text.withUTF8 { put(text: $0) }
        case .data(let value): return put(data: value)
        case .decimal, .objectID, .object: return false
        }
    }

    /// Ends a row.
    ///
    /// - Returns: false if its unique key is none: then it is forgotten.
    package func endRow() -> Bool {
        precondition(slot == layout.count, "a row of \(layout.entity.name ?? "?") ends before its last value")
        let row = PackedRow(bytes + rowStart, layout.count)
        var hash: UInt64 = 0, isKey = true, next = keySlots[...]
        row.walk(0..<(keySlots[keySlots.count - 1] + 1)) { slot, kind, place in
            guard next.first == slot else { return }
            next.removeFirst()
            if kind == .null { isKey = false }
            hash = Self.combined(hash, kind, place)
        }
        guard isKey else {
            beginRow()
            return false
        }
        hashes.append(hash == 0 ? 1 : hash)
        offsets.append(UInt32(writer.place - bytes))
        if pairs.count > endedPairs { endPairs() }
        beginRow()
        return true
    }

    /// Leaves what the row lists twice.
    private func endPairs() {
        if pairs.count > endedPairs + 1 {
            pairs[endedPairs...].sort { ($0.toMany, $0.target) < ($1.toMany, $1.target) }
            var end = endedPairs + 1
            for place in (endedPairs + 1)..<pairs.count where pairs[place] != pairs[end - 1] {
                pairs[end] = pairs[place]
                end += 1
            }
            pairs.removeLast(pairs.count - end)
        }
        endedPairs = pairs.count
    }

    /// A copy of a row that has ended, in which no to-one is set.
    package func row(_ place: Int) -> RowSnapshot {
        let start = Int(offsets[place])
        guard layout.toOneSlots.isEmpty else {
            return RowSnapshot.make(layout, version: 0) { values in
                PackedRow(bytes + start, layout.count).walk(0..<layout.count) { slot, kind, place in
                    (values + slot).initialize(to: kind == .objectID ? .null : PackedRow.value(kind, place))
                }
            }
        }
        return RowSnapshot.packed(
            layout, version: 0, bytes: UnsafeRawBufferPointer(start: bytes + start, count: Int(offsets[place + 1]) - start))
    }

    /// The to-ones of a row that has ended, by slot, and the number of the object of each; those that are null are left out.
    package func targets(ofRow place: Int) -> [Int: Int] {
        var result: [Int: Int] = [:]
        PackedRow(bytes + Int(offsets[place]), layout.count).walk(0..<layout.count) { slot, kind, value in
            if kind == .objectID { result[slot] = Int(value.loadUnaligned(as: UInt.self)) }
        }
        return result
    }

    /// What a row that has ended lists: the number of each object, by that of the to-many.
    package func listed(byRow place: Int) -> [Int: [Int]] {
        // They are in the order of the rows.
        var first = 0, last = endedPairs
        while first < last {
            let middle = (first + last) / 2
            if pairs[middle].row < place { first = middle + 1 } else { last = middle }
        }
        var result: [Int: [Int]] = [:]
        while first < endedPairs, pairs[first].row == place {
            result[Int(pairs[first].toMany), default: []].append(Int(pairs[first].target))
            first += 1
        }
        return result
    }

    /// The largest number of an object that a row names; -1: none names any.
    var largestTarget: Int {
        pairs[..<endedPairs].reduce(references.reduce(-1) { max($0, Int($1.target)) }) { max($0, Int($1.target)) }
    }

    /// A copy of all rows that have ended, with what another builder has to know of them.
    package func rows(in spill: BlockSpill) -> BuiltRows {
        hashes.withUnsafeBytes { hashes in
            references.withUnsafeBytes { references in
                pairs.withUnsafeBytes { pairs in
                    BuiltRows(
                        image: image(with: [hashes, references, pairs], in: spill),
                        counts: BuiltRows.Counts(
                            bytes: rowStart, rows: count, hashes: count, references: self.references.count, pairs: endedPairs))
                }
            }
        }
    }

    /// A copy of the rows that have ended and of what belongs to them: where each starts and the last one ends, and these lists.
    private func image(with lists: [UnsafeRawBufferPointer], in spill: BlockSpill) -> SpilledBytes {
        precondition(slot == 0 && pairs.count == endedPairs, "a row of \(layout.entity.name ?? "?") has begun and not ended")
        return offsets.withUnsafeBytes { offsets in
            // Behind the rows, as long as it takes to copy all of it.
            let lists = lists + [offsets], start = rowStart
            makeRoom(lists.reduce(BuiltRows.lists(after: start)) { $0 + $1.count } - start, after: start)
            (bytes + start).initializeMemory(as: UInt8.self, repeating: 0, count: BuiltRows.lists(after: start) - start)
            var end = BuiltRows.lists(after: start)
            for list in lists {
                if let base = list.baseAddress { (bytes + end).copyMemory(from: base, byteCount: list.count) }
                end += list.count
            }
            return spill.bytes(copying: UnsafeRawBufferPointer(start: bytes, count: end))
        }
    }

    /// Writes the rows of another builder of the same entity behind those that have ended. Throws `NSFileReadUnknownError` where they wait in a file that
    /// can't be read; then nothing is written.
    ///
    /// - Parameter numbers: by the number that an object has there, the one that it has here.
    package func append(_ rows: BuiltRows, targets numbers: [Int] = []) throws {
        let start = rowStart, first = UInt16(count)
        makeRoom(rows.byteCount, after: start)
        try rows.withLists { lists in
            if let base = lists.rows.baseAddress { (bytes + start).copyMemory(from: base, byteCount: lists.rows.count) }
            self.offsets.append(contentsOf: lists.offsets.dropFirst().lazy.map { $0 + UInt32(start) })
            self.hashes.append(contentsOf: lists.hashes)
            pairs.append(
                contentsOf: lists.pairs.lazy.map {
                    BuiltRows.Pair(row: $0.row + first, toMany: $0.toMany, target: UInt32(numbers[Int($0.target)]))
                })
            endedPairs = pairs.count
            for reference in lists.references {
                let moved = BuiltRows.Reference(place: reference.place + UInt32(start), target: UInt32(numbers[Int(reference.target)]))
                (bytes + Int(moved.place)).storeBytes(of: UInt(moved.target), as: UInt.self)
                self.references.append(moved)
            }
        }
        beginRow()
    }

    package func removeAll() {
        offsets = [0]
        references.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
        pairs.removeAll(keepingCapacity: true)
        endedPairs = 0
        beginRow()
    }

    /// The rows, copied into a block.
    ///
    /// - Parameter targets: the objects that the rows name and list, by number.
    func block(
        firstKey: Int64, store: StoreIdentity, set: SlotSet, uniqueKeys: BlockKeys, targets: [NSManagedObjectID], in spill: BlockSpill
    ) -> RowBlock {
        // In the block lie the objects themselves; here the numbers, in case that it is made in vain.
        for reference in references {
            let address = UInt(bitPattern: Unmanaged.passUnretained(targets[Int(reference.target)]).toOpaque())
            (bytes + Int(reference.place)).storeBytes(of: address, as: UInt.self)
        }
        defer { for reference in references { (bytes + Int(reference.place)).storeBytes(of: UInt(reference.target), as: UInt.self) } }
        let rows = pairs.withUnsafeBytes { pairs in
            BuiltRows(
                image: image(with: [pairs], in: spill),
                counts: BuiltRows.Counts(bytes: rowStart, rows: count, hashes: 0, references: 0, pairs: endedPairs))
        }
        func listed(where isMeant: (NSRelationshipDescription) -> Bool) -> Set<NSManagedObjectID> {
            let isListed = layout.toManys.map(isMeant)
            var numbers: Set<UInt32> = []
            for pair in pairs where isListed[Int(pair.toMany)] { numbers.insert(pair.target) }
            return Set(numbers.lazy.map { targets[Int($0)] })
        }
        return RowBlock(
            layout, firstKey: firstKey, store: store, set: set, uniqueKeys: uniqueKeys, rows: rows, targets: targets,
            members: listed { _ in true }, partners: listed { $0.inverseRelationship != nil })
    }
}

extension EntityChanges {
    /// The hashes of the unique keys of rows that are in no block, as far as a row in a block may have such a key.
    ///
    /// - Parameter count: how many rows in blocks they are to be compared with.
    /// - Returns: nil where they are so many that it takes longer than it saves.
    func looseHashes(besides count: Int) -> [UInt64]? {
        guard loose.count <= max(4096, count * 8) else { return nil }
        let constraint = entity.layout.constraints[0]
        return loose.compactMap { _, change in
            guard change.kind != .deleted, let key = change.row.flatMap({ constraint.key(of: $0) }) else { return nil }
            return RowBlockBuilder.hash(of: key, constraint)
        }
    }
}

extension RowBlockBuilder {
    /// The hash of a unique key, as of those of rows; nil where no row in a block has such a key.
    static func hash(of key: UniqueKey, _ constraint: UniquenessConstraint) -> UInt64? {
        let values = zip(constraint.slots, key.values).sorted { $0.0 < $1.0 }.map(\.1)
        var hash: UInt64 = 0
        for value in values {
            var text = ""
            if case .string(let string) = value { text = string }
            let length = text.utf8.count
            guard length <= PackedRow.longestText else { return nil }
            let known = withUnsafeTemporaryAllocation(byteCount: PackedRow.limit(1, text: length + 2), alignment: 8) { space -> Bool in
                guard let base = space.baseAddress else { return false }
                var writer = PackedRowWriter(place: base)
                let kind: PackedRow.Kind
                switch value {
                case .int64(let integer): kind = writer.put(integer: integer)
                case .string: kind = text.withUTF8 { writer.put(text: $0.baseAddress, length) }
                case .uuid(let uuid): kind = withUnsafeBytes(of: uuid.uuid) { writer.put(uuid: $0.baseAddress) }
                default: return false
                }
                hash = combined(hash, kind, base)
                return true
            }
            if !known { return nil }
        }
        return hash == 0 ? 1 : hash
    }

    @inline(__always)
    private static func combined(_ hash: UInt64, _ kind: PackedRow.Kind, _ place: UnsafeRawPointer) -> UInt64 {
        xxh3_64(place, PackedRow.size(kind, place), hash &+ UInt64(kind.rawValue))
    }
}
