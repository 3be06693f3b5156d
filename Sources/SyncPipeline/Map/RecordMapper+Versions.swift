import Foundation
import OpenCoreData

/// What records say of objects that have versions (`version_field`): what is older than the row changes nothing of it.
///
/// Such records wait until their batch is complete. Then the rows are looked up, and what is not outdated is gathered with all that it holds and names;
/// of anything else only that the object exists.
extension RecordMapper {
    /// Takes in what a record says, or an object that a page mentions.
    ///
    /// - Parameter place: where it stands in the page; nil: it is none of the page's records.
    func take(_ draft: Draft, at place: Int?) throws {
        let known = try gather(draft)
        if let place { known.place = place }
        if comparesVersions { waiting.append(known) }
    }

    var isBatchFull: Bool { order.count + waitingObjects >= batchSize }

    /// Gathers what waits and is not outdated.
    func admitWaiting() throws {
        defer {
            waiting.removeAll(keepingCapacity: true)
            waitingObjects = 0
        }
        guard !waiting.isEmpty else { return }
        var keys: [Int: (mapping: EntityMapping, keys: Set<UniqueKey>)] = [:]
        func note(_ draft: Draft) {
            if draft.mapping.versionSlot != nil {
                keys[draft.mapping.entity.number, default: (draft.mapping, [])].keys.insert(draft.key)
            }
            draft.inner.forEach(note)
        }
        waiting.forEach(note)
        var rows: [Draft.Name: RowSnapshot] = [:]
        for (number, wanted) in keys {
            for (key, row) in try self.rows(of: wanted.mapping, Array(wanted.keys)) { rows[Draft.Name(entity: number, key: key)] = row.row }
        }
        for (step, draft) in waiting.enumerated() {
            try checkCancellation(step)
            _ = try admit(draft, rows)
        }
    }

    /// The rows of objects by their keys.
    func rows(of mapping: EntityMapping, _ keys: [UniqueKey]) throws -> [UniqueKey: (id: NSManagedObjectID, row: RowSnapshot)] {
        let found = try context.find(mapping.entity, constraint: 0, keys: keys)
        let unread = found.values.filter { $0.row == nil }.map(\.id), rows = unread.isEmpty ? [:] : try context.currentRows(unread)
        return found.compactMapValues { found in (found.row ?? rows[found.id]).map { (found.id, $0) } }
    }

    private func admit(_ draft: Draft, _ rows: [Draft.Name: RowSnapshot]) throws -> Draft {
        if let slot = draft.mapping.versionSlot {
            draft.knownVersion = rows[draft.name]?[slot]
            // Of two records of one object the second is compared with the first.
            let known = drafts[draft.name].flatMap { $0.present.contains(slot) ? $0.row[slot] : nil } ?? draft.knownVersion
            if let known, let version = draft.version, version.isVersion(before: known) {
                // The row is not what the record says: the page is read as a whole when it comes next.
                if draft.knowledge == .record { records.forgoComparison() }
                return try placed(Draft(outdated: draft))
            }
        }
        for (slot, target) in draft.targets.sorted(by: { $0.key < $1.key }) {
            draft.targets[slot] = .some(try target.map { try admit($0, rows) })
        }
        for (index, members) in draft.members.sorted(by: { $0.key < $1.key }) {
            draft.members[index] = try members.map { try admit($0, rows) }
        }
        return try placed(draft)
    }

    private func placed(_ draft: Draft) throws -> Draft {
        let known = try join(draft)
        if let place = draft.place { known.place = place }
        return known
    }
}

extension Draft {
    /// The objects that it holds and names.
    fileprivate var inner: [Draft] { targets.values.compactMap { $0 } + members.values.joined() }

    /// Whether its row is another than that which it was compared with.
    ///
    /// - Parameter row: nil: there is none.
    func isOvertaken(by row: RowSnapshot?) -> Bool {
        guard let slot = mapping.versionSlot else { return false }
        return row?[slot] != knownVersion
    }
}

extension AttributeValue {
    /// Whether this is the version of something older: a smaller number, an earlier time, or a text whose bytes come before. Never where one of them is
    /// no version, or is one of another type.
    func isVersion(before other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.int64(let mine), .int64(let theirs)): mine < theirs
        case (.date(let mine), .date(let theirs)): mine < theirs
        case (.decimal(let mine), .decimal(let theirs)): mine < theirs
        case (.string(let mine), .string(let theirs)): mine.utf8.lexicographicallyPrecedes(theirs.utf8)
        default: false
        }
    }
}
