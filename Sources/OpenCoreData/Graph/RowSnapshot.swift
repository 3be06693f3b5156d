import Synchronization

/// The values of one row, shared by reference between levels, caches and threads.
///
/// A row is filled by whoever made it and never changed after it was shared; changing an object copies its row first. The one thing
/// that moves is `version`: when a row is committed it is stamped with the version it got in the store, so that everybody who
/// holds it, at whatever level, knows from which version his own changes start.
// Shared rows are immutable but for the atomic version: `update` is called only on a row that its caller has just made and nobody else holds.
package final class RowSnapshot: @unchecked Sendable {
    package let layout: EntityLayout
    private let storedVersion: Atomic<Int64>
    private let values: UnsafeMutablePointer<AttributeValue>

    private init(layout: EntityLayout, version: Int64, values: UnsafeMutablePointer<AttributeValue>) {
        self.layout = layout
        self.storedVersion = Atomic(version)
        self.values = values
    }

    /// A row of nulls.
    package static func make(_ layout: EntityLayout, version: Int64 = 0) -> RowSnapshot {
        let values = UnsafeMutablePointer<AttributeValue>.allocate(capacity: layout.slots.count)
        values.initialize(repeating: .null, count: layout.slots.count)
        return RowSnapshot(layout: layout, version: version, values: values)
    }

    /// A row of a new object: the entity's default values.
    package static func defaults(_ layout: EntityLayout) -> RowSnapshot {
        let values = UnsafeMutablePointer<AttributeValue>.allocate(capacity: layout.slots.count)
        layout.defaults.withUnsafeBufferPointer { defaults in
            if let base = defaults.baseAddress { values.initialize(from: base, count: defaults.count) }
        }
        return RowSnapshot(layout: layout, version: 0, values: values)
    }

    package var entity: NSEntityDescription { layout.entity }
    /// The version of these values in the store (`Z_OPT`); 0 before the first save.
    package var version: Int64 { storedVersion.load(ordering: .relaxed) }
    package var count: Int { layout.slots.count }

    package subscript(slot: Int) -> AttributeValue { values[slot] }

    /// The value of a property by name; null for an unknown one.
    package subscript(name: String) -> AttributeValue {
        layout.slot(of: name).map { values[$0] } ?? .null
    }

    /// Sets a value of a row that has not been shared yet.
    package func update(_ slot: Int, to value: AttributeValue) { values[slot] = value }

    /// A copy that may be changed until it is shared.
    package func copy(version: Int64? = nil) -> RowSnapshot {
        let copied = UnsafeMutablePointer<AttributeValue>.allocate(capacity: count)
        copied.initialize(from: values, count: count)
        return RowSnapshot(layout: layout, version: version ?? self.version, values: copied)
    }

    /// The values that a store keeps: itself, or a copy in which transient values are null.
    package var withoutTransients: RowSnapshot {
        guard layout.hasTransients else { return self }
        let stored = copy()
        for slot in 0..<count where layout.isTransient[slot] { stored.update(slot, to: .null) }
        return stored
    }

    /// Records the version that these values got when they were committed.
    package func stamp(version: Int64) { storedVersion.store(version, ordering: .relaxed) }

    /// The slots whose values differ.
    package func differences(from other: RowSnapshot) -> SlotSet {
        var result = SlotSet()
        if self === other { return result }
        for slot in 0..<count where values[slot] != other.values[slot] { result.insert(slot) }
        return result
    }

    /// Roughly what it takes in memory, in bytes.
    package var cost: Int {
        var total = 64
        for slot in 0..<count { total += values[slot].cost }
        return total
    }

    deinit {
        values.deinitialize(count: layout.slots.count)
        values.deallocate()
    }
}
