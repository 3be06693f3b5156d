import OpenCoreData

/// An object as a page describes it, before it is known whether it exists already.
final class Draft {
    /// How much a page says about an object.
    enum Knowledge: Int, Comparable {
        /// Only its key: something points to it.
        case stub
        /// Some of its values: it stands inside of another record.
        case embedded
        /// A record of its own.
        case record

        static func < (left: Knowledge, right: Knowledge) -> Bool { left.rawValue < right.rawValue }
    }

    let mapping: EntityMapping
    let key: UniqueKey
    var knowledge: Knowledge
    /// The values said, in a row that nobody else holds.
    let row: RowSnapshot
    /// The slots that were said.
    var present = SlotSet()
    var hash: Int64 = 0
    /// To-ones by slot; nil: said to be null.
    var targets: [Int: Draft?] = [:]
    /// To-manys by index into the mapping's relationships.
    var members: [Int: [Draft]] = [:]

    // Found or given when the batch is resolved.
    var id: NSManagedObjectID?
    var stored: RowSnapshot?

    init(mapping: EntityMapping, key: UniqueKey, knowledge: Knowledge) {
        self.mapping = mapping
        self.key = key
        self.knowledge = knowledge
        row = RowSnapshot.make(mapping.layout)
        for (index, slot) in mapping.layout.constraints[0].enumerated() {
            row.update(slot, to: key.values[index])
            present.insert(slot)
        }
    }

    /// Lays what was said later over what was said before.
    func absorb(_ later: Draft) {
        later.present.forEach { row.update($0, to: later.row[$0]) }
        present.formUnion(later.present)
        targets.merge(later.targets) { _, new in new }
        members.merge(later.members) { _, new in new }
        if later.knowledge == .record { hash = later.hash }
        knowledge = max(knowledge, later.knowledge)
    }

    struct Name: Hashable {
        let entity: Int
        let key: UniqueKey
    }

    var name: Name { Name(entity: mapping.entity.number, key: key) }
}

/// A record that was set aside.
package struct RejectedRecord: Sendable, Hashable {
    /// 0-based place in the page.
    package let record: Int
    package let reason: String
    package let path: String
    package let raw: String
}
