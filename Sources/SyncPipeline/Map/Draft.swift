import JSONReader
import OpenCoreData
import SyncConfiguration

/// An object as a page describes it, before it is known whether it exists already.
final class Draft {
    /// How much a page says about an object.
    enum Knowledge: Int, Comparable {
        /// Only its key: something points to it.
        case stub
        /// Some of its values: it is inside another record.
        case embedded
        /// A record of its own.
        case record

        static func < (left: Knowledge, right: Knowledge) -> Bool { left.rawValue < right.rawValue }
    }

    /// A value that was of another type.
    struct Mismatch {
        /// The entity's and the attribute's name.
        let attribute: String
        let problem: ConversionProblem
    }

    let mapping: EntityMapping
    let key: UniqueKey
    var knowledge: Knowledge
    /// The given values, and the defaults of the others, in a row that nobody else has: that of the object where it is new.
    let row: RowSnapshot
    /// The slots that were given.
    var present = SlotSet()
    var hash: Int64 = 0
    /// The values that are none, since they were of another type.
    var mismatches: [Mismatch] = []
    /// Where its record stands in the page's manifest.
    var place: Int?
    /// To-ones by slot; nil: explicitly null.
    var targets: [Int: Draft?] = [:]
    /// To-manys by index into the mapping's relationships.
    var members: [Int: [Draft]] = [:]
    /// Those of them with a member that cannot be identified: no members are removed from them.
    var openLists: Set<Int> = []
    /// Those of them that name members besides those that there are, and not all: none is removed from them either.
    var additions: Set<Int> = []

    // Found or assigned when the batch is resolved.
    var id: NSManagedObjectID?
    var stored: RowSnapshot?
    /// Two objects inside of records say different things of it.
    private(set) var isTwoThings = false
    /// Its record is not all that the page says of it: another record, or another one's short form, says something else.
    private(set) var isComposed = false
    /// Of these the short form came last.
    private var isOverlaid = false
    /// The hash of what the row is then. A record by itself must not count as unchanged where something was laid over it, or the row is newer.
    var rowHash: Int64 { isOverlaid || isOutdated ? ~hash : hash }
    /// To-ones that were not given by the object but by one that lists it.
    var joined = SlotSet()
    /// Its lists have members other than those the page names.
    var hasOtherMembers = false
    /// What its own record says is older than the row, and is not in it.
    private(set) var isOutdated = false
    /// The version of the row that it was compared with; nil: there was none.
    var knownVersion: AttributeValue?

    init(mapping: EntityMapping, key: UniqueKey, knowledge: Knowledge) {
        self.mapping = mapping
        self.key = key
        self.knowledge = knowledge
        row = RowSnapshot.defaults(mapping.layout)
        for (index, slot) in mapping.layout.constraints[0].slots.enumerated() {
            row.update(slot, to: key.values[index])
            present.insert(slot)
        }
    }

    /// An object that packed records name.
    convenience init(_ target: RecordPacker.Target) {
        guard let said = target.said else {
            self.init(mapping: target.mapping, key: target.key, knowledge: .stub)
            return
        }
        self.init(mapping: target.mapping, key: target.key, knowledge: .embedded, row: said.row.copy(), present: said.present)
        isTwoThings = target.isTwoThings
    }

    private init(mapping: EntityMapping, key: UniqueKey, knowledge: Knowledge, row: RowSnapshot, present: SlotSet) {
        self.mapping = mapping
        self.key = key
        self.knowledge = knowledge
        self.row = row
        self.present = present
    }

    /// A record whose values were packed already.
    ///
    /// - Parameter row: nobody else has it.
    init(mapping: EntityMapping, key: UniqueKey, row: RowSnapshot, at place: Int) {
        self.mapping = mapping
        self.key = key
        self.row = row
        self.place = place
        knowledge = .record
        present = SlotSet(mapping.attributes.map(\.slot))
        if case .int64(let hash) = row[mapping.bookkeeping.hash] { self.hash = hash }
    }

    /// What is left of one that is older than what is known of the object: that the object exists.
    convenience init(outdated draft: Draft) {
        self.init(mapping: draft.mapping, key: draft.key, knowledge: draft.knowledge)
        place = draft.place
        hash = draft.hash
        knownVersion = draft.knownVersion
        isOutdated = knowledge == .record
    }

    /// How new what it says is; nil: it does not say it.
    var version: AttributeValue? {
        guard let slot = mapping.versionSlot, present.contains(slot), !row[slot].isNull else { return nil }
        return row[slot]
    }

    /// Overlays earlier values with later ones.
    func absorb(_ later: Draft) {
        if later.isTwoThings || later.knowledge == .embedded && differs(from: later) { isTwoThings = true }
        if later.knowledge == .record { isOverlaid = false }
        if isMore(with: later) {
            isComposed = true
            if later.knowledge == .embedded { isOverlaid = true }
        }
        later.present.forEach { row.update($0, to: later.row[$0]) }
        present.formUnion(later.present)
        targets.merge(later.targets) { _, new in new }
        for (index, list) in later.members { absorb(list, index, isAddition: later.additions.contains(index)) }
        openLists.formUnion(later.openLists)
        if later.isOutdated {
            if knowledge < .record { (isOutdated, hash) = (true, later.hash) }
        } else if later.knowledge == .record {
            hash = later.hash
            isOutdated = false
        }
        knowledge = max(knowledge, later.knowledge)
    }

    /// Whether a record and what else the page says are more than that record alone. What is older than the row says nothing.
    private func isMore(with later: Draft) -> Bool {
        switch (knowledge, later.knowledge) {
        case (.record, .record): !isOutdated && !later.isOutdated && hash != later.hash
        case (.embedded, .record): says(moreThan: later)
        case (.record, .embedded): later.says(moreThan: self)
        default: false
        }
    }

    /// Whether an object inside of a record says what its own record does not, or adds to a list.
    private func says(moreThan record: Draft) -> Bool {
        var isMore = !additions.isEmpty || row.differs(from: record.row, inBoth: present, record.present)
        let key = mapping.layout.constraints[0].slots
        present.forEach { if !record.present.contains($0), !key.contains($0) { isMore = true } }
        func names(_ members: [Draft]?) -> Set<Name>? { members.map { Set($0.map(\.name)) } }
        return isMore || targets.contains { slot, target in record.targets[slot].map { $0?.name != target?.name } ?? true }
            || members.contains { index, list in names(record.members[index]) != names(list) }
    }

    /// A list that says all of its members takes the place of what was said before; one that adds some is added.
    private func absorb(_ list: [Draft], _ index: Int, isAddition: Bool) {
        guard isAddition else {
            members[index] = list
            additions.remove(index)
            return
        }
        guard let known = members[index] else {
            members[index] = list
            additions.insert(index)
            return
        }
        members[index] = mapping.relationships[index].mode == .append ? known + list : list + known
    }

    /// Whether members stay in a list that the page does not name there.
    ///
    /// - Parameter index: of the relationship.
    func keepsOthers(_ index: Int) -> Bool { openLists.contains(index) || additions.contains(index) }

    /// Says no more of the object than that something names it.
    func becomeName() {
        knowledge = .stub
        present = SlotSet(mapping.layout.constraints[0].slots)
        (targets, members, openLists, additions) = ([:], [:], [], [])
    }

    /// Whether both say something of a value, a to-one or a to-many, and not the same.
    private func differs(from later: Draft) -> Bool {
        func names(_ members: [Draft]) -> Set<Name> { Set(members.map(\.name)) }
        return row.differs(from: later.row, inBoth: present, later.present)
            || later.targets.contains { slot, target in targets[slot].map { $0?.name != target?.name } == true }
            || later.members.contains { index, list in
                // Of what adds to a list both are true.
                !additions.contains(index) && !later.additions.contains(index) && members[index].map { names($0) != names(list) } == true
            }
    }

    struct Name: Hashable {
        let entity: Int
        let key: UniqueKey
    }

    var name: Name { Name(entity: mapping.entity.number, key: key) }
}

extension RowSnapshot {
    /// Whether a value that both have is not the same.
    func differs(from other: RowSnapshot, inBoth mine: SlotSet, _ theirs: SlotSet) -> Bool {
        var isOther = false
        theirs.forEach { slot in if mine.contains(slot), self[slot] != other[slot] { isOther = true } }
        return isOther
    }
}

/// A record, or an object inside of one, that was set aside.
package struct RejectedRecord: Sendable, Hashable {
    /// 0-based place in the page, over all of its lists of records; of an object that is none of them, in the list that it is in.
    package let record: Int
    package let reason: String
    package let path: String
    /// Its JSON text, as much of it as is kept.
    package let raw: String
    /// The hash of all of its text, with its name in a map and the list that it is in.
    let hash: String

    /// How much of a text is kept, in bytes.
    private static let longestText = 8192

    /// - Parameter list: the list that it is in, if that is none of the records'.
    init(_ record: JSONRecord, at place: Int, in list: JSONPath?, reason: String, path: String) {
        self.record = place
        self.path = path
        // Its text need not say where it is, nor which of a map's records.
        let name = record.memberName.map { String($0) }, list = list?.description
        let places = [list, name.map { "\"\($0.prefix(40))\"" }].compactMap { $0 }
        self.reason = places.isEmpty ? reason : "in \(places.joined(separator: ", ")): \(reason)"
        hash = [record.hash.description, name, list].compactMap { $0 }.joined(separator: " ")
        raw = record.raw.withBytes { String(decoding: $0.prefix(Self.longestText), as: UTF8.self) }
    }
}
