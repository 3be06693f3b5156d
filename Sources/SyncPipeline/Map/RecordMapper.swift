import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Turns the records of one page into changes of a worker context. Used on the context's queue.
///
/// Records are gathered in batches; each batch looks up its objects by key, with one query per entity, and writes what differs. Values go from the
/// JSON token into the row; no managed object is made.
final class RecordMapper {
    private(set) var counts = RecordCounts()
    /// What was set aside, as far as it is kept: the first of them.
    private(set) var rejected: [RejectedRecord] = []
    /// How many records were set aside.
    private(set) var rejectedRecords = 0
    /// How many of those could not even be told by their key.
    private(set) var unidentified = 0
    /// Why the first of them was.
    private(set) var firstRejection: String?
    /// How many records were left out.
    private(set) var leftOut = 0
    /// What does not match the model, and is not set aside.
    var mismatches = PageMismatches()
    /// The keys of the rows that the page's records are.
    private var seen = KeyCollector()
    /// What the page's records are.
    var records: PageRecords
    /// Where the record stands that is being read.
    var place = 0
    /// In which list beside the records it does; nil: it is one of the records.
    var list: JSONPath?
    /// The keys of objects that the page says are gone, and does not list after that.
    var gone: Set<UniqueKey> = []
    /// How new the records are that say so, where they say it.
    var goneVersions: [UniqueKey: AttributeValue] = [:]
    /// How many of its records say so.
    var deletions = 0
    /// Knows the tombstones of objects that were said to be gone; nil: the store is asked. It is when a page mentions a tombstone.
    var tombstones: SaidTombstones?
    /// Knows the secrets of the page's requests; nil: there are none.
    var redactor: Redactor?

    /// Where the page's records stand, where it was no JSON document.
    var lines: RecordLines?
    let mapping: ModelMapping
    let entity: EntityMapping
    private let isComparable: Bool
    let constants: RecordConstants
    let context: NSManagedObjectContext
    private let now: AttributeValue
    private let run: AttributeValue
    let limits: LimitsConfiguration
    private let maxRejected: Int
    private let isCancelled: () -> Bool
    /// The keys of records that were set aside.
    private var rejectedKeys: Set<UniqueKey> = []
    /// The keys of the others; nil: nobody asks for them.
    var recordKeys: Set<UniqueKey>?
    var objects = 0
    /// Complete rows that short forms inside other records have changed since their own record was read, by entity.
    private(set) var overwritten: [String: Set<Int64>] = [:]
    /// Whether an object that records hold was another before, or two of them say different things of it.
    private(set) var changesHeld = false
    /// Rows that were there, and were removed from lists, and about which the page says nothing else.
    var dropped: [NSManagedObjectID] = []
    /// Rows that records of a comparable entity name, list or hold, and that were there.
    private(set) var named: Set<NSManagedObjectID> = []
    var drafts: [Draft.Name: Draft] = [:]
    var order: [Draft] = []
    /// Whether what records say is compared with what the rows were before anything becomes of it.
    let comparesVersions: Bool
    /// What waits for that, and how many objects it holds and names.
    var waiting: [Draft] = []
    var waitingObjects = 0
    /// The rows of objects with versions that the batches have made.
    private(set) var madeWithVersions: [NSManagedObjectID] = []
    let batchSize: Int
    /// Packs records; nil: they are none that can be packed.
    private let packer: RecordPacker?
    /// Inserts what is packed; nil: packed records are not likely to be new.
    private var packed: PackedImport?
    private let probe: Probe?

    /// How many of the things that were set aside are kept of a page.
    private static let keptRejections = 1000

    /// - Parameters:
    ///   - maxRejected: how many records may be set aside.
    ///   - constants: what each record's object has beside what the record says.
    ///   - records: what is known of the page's records: nothing is made of those that are the same as when it was read last.
    ///   - probe: for tests.
    ///   - isCancelled: asked every now and then; then `add` and `flush` throw `SyncError.cancelled`.
    init(
        mapping: ModelMapping, entity: String, context: NSManagedObjectContext, now: Date, run: Int64, limits: LimitsConfiguration,
        maxRejected: Int, constants: RecordConstants, records: PageRecords, probe: Probe?,
        isCancelled: @escaping () -> Bool = { false }
    ) throws {
        guard let found = mapping.entities[entity] else { throw SyncError.unknownEntity(entity) }
        self.mapping = mapping
        self.entity = found
        isComparable = mapping.comparable.contains(entity) && mapping.mentions.isEmpty
        recordKeys = mapping.mentions.contains { $0.entity.name == entity } ? [] : nil
        self.constants = constants
        self.context = context
        self.now = .date(now.timeIntervalSinceReferenceDate)
        self.run = .int64(run)
        self.limits = limits
        self.maxRejected = maxRejected
        self.records = records
        self.isCancelled = isCancelled
        batchSize = probe?.batchSize ?? 1000
        self.probe = probe
        // What a page mentions may be one of its records, or what these name: all of it goes one way.
        comparesVersions =
            mapping.comparesVersions(of: entity) || mapping.mentions.contains { mapping.comparesVersions(of: $0.entity.name) }
        // What is packed is not compared with anything.
        let isPacking = probe?.isPacking != false && mapping.mentions.isEmpty && !comparesVersions
        packer = isPacking ? RecordPacker(found, among: mapping, constants: constants, limits: limits, now: now, run: run) : nil
        var said = found.said
        said.formUnion(constants.slots)
        packed = packer.map { PackedImport($0, said: said, in: context, batchSize: probe?.batchSize ?? RowBlockBuilder.rowLimit) }
        seen.add(records.unread)
        counts.unchanged = records.unreadCount
        try countObjects(records.unreadCount)
    }

    /// What to read of each record.
    var plan: JSONFieldPlan { entity.plan }
    /// The rows that the page vouches for.
    var members: KeyRuns { seen.keys }
    /// What is known of the page's records now.
    var outcome: PageRecords { records }

    /// Takes one record. A bad record is set aside; too many of them fail the page.
    ///
    /// - Parameter known: where it stands in the page; nil: it is the next one of a page that was not cut.
    func add(_ record: JSONRecord, at known: RecordSpool.Record?) throws {
        place = known?.place ?? records.append(record.hash.low)
        if let problem = record.problem {
            // What is wrong stands in the page where it stands in the record.
            let found = lines?.words(problem, of: place) ?? "\(problem.moved(by: known.map { $0.offset - record.byteOffset } ?? 0))"
            // Its cells are incomplete: whatever its key says, it may be another record's.
            try reject(record, key: nil, ConversionProblem(path: "$", message: found))
            return
        }
        if entity.deletionSign?.isMet(by: record) == true { return try addDeletion(record) }
        if !gone.isEmpty, let key = try? entity.key(of: record, constants: constants) { noteListed(key) }
        let hash = Int64(bitPattern: try records.hash(at: place) ^ mapping.salt ^ constants.salt(of: record))
        if let packer, let packed, order.isEmpty, packer.add(record, at: place, hash: hash) {
            try checkCancellation(packer.places.count)
            if packed.isFull { try flush() }
            return
        }
        // In the order of the page: of two records of one row, or that hold one object, the later one counts.
        if packer?.places.isEmpty == false { try flush() }
        do {
            let draft = try draft(of: record, entity, knowledge: .record, constants: constants)
            draft.hash = hash
            recordKeys?.insert(draft.key)
            try take(draft, at: place)
        } catch let problem as ConversionProblem {
            try reject(record, key: try? entity.key(of: record, constants: constants), problem)
        }
        if isBatchFull { try flush() }
    }

    /// Leaves out a record that is not wanted: it is none of the page's rows. It is looked at again when the page comes next.
    ///
    /// - Parameter known: where it stands in the page; nil: it is the next one of a page that was not cut.
    func leaveOut(_ record: JSONRecord, at known: RecordSpool.Record?) {
        records.refuse(known?.place ?? records.append(record.hash.low))
        leftOut += 1
    }

    /// Sets a record aside of which it cannot be told whether it is wanted.
    func setAside(_ record: JSONRecord, at known: RecordSpool.Record?, _ problem: ConversionProblem) throws {
        place = known?.place ?? records.append(record.hash.low)
        try reject(record, key: try? entity.key(of: record, constants: constants), problem)
    }

    /// Whether all of the page's records seem to be new.
    var isNew: Bool { packed != nil }

    /// Whether records that were packed elsewhere are of use. Not where one of them may be of an object that was said to be gone.
    var takesPacked: Bool { isNew && gone.isEmpty }

    /// Takes records that were packed elsewhere: the next ones of the page.
    func add(_ list: [PackedRecords]) throws {
        guard let packer else { preconditionFailure("records of \(entity.name) were packed, which is not done") }
        for records in list {
            if !order.isEmpty || packed?.hasRoom(for: records.places.count) == false { try flush() }
            try checkCancellation(0)
            try packer.append(records)
            probe?.taken(records.places.count)
            if packed?.isFull != false { try flush() }
        }
    }

    /// Sets a record aside. It is listed all the same: the row with its key is not missing.
    func reject(_ record: JSONRecord, key: UniqueKey?, _ problem: ConversionProblem) throws {
        let problem = redacted(problem)
        try judge(problem)
        records.refuse(place)
        rejectedRecords += 1
        firstRejection = firstRejection ?? problem.message
        if let key { rejectedKeys.insert(key) } else { unidentified += 1 }
        report(record, problem)
        if rejectedRecords > maxRejected {
            throw SyncError.tooManyBadRecords(count: rejectedRecords, limit: limits.maxBadRecords, first: firstRejection ?? "")
        }
    }

    /// Something is wrong with an object inside a record: its record is not left out when the page comes next, and tells of it again.
    func report(inside record: JSONRecord, _ problem: ConversionProblem) throws {
        let problem = redacted(problem)
        try judge(problem)
        records.forgoComparison()
        report(record, problem)
    }

    private func report(_ record: JSONRecord, _ problem: ConversionProblem) {
        counts.quarantined += 1
        guard rejected.count < Self.keptRejections else { return }
        rejected.append(RejectedRecord(record, at: place, in: list, reason: problem.message, path: problem.path))
    }

    /// The rows of records that were set aside, if they exist, whoever brought them. To be called once everything is written.
    func listedRows() throws -> KeyRuns {
        guard !rejectedKeys.isEmpty else { return [] }
        let found = try context.find(entity.entity, constraint: 0, keys: Array(rejectedKeys))
        return KeyRuns(found.values.lazy.map(\.id.key))
    }

    func checkCancellation(_ step: Int) throws {
        if step & 255 == 0, isCancelled() { throw SyncError.cancelled }
    }

    // MARK: Writing

    /// Looks up and writes what was gathered. Throws `RowsChanged` where a row was changed meanwhile from which it was decided what to gather.
    func flush() throws {
        probe?.reached(.lookingUp)
        try insertPacked()
        try admitWaiting()
        try lookUp()
        probe?.reached(.writing)
        try checkCancellation(0)
        try joinMembers()
        try writePairs()
        for (step, draft) in order.enumerated() {
            try checkCancellation(step)
            try write(draft)
        }
        drafts.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
    }

    /// Inserts the records that wait in the packer. If they may have rows already, they are gathered like any other, and so is what follows.
    private func insertPacked() throws {
        guard let packer, !packer.places.isEmpty else { return }
        defer { packer.removeAll() }
        let targets = packed == nil ? [] : try located(packer.targets)
        if let keys = try packed?.insert(targets: targets.map(\.id)) {
            for (target, located) in zip(packer.targets, targets) {
                if isComparable, located.row != nil { named.insert(located.id) }
                guard located.row == nil || target.said != nil else { continue }
                let draft = Draft(target)
                (draft.id, draft.stored) = (located.id, located.row)
                try leaveBuried(draft)
                try write(draft)
            }
            for (place, key) in zip(packer.places, keys) {
                seen.add(key)
                try records.place(key, at: place)
                records.write(key)
            }
            counts.inserted += keys.count
            probe?.packed(keys.count)
            try countObjects(keys.count + targets.count)
        } else {
            packed = nil
            for record in packer.drafts() {
                let draft = record.draft, place = draft.place
                for (slot, object) in record.targets { draft.targets[slot] = .some(try object.map { try gather(Draft($0)) }) }
                for (index, objects) in record.lists {
                    draft.members[index] = try objects.map { try gather(Draft($0)) }
                    // One that says of itself that it is a part was not packed.
                    if draft.mapping.relationships[index].mode != .replace { draft.additions.insert(index) }
                }
                try gather(draft).place = place
            }
        }
    }

    /// The objects that packed records name, in that order: those that are there, and the IDs of those that are not.
    private func located(_ targets: [RecordPacker.Target]) throws -> [NSManagedObjectContext.Located] {
        var result: [NSManagedObjectContext.Located?] = Array(repeating: nil, count: targets.count)
        for group in Dictionary(grouping: targets.indices, by: { targets[$0].mapping.entity.number }).values {
            let found = try context.findOrReserve(targets[group[0]].mapping.entity, constraint: 0, keys: group.map { targets[$0].key })
            for (number, located) in zip(group, found) { result[number] = located }
        }
        return result.compactMap { $0 }
    }

    private func lookUp() throws {
        for group in Dictionary(grouping: order, by: { $0.mapping.entity.number }).values {
            let entity = group[0].mapping.entity
            let located = try context.findOrReserve(entity, constraint: 0, keys: group.map(\.key))
            for (draft, located) in zip(group, located) {
                (draft.id, draft.stored) = (located.id, located.row)
                if comparesVersions, draft.isOvertaken(by: located.row) { throw RowsChanged() }
                try leaveBuried(draft)
                if isComparable, draft.knowledge != .record, draft.stored != nil, let id = draft.id { named.insert(id) }
            }
        }
    }

    /// Whether a row is what a record of its own said, and the record is the same, and all that the page says of it.
    func isUnchanged(_ draft: Draft) -> Bool {
        guard draft.knowledge == .record, !draft.isOutdated, !draft.isComposed, let stored = draft.stored else { return false }
        let slots = draft.mapping.bookkeeping
        return stored[slots.hash] == .int64(draft.hash) && stored[slots.deletedAt].isNull && stored[slots.stub] != .bool(true)
    }

    private func write(_ draft: Draft) throws {
        guard let id = draft.id else { return }
        if draft.isTwoThings { changesHeld = true }
        if draft.knowledge == .record {
            seen.add(id.key)
            if let place = draft.place { try records.place(id.key, at: place) }
        }
        if isUnchanged(draft) && draft.targets.allSatisfy({ slot, target in draft.stored?[slot].objectID == target?.id }) {
            counts.unchanged += 1
            return
        }
        if draft.knowledge == .record { records.write(id.key) }
        for (slot, target) in draft.targets {
            draft.row.update(slot, to: target.flatMap { $0.id }.map { .objectID($0) } ?? .null)
            draft.present.insert(slot)
        }
        if let stored = draft.stored { update(draft, id: id, stored: stored) } else { insert(draft, id: id) }
    }

    private func insert(_ draft: Draft, id: NSManagedObjectID) {
        let slots = draft.mapping.bookkeeping
        let row = draft.row
        row.update(slots.firstSeen, to: now)
        row.update(slots.lastChanged, to: now)
        row.update(slots.run, to: run)
        row.update(slots.stub, to: .bool(draft.knowledge == .stub))
        // Another page may insert the object under the same ID before this one is saved. Then this is all that is written here: for an object that is
        // only named, just its key; for any other, that it exists.
        var said = draft.present
        if draft.knowledge > .stub { said.formUnion(slots.existence) }
        if draft.knowledge == .record {
            row.update(slots.hash, to: .int64(draft.rowHash))
            said.insert(slots.hash)
        }
        context.insertRow(id, row, set: said)
        if draft.mapping.versionSlot != nil, draft.knowledge > .stub { madeWithVersions.append(id) }
        if draft.knowledge == .record { counts.inserted += 1 }
    }

    private func update(_ draft: Draft, id: NSManagedObjectID, stored: RowSnapshot) {
        let slots = draft.mapping.bookkeeping
        var changed = SlotSet()
        var copy: RowSnapshot?
        func set(_ slot: Int, _ value: AttributeValue) {
            guard stored[slot] != value else { return }
            let row = copy ?? stored.copy()
            copy = row
            row.update(slot, to: value)
            changed.insert(slot)
        }
        var saysOther = draft.hasOtherMembers
        draft.present.forEach { slot in
            set(slot, draft.row[slot])
            if changed.contains(slot) && !draft.joined.contains(slot) { saysOther = true }
        }
        if draft.knowledge > .stub {
            set(slots.stub, .bool(false))
            set(slots.deletedAt, .null)
        }
        let isNew = stored[slots.stub] == .bool(true)
        let changesValues = copy != nil
        // The row no longer says what its record said: the same record must not count as unchanged when it comes next.
        func forgetRecord() {
            guard saysOther && !stored[slots.hash].isNull else { return }
            set(slots.hash, .null)
            overwritten[draft.mapping.name, default: []].insert(id.key)
        }
        switch draft.knowledge {
        case .stub: break
        case .embedded:
            if changesValues || saysOther { changesHeld = true }
            forgetRecord()
        case .record:
            if draft.isOutdated { forgetRecord() }
            // If that changes nothing, the old hash will do, so that no needless write happens. Not with lists: the other side may already have said
            // what they say, and the old record, if it comes back, has to undo that.
            // The row of one that is outdated says what a newer record said. Where no record of its own was read, it is as whole as it will be: the page
            // need not be read each time.
            if stored[slots.hash].isNull || !draft.isOutdated && (changesValues || !draft.members.isEmpty) { set(slots.hash, .int64(draft.rowHash)) }
            // An object that was only named until now counts as new when its own record arrives.
            if isNew { counts.inserted += 1 } else if changesValues || saysOther { counts.updated += 1 } else { counts.unchanged += 1 }
        }
        if changesValues {
            set(slots.lastChanged, now)
            set(slots.run, run)
        }
        if let copy { context.updateRow(id, to: copy, changed: changed, base: stored) }
    }
}
