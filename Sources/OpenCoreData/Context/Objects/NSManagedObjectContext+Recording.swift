import Foundation
import Synchronization

/// Pushes that are written down before they come in.
extension NSManagedObjectContext {
    /// From now on every push into this context is written down first, and `recorder` hears of those that are thrown away here or in the parent.
    /// Nil ends it.
    ///
    /// - Parameter includingNewOnes: false: only those that it has already are kept up with.
    package func recordPushes(with recorder: (any PushRecorder)?, includingNewOnes: Bool = true) {
        let end = endOfChain
        chain.withLock {
            level.pushRecorder = recorder
            level.recordsPushes = recorder != nil && includingNewOnes
            parent?.level.pushRecorder = recorder
        }
        end?.pushRecorder.withLock { $0 = recorder }
    }

    /// Writes a child's changes down and takes them in, or neither. Returns nil where it did neither: the pushes are not this recorder's any more.
    ///
    /// Neither disk nor encoding happens within the chain's lock. What comes in is worked out before (it is what is written) and, since others may
    /// have changed rows meanwhile, once more within the lock in which it comes in; where that says something else, it is written anew.
    func takeIn(
        _ changes: ChangeSet, from sender: SaveSender, recordedBy recorder: any PushRecorder, _ read: RowsRead
    ) throws -> ReceivedChanges? {
        try recorder.inTurn {
            // It may have been ended while this push waited for its turn.
            guard chain.withLock({ level.recordsPushes && level.pushRecorder === recorder }) else { return nil }
            var written: WrittenPush?
            do {
                while true {
                    switch try draftOrTakeIn(changes, from: sender, written, read) {
                    case .takenIn(let received): return received
                    case .draft(let admission, let stamp):
                        if let written { recorder.forget(written.entry...written.entry, only: nil) }
                        written = nil
                        let needed = unsavedRows(neededBy: admission.changes, unknownTo: recorder)
                        written = WrittenPush(entry: try recorder.write(admission.changes, needing: needed), admission: admission, stamp: stamp)
                    }
                }
            } catch {
                if let written { recorder.forget(written.entry...written.entry, only: nil) }
                throw error
            }
        }
    }

    /// A push as it was written down.
    private struct WrittenPush {
        let entry: UInt64
        let admission: Admission
        /// The chain's when it was worked out.
        let stamp: UInt64
    }

    private enum RecordedPush {
        /// What has to be written.
        case draft(Admission, stamp: UInt64)
        case takenIn(ReceivedChanges)
    }

    /// Takes the changes in if what was written says what they are now; else says what has to be written.
    private func draftOrTakeIn(
        _ changes: ChangeSet, from sender: SaveSender, _ written: WrittenPush?, _ read: RowsRead
    ) throws -> RecordedPush {
        try chain.withLock {
            // Runs on the sender's queue, and `rowCache` is remembered on this context's.
            let stamp = chain.stamp(with: endOfChain?.rowCache)
            var admission = try written.flatMap { $0.stamp == stamp ? $0.admission : nil } ?? admissible(changes, from: sender, read)
            guard let written, written.stamp == stamp || written.admission.changes.saysTheSame(as: admission.changes) else {
                return .draft(admission, stamp: stamp)
            }
            admission.changes.journaled = written.entry...written.entry
            takeIn(admission, from: sender)
            return .takenIn(admission.received)
        }
    }

    /// What a journal has to know of objects that turn out to be others as these changes come in. Within the chain's lock, before they do.
    func turn(by admission: Admission) -> PushTurn {
        var turn = PushTurn(admission.identities, at: admission.changes.journaled?.upperBound)
        for id in Set(admission.identities.values) {
            turn.changes.set(id, admission.changes[id])
            if let change = changeInChain(of: id), change.kind == .inserted { turn.rows[id] = change.row }
        }
        return turn
    }

    /// Objects turned out to be others as this context, the last of its chain, was saved. Within the chain's lock.
    func didSave(turning identities: [NSManagedObjectID: NSManagedObjectID], of changes: ChangeSet) {
        chain.replace(identities)
        if !identities.isEmpty { level.pushRecorder?.turned(PushTurn(identities, at: changes.journaled?.upperBound)) }
    }

    /// Rows that only exist as unsaved inserts from here toward the store, made here and not pushed: what a push changes of them or refers to
    /// would hang in the air without them.
    private func unsavedRows(
        neededBy changes: ChangeSet, unknownTo recorder: any PushRecorder
    ) -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        var asked = changes.mentionedIDs
        var open = asked
        while !open.isEmpty {
            let unknown = recorder.unrecorded(open)
            let found: [(NSManagedObjectID, RowSnapshot)] = chain.withLock {
                unknown.compactMap { id in
                    guard let change = changeInChain(of: id), change.kind == .inserted else { return nil }
                    return change.row.map { (id, $0) }
                }
            }
            open = []
            for (id, row) in found {
                result[id] = row
                for slot in row.layout.toOneSlots {
                    if let target = row[slot].objectID, changes[target]?.kind != .inserted, asked.insert(target).inserted { open.insert(target) }
                }
            }
        }
        return result
    }
}

extension ChangeSet {
    /// The objects that these changes change or refer to without inserting them.
    fileprivate var mentionedIDs: Set<NSManagedObjectID> {
        var result: Set<NSManagedObjectID> = []
        func mention(_ id: NSManagedObjectID) { if self[id]?.kind != .inserted { result.insert(id) } }
        forEach { id, change in
            guard change.kind != .deleted, let row = change.row else { return }
            if change.kind == .updated { result.insert(id) }
            for slot in row.layout.toOneSlots where change.kind == .inserted || change.changed.contains(slot) {
                row[slot].objectID.map(mention)
            }
        }
        for (key, changes) in pairs {
            mention(key.owner)
            changes.added.forEach(mention)
        }
        for (key, order) in orders {
            mention(key.owner)
            order.forEach(mention)
        }
        return result
    }

    /// Whether another set inserts and deletes the same rows and changes the same values to the same, from whichever state they started.
    fileprivate func saysTheSame(as other: ChangeSet) -> Bool {
        guard insertedCount == other.insertedCount, updatedCount == other.updatedCount, deletedCount == other.deletedCount,
            orders == other.orders
        else { return false }
        let (pairs, others) = (pairs.all, other.pairs.all)
        guard pairs.count == others.count, pairs.allSatisfy({ others[$0]?.added == $1.added && others[$0]?.removed == $1.removed }) else {
            return false
        }
        var isSame = true
        forEach { id, mine in
            guard isSame else { return }
            guard let theirs = other[id], theirs.kind == mine.kind else { return isSame = false }
            guard mine.kind != .deleted, mine.row !== theirs.row else { return }
            guard let row = mine.row, let their = theirs.row, mine.changed == theirs.changed else { return isSame = false }
            if mine.kind == .inserted {
                isSame = row.differences(from: their).isEmpty
            } else {
                mine.changed.forEach { if row[$0] != their[$0] { isSame = false } }
            }
        }
        return isSame
    }
}
