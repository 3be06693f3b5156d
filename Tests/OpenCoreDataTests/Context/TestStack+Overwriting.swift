import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

extension TestStack {
    /// Writes values into a stored row past all contexts and the coordinator.
    func overwrite(_ id: NSManagedObjectID, _ values: [String: AttributeValue]) throws {
        let row = try #require(try store.rows(for: [id])[id])
        let copy = row.copy()
        var slots = SlotSet()
        for (name, value) in values {
            let slot = try #require(row.layout.slot(of: name))
            copy.update(slot, to: value)
            slots.insert(slot)
        }
        var changes = ChangeSet()
        changes.set(id, PendingRow(kind: .updated, row: copy, changed: slots, base: row))
        _ = try store.save(changes)
    }
}
