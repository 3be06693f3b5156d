import Foundation
import Synchronization

/// Makes one change set of the entries of a journal, as the context that took the pushes would have, and writes it.
///
/// What can't be applied (its object is gone, its key is somebody else's) is left out and told, together with what can't be without it.
struct PushReplay {
    /// Something that was left out.
    struct Refused {
        let id: NSManagedObjectID
        let change: PendingRow
        let reason: String
    }

    private let folder: PushJournalFolder
    private let coordinator: NSPersistentStoreCoordinator
    /// What the stores hold of the objects that the entries are about.
    private var stored: [NSManagedObjectID: RowSnapshot] = [:]
    /// Those that turned out to be others, where the replay has come to.
    private var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
    private(set) var changes = ChangeSet()
    private(set) var refused: [Refused] = []
    private(set) var pushes = 0

    init(_ folder: PushJournalFolder, coordinator: NSPersistentStoreCoordinator) throws {
        self.folder = folder
        self.coordinator = coordinator
        let named = folder.entries.flatMap { $0.records.map(\.id) } + folder.turns.flatMap { $0.identities.flatMap { [$0, $1] } }
        stored = try coordinator.storedRows(for: Array(Set(named)))
        compose()
        giveOtherKeys()
        try dropDangling()
        if let first = folder.entries.first { changes.journaled = first.number...max(first.number, folder.last) }
    }

    // MARK: What the pushes amount to

    private mutating func compose() {
        let level = ContextLevel(chain: ContextChain.scratch)
        var turns = folder.turns[...]
        for entry in folder.entries where !folder.isForgotten(entry.number) {
            while let turn = turns.first, turn.entry < entry.number { take(turns.removeFirst(), over: level) }
            pushes += 1
            take(entry.records, of: entry.number, over: level)
        }
        for turn in turns { take(turn, over: level) }
        changes = level.pending
    }

    private mutating func take(_ records: [PushRecord], of entry: UInt64, over level: ContextLevel) {
        var pushed = ChangeSet()
        for record in records where !folder.isForgotten(entry, record) {
            if let record = record.replacing(current) { apply(record, to: &pushed, over: level) }
        }
        level.merge(pushed)
    }

    /// Objects that turned out to be others are left out from here on, and what became of the others counts.
    private mutating func take(_ turn: PushJournalFolder.Turn, over level: ContextLevel) {
        // What is in the store as itself was saved after all.
        for (id, other) in turn.identities where stored[id] == nil {
            if current(other) == id { identities[other] = nil }
            identities[id] = other
        }
        var changes = level.pending
        for id in turn.identities.keys where identities[id] != nil { changes.set(id, nil) }
        level.pending = changes.replacing(current)
        if !folder.isForgotten(turn.entry) { take(turn.records, of: turn.entry, over: level) }
    }

    /// What an object turned out to be; nil: nothing else.
    private func current(_ id: NSManagedObjectID) -> NSManagedObjectID? {
        guard var result = identities[id] else { return nil }
        while let next = identities[result] { result = next }
        return result
    }

    private mutating func apply(_ record: PushRecord, to pushed: inout ChangeSet, over level: ContextLevel) {
        let id = record.id
        switch record {
        case .pairs(let key, let pairs):
            pushed.pairs[key] = pairs
            return
        case .order(let key, let order):
            pushed.orders[key] = order
            return
        default: break
        }
        let earlier = pushed[id] ?? level.change(of: id)
        switch record {
        case .insert(_, let row, let set): pushed.set(id, PendingRow(kind: .inserted, row: row, changed: set))
        case .foundation(_, let row):
            // Nobody wrote down which of its values were set: those that are not the defaults.
            let set = row.differences(from: .defaults(row.layout))
            if earlier == nil && stored[id] == nil { pushed.set(id, PendingRow(kind: .inserted, row: row, changed: set)) }
        case .update(_, let values):
            guard let current = earlier?.row ?? stored[id], current.layout === id.layout else {
                let row = RowSnapshot.make(id.layout)
                for (slot, value) in values { row.update(slot, to: value) }
                refuse(id, PendingRow(kind: .updated, row: row, changed: SlotSet(values.map(\.slot))), "the object no longer exists")
                return
            }
            let row = current.copy()
            for (slot, value) in values { row.update(slot, to: value) }
            if let known = pushed[id], known.kind == .inserted {
                var changed = known.changed
                for (slot, _) in values { changed.insert(slot) }
                pushed.set(id, PendingRow(kind: .inserted, row: row, changed: changed))
            } else {
                pushed.set(id, PendingRow(kind: .updated, row: row, changed: SlotSet(values.map(\.slot)), base: earlier?.row ?? stored[id]))
            }
        case .delete:
            if let current = earlier?.row ?? stored[id] {
                pushed.set(id, PendingRow(kind: .deleted, row: current, base: earlier?.base ?? stored[id]))
            }
        case .pairs, .order: return
        }
    }

    private mutating func refuse(_ id: NSManagedObjectID, _ change: PendingRow, _ reason: String) {
        refused.append(Refused(id: id, change: change, reason: reason))
    }

    /// New objects keep the keys that were reserved for them. Where a row has the key already it is the same one (then nothing is left to do),
    /// or somebody else's, and the new object gets another.
    private mutating func giveOtherKeys() {
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
        for id in changes.ids(.inserted) {
            guard let row = changes[id]?.row, let there = stored[id] else { continue }
            if there.layout === row.layout && there.differences(from: row.withoutTransients).isEmpty {
                changes.set(id, nil)
            } else {
                let other = coordinator.makeID(for: id.entity)
                let change = changes[id]
                changes.set(id, nil)
                changes.set(other, change)
                identities[id] = other
            }
        }
        changes = changes.replacing(identities)
    }

    // MARK: What would hang in the air

    /// References to objects that are nowhere are cleared; a row that must not be without is left out, and what refers to it looked at again.
    private mutating func dropDangling() throws {
        var known: [NSManagedObjectID: Bool] = [:]
        var targets: Set<NSManagedObjectID> = []
        forEachReference { _, _, target in targets.insert(target) }
        for (key, pairs) in changes.pairs { targets.formUnion(pairs.added.union([key.owner])) }
        for (key, order) in changes.orders { targets.formUnion(order + [key.owner]) }
        let unknown = targets.filter { changes[$0] == nil && stored[$0] == nil }
        let found = try coordinator.storedRows(for: Array(unknown))
        for id in unknown { known[id] = found[id] != nil }
        var missing = Set(known.filter { !$0.value }.keys)
        while !missing.isEmpty {
            var next: Set<NSManagedObjectID> = []
            var references: [(id: NSManagedObjectID, slot: Int, target: NSManagedObjectID)] = []
            forEachReference { id, slot, target in if missing.contains(target) { references.append((id, slot, target)) } }
            for (id, slot, target) in references {
                guard let change = changes[id], let row = change.row else { continue }
                let isNeeded = row.layout.relationship(atSlot: slot).map { !$0.isOptional } ?? false
                refuse(id, change, "\(row.layout.names[slot]) leads to \(target), which no longer exists")
                if isNeeded {
                    changes.set(id, nil)
                    if change.kind == .inserted { next.insert(id) }
                } else {
                    let cleared = row.copy()
                    cleared.update(slot, to: .null)
                    changes.set(id, PendingRow(kind: change.kind, row: cleared, changed: change.changed, base: change.base))
                }
            }
            forgetMentions(of: missing)
            missing = next
        }
    }

    private func forEachReference(_ body: (NSManagedObjectID, Int, NSManagedObjectID) -> Void) {
        changes.forEach { id, change in
            guard change.kind != .deleted, let row = change.row else { return }
            for slot in row.layout.toOneSlots where change.kind == .inserted || change.changed.contains(slot) {
                if let target = row[slot].objectID { body(id, slot, target) }
            }
        }
    }

    private mutating func forgetMentions(of ids: Set<NSManagedObjectID>) {
        for (key, pairs) in changes.pairs where ids.contains(key.owner) || !pairs.added.isDisjoint(with: ids) {
            var rest = pairs
            rest.added.subtract(ids)
            changes.pairs[key] = ids.contains(key.owner) || rest.isEmpty ? nil : rest
        }
        for (key, order) in changes.orders {
            if ids.contains(key.owner) { changes.orders[key] = nil } else { changes.orders[key] = order.filter { !ids.contains($0) } }
        }
    }

    // MARK: Conflicts

    /// Leaves out rows whose unique key the store gave to somebody else, and clears what refers to them.
    mutating func leaveOut(_ conflicts: [StoreConflict.KeyConflict]) throws {
        for conflict in conflicts {
            guard let change = changes[conflict.id] else { continue }
            refuse(conflict.id, change, "its unique key now belongs to \(conflict.owner)")
            changes.set(conflict.id, nil)
            forgetMentions(of: [conflict.id])
        }
        try dropDangling()
    }
}

/// What a document found in its push journal when it was opened, and what became of it.
public struct PushRecovery: Sendable {
    /// How many pushed saves were found that had not been committed.
    public let pushes: Int
    /// How many objects they inserted, changed or deleted, in the store now.
    public let objects: Int
    /// Whether it is committed. False if the store could not be written for the time being: then it is unsaved in the document, and in the
    /// journal still.
    public let isCommitted: Bool
    /// What could not be applied, and why; one sentence each. It was kept in files, see `keptAside`.
    public let problems: [String]
    /// Which to-manys of what was applied have too few or too many members for the model, one sentence each; or that they could not be counted. Nothing
    /// was left out for that: the stores hold it, and the next save of such an owner is refused (1580, 1590) until it is put right.
    public let miscounted: [String]
    /// The files in the document's package that hold what could not be applied. Nothing reads or removes them but people.
    public let keptAside: [URL]
}

/// What a journal is about to do on the disk.
package enum PushJournalStep: Equatable, Sendable {
    /// Add so many bytes to a file of entries.
    case write(Int)
    /// Wait until the disk has a file.
    case synchronize(URL)
    /// Wait until the disk has the names in a folder.
    case synchronizeNames(URL)
    /// Wait until the disk has what the stores committed.
    case synchronizeStores
    /// Put a file aside.
    case keep(String)
}

/// Hears of each step before it; what it throws is what the step throws. For trying failures.
package final class PushJournalObserver: Sendable {
    private struct Handler: Sendable {
        let tell: @Sendable (PushJournalStep) throws -> Void
    }

    private let handler = Mutex<Handler?>(nil)

    package init() {}

    func set(_ handler: (@Sendable (PushJournalStep) throws -> Void)?) {
        self.handler.withLock { $0 = handler.map { Handler(tell: $0) } }
    }

    func tell(_ step: PushJournalStep) throws { try handler.withLock { $0 }?.tell(step) }
}
