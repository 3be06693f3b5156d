import Foundation
import OpenCoreData
import SyncConfiguration

/// What is concluded from what a complete listing did not contain. Pure: a judgement over key sets; nothing is touched here.
struct Sweep: Sendable {
    /// What to do about the rows that were missing.
    struct Verdict: Sendable, Hashable {
        /// Rows to remove.
        var doomed: Set<Int64> = []
        /// How often each missing row has been missing now; rows to be removed are not in it.
        var missing = MissingKeys()
        /// Which guard held deletions back, in words; nil if none did.
        var guardName: String?
        /// How many rows the guard protected.
        var held = 0
    }

    let configuration: DeletionConfiguration

    /// - Parameters:
    ///   - known: the rows that earlier complete runs vouched for.
    ///   - seen: the rows of this complete run.
    ///   - missing: how often each row was missing before.
    ///   - isAccepted: somebody let the held deletions through.
    func verdict(known: Set<Int64>, seen: Set<Int64>, missing before: MissingKeys, isAccepted: Bool) -> Verdict {
        var verdict = Verdict()
        let absent = known.subtracting(seen)
        guard !absent.isEmpty else { return verdict }
        for key in absent { verdict.missing.counts[key] = (before.counts[key] ?? 0) + 1 }
        let ripe = Set(verdict.missing.counts.filter { $0.value >= configuration.confirmRuns }.keys)
        guard !ripe.isEmpty else { return verdict }
        if !isAccepted, let name = guardName(ripe: ripe.count, known: known.count, seen: seen.count) {
            verdict.guardName = name
            verdict.held = ripe.count
            return verdict
        }
        verdict.doomed = ripe
        for key in ripe { verdict.missing.counts[key] = nil }
        return verdict
    }

    private func guardName(ripe: Int, known: Int, seen: Int) -> String? {
        if seen < configuration.minExpected { return "min_expected = \(configuration.minExpected): the list had \(seen)" }
        if ripe > configuration.maxCount { return "max_count = \(configuration.maxCount)" }
        if Double(ripe) > configuration.maxFraction * Double(known) { return "max_fraction = \(configuration.maxFraction) of \(known)" }
        return nil
    }
}

/// Removes rows: as tombstones, or for good.
struct Removal {
    let entity: EntityMapping
    let action: DeletionConfiguration.Action
    let now: Date
    let run: Int64

    /// Removes the rows with these keys in `context`. Returns how many there were.
    func remove(_ keys: Set<Int64>, in context: NSManagedObjectContext) throws -> Int {
        guard let store = context.endOfChain?.store(for: entity.entity) else { return 0 }
        let ids = keys.sorted().map {
            NSManagedObjectID(entity: entity.entity, key: $0, store: store.identity, isTemporary: false)
        }
        let rows = try context.currentRows(ids)
        var removed = 0
        for (id, row) in rows {
            switch action {
            case .delete: context.delete(context.object(with: id))
            case .tombstone:
                let slots = entity.bookkeeping
                guard row[slots.deletedAt].isNull else { continue }
                let copy = row.copy()
                copy.update(slots.deletedAt, to: AttributeValue(now))
                copy.update(slots.lastChanged, to: AttributeValue(now))
                copy.update(slots.run, to: .int64(run))
                context.updateRow(id, to: copy, changed: SlotSet([slots.deletedAt, slots.lastChanged, slots.run]), base: row)
            }
            removed += 1
        }
        return removed
    }

    /// Deletes tombstones older than `purgeAfter` for good.
    func purge(olderThan cutoff: Date, in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "%K < %@", ModelBuilder.Bookkeeping.deletedAt.rawValue, cutoff)
        for object in try context.fetch(request) { context.delete(object) }
    }
}
