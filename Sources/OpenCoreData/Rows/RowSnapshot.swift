import Synchronization

/// The values of one row, shared by reference between levels, caches and threads.
///
/// A row is filled by whoever made it and never changed after it was shared; changing an object copies its row first. The one thing
/// that moves is `version`: when a row is committed it is stamped with the version it got in the store, so that everybody who
/// holds it, at whatever level, knows from which version his own changes start.
// Shared rows are immutable but for the atomic version: `update` is called only on a row that its caller has just made and nobody else holds.
//
// The values lie behind the object's own fields, in one allocation: one after the other, or packed as a fetch left them.
package struct RowSnapshot: @unchecked Sendable {
    private var storage: Storage

    private class Storage: ManagedBuffer<RowHeader, UInt64> {}

    /// Values one after the other.
    private final class ValueStorage: Storage {
        var values: UnsafeMutablePointer<AttributeValue> {
            withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0).assumingMemoryBound(to: AttributeValue.self) }
        }

        deinit { values.deinitialize(count: header.layout.count) }
    }

    private final class PackedStorage: Storage {
        var row: PackedRow { withUnsafeMutablePointerToElements { PackedRow(UnsafeMutableRawPointer($0), header.layout.count) } }

        deinit {
            if !header.layout.toOneSlots.isEmpty { row.releaseReferences(before: header.layout.count) }
        }
    }

    /// The values, if they are not packed.
    @inline(__always)
    private var values: UnsafeMutablePointer<AttributeValue>? {
        Swift.type(of: storage) == ValueStorage.self ? unsafeDowncast(storage, to: ValueStorage.self).values : nil
    }

    private var packed: PackedRow { unsafeDowncast(storage, to: PackedStorage.self).row }

    /// A packed row: a copy of these bytes, which hold all values of the layout.
    ///
    /// - Parameter retains: whether the references in the bytes are somebody else's; otherwise they are the row's from now on.
    static func packed(_ layout: EntityLayout, version: Int64, bytes: UnsafeRawBufferPointer, retains: Bool = false) -> RowSnapshot {
        let words = (bytes.count + MemoryLayout<UInt64>.size - 1) / MemoryLayout<UInt64>.size
        let buffer = PackedStorage.create(minimumCapacity: words) { _ in RowHeader(layout: layout, version: version) }
        buffer.withUnsafeMutablePointerToElements {
            UnsafeMutableRawBufferPointer(start: $0, count: bytes.count).copyMemory(from: bytes)
            if retains, !layout.toOneSlots.isEmpty { PackedRow(UnsafeMutableRawPointer($0), layout.count).retainReferences() }
        }
        return RowSnapshot(storage: unsafeDowncast(buffer, to: Storage.self))
    }

    /// A row whose values `fill` initialises, all of them.
    @inline(__always)
    static func make(
        _ layout: EntityLayout, version: Int64, fill: (UnsafeMutablePointer<AttributeValue>) -> Void
    ) -> RowSnapshot {
        let words = MemoryLayout<AttributeValue>.stride / MemoryLayout<UInt64>.stride
        let buffer = ValueStorage.create(minimumCapacity: words * layout.count) { _ in RowHeader(layout: layout, version: version) }
        buffer.withUnsafeMutablePointerToElements {
            fill(UnsafeMutableRawPointer($0).bindMemory(to: AttributeValue.self, capacity: layout.count))
        }
        return RowSnapshot(storage: unsafeDowncast(buffer, to: Storage.self))
    }

    /// A row of nulls.
    package static func make(_ layout: EntityLayout, version: Int64 = 0) -> RowSnapshot {
        make(layout, version: version) { $0.initialize(repeating: .null, count: layout.count) }
    }

    /// A row of a new object: the entity's default values.
    package static func defaults(_ layout: EntityLayout) -> RowSnapshot {
        make(layout, version: 0) { values in
            layout.defaults.withUnsafeBufferPointer { defaults in
                if let base = defaults.baseAddress { values.initialize(from: base, count: defaults.count) }
            }
        }
    }

    package var layout: EntityLayout { storage.header.layout }
    package var entity: NSEntityDescription { layout.entity }
    /// The version that follows another in a store. It only has to differ: who finds the last number there is begins anew instead of never saving again.
    package static func version(after version: Int64) -> Int64 { version == .max ? 1 : version + 1 }

    /// The version of these values in the store (`Z_OPT`); 0 before the first save.
    package var version: Int64 { atomicVersion { $0.pointee.load(ordering: .relaxed) } }
    package var count: Int { storage.header.layout.count }

    package subscript(slot: Int) -> AttributeValue { values.map { $0[slot] } ?? packed[slot] }

    /// The value of a property by name; null for an unknown one.
    package subscript(name: String) -> AttributeValue {
        layout.slot(of: name).map { self[$0] } ?? .null
    }

    /// Sets a value of a row that has not been shared yet: one that was just made, or copied.
    package func update(_ slot: Int, to value: AttributeValue) {
        ownValues[slot] = value
    }

    /// The values of a row that was just made, one after the other. They are there as long as somebody has the row.
    var ownValues: UnsafeMutablePointer<AttributeValue> {
        guard let values else { Violation.misuse("a row that was fetched is changed; copy it first") }
        return values
    }

    /// Takes the default values again, if nobody else has the row; says whether that is so.
    mutating func becomeDefaults() -> Bool {
        guard isKnownUniquelyReferenced(&storage), let values else { return false }
        layout.defaults.withUnsafeBufferPointer { defaults in
            // One by one: the library's own loop asks the type how to copy at each of them.
            for slot in defaults.indices { values[slot] = defaults[slot] }
        }
        stamp(version: 0)
        return true
    }

    /// A copy that may be changed until it is shared.
    package func copy(version: Int64? = nil) -> RowSnapshot {
        let count = count
        return RowSnapshot.make(layout, version: version ?? self.version) { copies in
            if let values {
                copies.initialize(from: values, count: count)
            } else {
                packed.forEach { slot, value in (copies + slot).initialize(to: value) }
            }
        }
    }

    /// The same values, each at hand.
    private var unpacked: RowSnapshot { values == nil ? copy() : self }

    /// The values that a store keeps: itself, or a copy in which transient values are null.
    package var withoutTransients: RowSnapshot {
        guard layout.hasTransients else { return self }
        let stored = copy()
        for slot in 0..<count where layout.isTransient[slot] { stored.update(slot, to: .null) }
        return stored
    }

    /// Records the version that these values got when they were committed.
    package func stamp(version: Int64) { atomicVersion { $0.pointee.store(version, ordering: .relaxed) } }

    /// The slots whose values differ.
    package func differences(from other: RowSnapshot) -> SlotSet {
        var result = SlotSet()
        if self === other { return result }
        let mine = unpacked, theirs = other.unpacked
        for slot in 0..<count where mine[slot] != theirs[slot] { result.insert(slot) }
        return result
    }

    /// Roughly what it takes in memory, in bytes.
    package var cost: Int {
        guard let values else { return 64 + storage.capacity * MemoryLayout<UInt64>.size }
        var total = 64
        for slot in 0..<count { total += values[slot].cost }
        return total
    }

    /// The version in the header, as the atomic number that it is: a header must be copyable, which `Atomic` is not, and the two have one layout.
    private func atomicVersion<T>(_ body: (UnsafeMutablePointer<Atomic<Int64>>) -> T) -> T {
        storage.withUnsafeMutablePointerToHeader { header in
            let place = UnsafeMutableRawPointer(header) + Self.versionOffset
            return body(place.assumingMemoryBound(to: Atomic<Int64>.self))
        }
    }

    private static let versionOffset: Int = {
        guard let offset = MemoryLayout<RowHeader>.offset(of: \.version) else {
            // Any other place holds something else: a number written there would damage the row.
            preconditionFailure("the version of a row has no place of its own in its header")
        }
        return offset
    }()

    /// Whether two are one and the same row, shared.
    package static func === (left: RowSnapshot, right: RowSnapshot) -> Bool { left.storage === right.storage }
    package static func !== (left: RowSnapshot, right: RowSnapshot) -> Bool { left.storage !== right.storage }
}

package func === (left: RowSnapshot?, right: RowSnapshot?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): left === right
    case (nil, nil): true
    default: false
    }
}

package func !== (left: RowSnapshot?, right: RowSnapshot?) -> Bool { !(left === right) }

/// A row of which the store has computed values.
package struct ComputedRow: Sendable {
    let row: RowSnapshot
    /// Those.
    let slots: SlotSet

    /// Another row of the same object with these values: itself where it has them.
    func laid(over other: RowSnapshot) -> RowSnapshot {
        var made: RowSnapshot?
        slots.forEach { slot in
            let value = row[slot]
            if other[slot] == value { return }
            let copy = made ?? other.copy()
            copy.update(slot, to: value)
            made = copy
        }
        return made ?? other
    }
}

/// What a row knows besides its values.
private struct RowHeader {
    let layout: EntityLayout
    /// Read and written through `RowSnapshot.atomicVersion` once the row is shared.
    let version: Int64
}

/// A set of slot numbers: which values of a row changed. One word up to 64 slots, an array beyond; no array at all while nothing is beyond.
package struct SlotSet: Hashable, Sendable {
    private var word: UInt64 = 0
    private var more: [UInt64]?

    package init() {}

    /// A generic loop where another module calls it: what is the same for every row is made once.
    package init(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    package var isEmpty: Bool { word == 0 && (more?.allSatisfy { $0 == 0 } ?? true) }

    package func contains(_ slot: Int) -> Bool {
        if slot < 64 { return word & (1 << UInt64(slot)) != 0 }
        guard let more else { return false }
        let index = slot / 64 - 1
        return index < more.count && more[index] & (1 << UInt64(slot % 64)) != 0
    }

    package mutating func insert(_ slot: Int) {
        if slot < 64 {
            word |= 1 << UInt64(slot)
        } else {
            let index = slot / 64 - 1
            grow(to: index + 1)
            more?[index] |= 1 << UInt64(slot % 64)
        }
    }

    package mutating func remove(_ slot: Int) {
        if slot < 64 {
            word &= ~(1 << UInt64(slot))
        } else {
            let index = slot / 64 - 1
            if index < more?.count ?? 0 { more?[index] &= ~(1 << UInt64(slot % 64)) }
        }
    }

    package mutating func formUnion(_ other: SlotSet) {
        word |= other.word
        guard let others = other.more else { return }
        grow(to: others.count)
        for (index, bits) in others.enumerated() { more?[index] |= bits }
    }

    private mutating func grow(to count: Int) {
        var words = more ?? []
        more = nil
        while words.count < count { words.append(0) }
        more = words
    }

    /// Calls `body` with each slot, ascending.
    package func forEach(_ body: (Int) throws -> Void) rethrows {
        var bits = word
        while bits != 0 {
            try body(bits.trailingZeroBitCount)
            bits &= bits - 1
        }
        guard let more else { return }
        for (index, extra) in more.enumerated() {
            var bits = extra
            while bits != 0 {
                try body((index + 1) * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
    }

    package var slots: [Int] {
        var result: [Int] = []
        forEach { result.append($0) }
        return result
    }
}
