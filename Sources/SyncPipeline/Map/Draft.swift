import JSONReader
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
    /// The values said, in a row that nobody else has.
    let row: RowSnapshot
    /// The slots that were said.
    var present = SlotSet()
    var hash: Int64 = 0
    /// To-ones by slot; nil: said to be null.
    var targets: [Int: Draft?] = [:]
    /// To-manys by index into the mapping's relationships.
    var members: [Int: [Draft]] = [:]
    /// Those of them that name a member which cannot be told: nobody is taken out of them.
    var openLists: Set<Int> = []

    // Found or given when the batch is resolved.
    var id: NSManagedObjectID?
    var stored: RowSnapshot?
    /// To-ones that were not said by the object but by one that lists it.
    var joined = SlotSet()
    /// Its lists have other members than the page says.
    var hasOtherMembers = false

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
        openLists.formUnion(later.openLists)
        if later.knowledge == .record { hash = later.hash }
        knowledge = max(knowledge, later.knowledge)
    }

    struct Name: Hashable {
        let entity: Int
        let key: UniqueKey
    }

    var name: Name { Name(entity: mapping.entity.number, key: key) }
}

/// A record, or an object inside of one, that was set aside.
package struct RejectedRecord: Sendable, Hashable {
    /// 0-based place in the page.
    package let record: Int
    package let reason: String
    package let path: String
    /// Its JSON text, as much of it as is kept.
    package let raw: String
    /// The hash of all of its text.
    let hash: String

    /// How much of a text is kept, in bytes.
    private static let longestText = 8192

    init(_ record: JSONRecord, reason: String, path: String) {
        self.record = record.index
        self.reason = reason
        self.path = path
        hash = record.hash.description
        raw = record.raw.withBytes { String(decoding: $0.prefix(Self.longestText), as: UTF8.self) }
    }
}
