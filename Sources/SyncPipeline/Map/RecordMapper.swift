package import Foundation
import JSONReader
package import OpenCoreData
import SyncConfiguration

/// Turns the records of one page into changes of a worker context. Used on the context's queue.
///
/// Records are gathered in batches; each batch looks its objects up by key, one query an entity, and writes what differs. Values go from
/// the JSON token into the row; no managed object is made.
package final class RecordMapper {
    package private(set) var counts = RecordCounts()
    package private(set) var rejected: [RejectedRecord] = []
    /// The keys of the rows that the page's records are.
    private(set) var seen = KeySet()

    private let mapping: ModelMapping
    private let entity: EntityMapping
    private let context: NSManagedObjectContext
    private let now: AttributeValue
    private let run: AttributeValue
    private let maxRejected: Int
    private var drafts: [Draft.Name: Draft] = [:]
    private var order: [Draft] = []
    private static let batchSize = 1000

    package init(
        mapping: ModelMapping, entity: String, context: NSManagedObjectContext, now: Date, run: Int64, maxRejected: Int
    ) throws {
        guard let found = mapping.entities[entity] else { throw SyncError.unknownEntity(entity) }
        self.mapping = mapping
        self.entity = found
        self.context = context
        self.now = .date(now.timeIntervalSinceReferenceDate)
        self.run = .int64(run)
        self.maxRejected = maxRejected
    }

    /// What to read of each record.
    var plan: JSONFieldPlan { entity.plan }
    /// The rows that the page vouches for.
    var members: KeySet { seen }

    /// Takes one record. A bad record is set aside; too many of them fail the page.
    func add(_ record: JSONRecord) throws {
        if let problem = record.problem {
            try reject(record, reason: "\(problem)", path: "$")
            return
        }
        do {
            let draft = try draft(of: record, entity, knowledge: .record)
            draft.hash = Int64(bitPattern: record.hash.low ^ mapping.salt)
            _ = gather(draft)
        } catch let problem as ConversionProblem {
            try reject(record, reason: problem.message, path: problem.path)
        }
        if order.count >= Self.batchSize { try flush() }
    }

    private func reject(_ record: JSONRecord, reason: String, path: String) throws {
        rejected.append(RejectedRecord(record: record.index, reason: reason, path: path, raw: String(String(record.raw).prefix(1 << 16))))
        counts.quarantined += 1
        if rejected.count > maxRejected {
            throw SyncError.tooManyBadRecords(count: rejected.count, limit: maxRejected, first: rejected[0].reason)
        }
    }

    // MARK: Reading

    private func draft(of record: JSONRecord, _ mapping: EntityMapping, knowledge: Draft.Knowledge) throws -> Draft {
        var key: [AttributeValue] = []
        for field in mapping.keys {
            let value = try field.conversion.value(record[field.field], token: record.rawValue(of: field.field))
            if value.isNull {
                throw ConversionProblem(
                    path: field.conversion.path, message: "\(mapping.name) has no \(field.conversion.attribute.name), which is its key")
            }
            key.append(value)
        }
        let draft = Draft(mapping: mapping, key: UniqueKey(key), knowledge: knowledge)
        for field in mapping.attributes {
            let cell = record[field.field]
            let isMissing = cell.isMissing
            // An embedded object may be a short form of its record: what it leaves out is not null.
            if isMissing && knowledge != .record { continue }
            let value = isMissing ? field.fallback : try field.value(cell, of: record)
            if value.isNull && field.isRequired {
                throw ConversionProblem(
                    path: field.conversion.path,
                    message: "\(mapping.name).\(field.conversion.attribute.name) is required and \(isMissing ? "missing" : "null")")
            }
            draft.row.update(field.slot, to: value)
            draft.present.insert(field.slot)
        }
        for (index, field) in mapping.relationships.enumerated() {
            try read(record[field.field], field, index: index, of: draft)
        }
        return draft
    }

    private func read(_ cell: JSONCell, _ field: EntityMapping.RelationshipField, index: Int, of draft: Draft) throws {
        guard let destination = mapping.entities[field.destination] else { return }
        switch field.place {
        case .slot(let slot):
            if cell.isMissing && draft.knowledge != .record { return }
            draft.targets[slot] = .some(try target(cell, field, destination))
        case .toMany:
            // A list that is not there says nothing; an empty one says that there are none.
            if cell.isMissing { return }
            var members: [Draft] = []
            if case .array(let items) = cell {
                for item in items {
                    if let member = try target(item, field, destination) { members.append(member) }
                }
            } else if let member = try target(cell, field, destination) {
                members.append(member)
            }
            draft.members[index] = members
        }
    }

    /// The object that a cell names: an embedded one by its own record, a scalar by its key.
    private func target(_ cell: JSONCell, _ field: EntityMapping.RelationshipField, _ destination: EntityMapping) throws -> Draft? {
        switch cell {
        case .missing, .null: return nil
        case .object(let record):
            guard field.match == .auto || field.match == .embedded else {
                throw ConversionProblem(path: field.path, message: "an object stands where the key of a \(destination.name) is expected")
            }
            return gather(try draft(of: record, destination, knowledge: .embedded))
        case .array:
            throw ConversionProblem(path: field.path, message: "a list stands where one \(destination.name) is expected")
        default:
            guard field.match != .embedded else {
                throw ConversionProblem(path: field.path, message: "\(cell.brief) stands where a \(destination.name) object is expected")
            }
            guard destination.keys.count == 1 else {
                throw ConversionProblem(
                    path: field.path, message: "\(destination.name) has a key of \(destination.keys.count) attributes; one value can't name it")
            }
            let value: AttributeValue
            do {
                value = try destination.keys[0].conversion.value(cell)
            } catch {
                throw ConversionProblem(path: field.path, message: "key of \(destination.name): \(error.message)")
            }
            return gather(Draft(mapping: destination, key: UniqueKey([value]), knowledge: .stub))
        }
    }

    /// One draft for each object of the batch.
    private func gather(_ draft: Draft) -> Draft {
        if let known = drafts[draft.name] {
            known.absorb(draft)
            return known
        }
        drafts[draft.name] = draft
        order.append(draft)
        return draft
    }

    // MARK: Writing

    /// Looks up and writes what was gathered.
    package func flush() throws {
        try lookUp()
        try joinMembers()
        for draft in order { try write(draft) }
        try writePairs()
        drafts.removeAll(keepingCapacity: true)
        order.removeAll(keepingCapacity: true)
    }

    private func lookUp() throws {
        for group in Dictionary(grouping: order, by: { $0.mapping.entity.number }).values {
            let entity = group[0].mapping.entity
            let found = try context.find(entity, constraint: 0, keys: group.map(\.key))
            let unread = found.values.filter { $0.row == nil }.map(\.id)
            let rows = unread.isEmpty ? [:] : try context.currentRows(unread)
            for draft in group {
                if let match = found[draft.key], let row = match.row ?? rows[match.id] {
                    draft.id = match.id
                    draft.stored = row
                } else {
                    draft.id = context.makeID(for: entity)
                }
            }
        }
    }

    /// A to-many whose other side is a to-one is written there: the members' rows name the owner.
    private func joinMembers() throws {
        for owner in order where !owner.members.isEmpty && !isUnchanged(owner) {
            for (index, members) in owner.members {
                guard let slot = owner.mapping.relationships[index].inverseSlot, let id = owner.id else { continue }
                for member in members { member.targets[slot] = .some(owner) }
                if owner.stored == nil { continue }
                guard case .toMany(let number) = owner.mapping.relationships[index].place else { continue }
                let wanted = Set(members.compactMap(\.id))
                let before = try context.members(of: RelationshipKey(owner: id, toMany: number))
                let dropped = before.filter { !wanted.contains($0) }
                for (id, row) in try context.currentRows(dropped) {
                    let copy = row.copy()
                    copy.update(slot, to: .null)
                    context.updateRow(id, to: copy, changed: SlotSet([slot]), base: row)
                }
            }
        }
    }

    private func isUnchanged(_ draft: Draft) -> Bool {
        guard draft.knowledge == .record, let stored = draft.stored else { return false }
        let slots = draft.mapping.bookkeeping
        return stored[slots.hash] == .int64(draft.hash) && stored[slots.deletedAt].isNull && stored[slots.stub] != .bool(true)
    }

    private func write(_ draft: Draft) throws {
        guard let id = draft.id else { return }
        if draft.knowledge == .record { seen.keys.insert(id.key) }
        if isUnchanged(draft) && draft.targets.allSatisfy({ slot, target in draft.stored?[slot].objectID == target?.id }) {
            counts.unchanged += 1
            return
        }
        for (slot, target) in draft.targets {
            draft.row.update(slot, to: target.flatMap { $0.id }.map { .objectID($0) } ?? .null)
            draft.present.insert(slot)
        }
        if let stored = draft.stored { update(draft, id: id, stored: stored) } else { insert(draft, id: id) }
    }

    private func insert(_ draft: Draft, id: NSManagedObjectID) {
        let slots = draft.mapping.bookkeeping
        let row = RowSnapshot.defaults(draft.mapping.layout)
        draft.present.forEach { row.update($0, to: draft.row[$0]) }
        row.update(slots.firstSeen, to: now)
        row.update(slots.lastChanged, to: now)
        row.update(slots.run, to: run)
        row.update(slots.stub, to: .bool(draft.knowledge == .stub))
        if draft.knowledge == .record { row.update(slots.hash, to: .int64(draft.hash)) }
        context.insertRow(id, row, set: draft.present)
        if draft.knowledge == .record { counts.inserted += 1 }
    }

    private func update(_ draft: Draft, id: NSManagedObjectID, stored: RowSnapshot) {
        let slots = draft.mapping.bookkeeping
        var changed = SlotSet()
        var copy: RowSnapshot?
        func set(_ slot: Int, _ value: AttributeValue) {
            let row = copy ?? stored.copy()
            copy = row
            row.update(slot, to: value)
            changed.insert(slot)
        }
        draft.present.forEach { slot in
            if stored[slot] != draft.row[slot] { set(slot, draft.row[slot]) }
        }
        if draft.knowledge > .stub {
            if stored[slots.stub] == .bool(true) { set(slots.stub, .bool(false)) }
            if !stored[slots.deletedAt].isNull { set(slots.deletedAt, .null) }
        }
        guard copy != nil else {
            if draft.knowledge == .record { counts.unchanged += 1 }
            return
        }
        if draft.knowledge == .record {
            if stored[slots.hash] != .int64(draft.hash) { set(slots.hash, .int64(draft.hash)) }
            // An object that was only named until now is new with its own record.
            if stored[slots.stub] == .bool(true) { counts.inserted += 1 } else { counts.updated += 1 }
        }
        set(slots.lastChanged, now)
        set(slots.run, run)
        if let copy { context.updateRow(id, to: copy, changed: changed, base: stored) }
    }

    /// To-manys that are kept as pairs.
    private func writePairs() throws {
        for owner in order where !owner.members.isEmpty && !isUnchanged(owner) {
            for (index, members) in owner.members {
                let field = owner.mapping.relationships[index]
                guard field.inverseSlot == nil || field.isOrdered, case .toMany(let number) = field.place, let id = owner.id else { continue }
                let key = RelationshipKey(owner: id, toMany: number)
                let before = owner.stored == nil ? [] : try context.members(of: key)
                var listed: Set<NSManagedObjectID> = []
                context.setMembers(of: key, from: before, to: members.compactMap(\.id).filter { listed.insert($0).inserted })
            }
        }
    }
}
