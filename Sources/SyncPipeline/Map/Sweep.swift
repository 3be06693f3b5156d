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

    /// The run whose listing is judged.
    struct Listing: Sendable {
        /// Its number.
        let run: Int64
        /// When it ended.
        let time: Date
        /// The number of the run that read the page which was read the longest ago. One answered as unmodified was read before: the same evidence,
        /// seen again, is no second listing.
        let oldestPage: Int64
    }

    /// - Parameters:
    ///   - known: the rows that earlier complete runs vouched for.
    ///   - seen: the rows of this complete run.
    ///   - missing: how often each row was missing before.
    ///   - isAccepted: somebody let the held deletions through.
    ///   - others: rows that other resources vouch for; they are let go of, and stay.
    ///   - listing: nil: one that was read as a whole just now.
    func verdict(
        known: Set<Int64>, seen: Set<Int64>, missing before: MissingKeys, isAccepted: Bool, others: Set<Int64> = [], listing: Listing? = nil
    ) -> Verdict {
        var verdict = Verdict()
        let absent = known.subtracting(seen)
        guard !absent.isEmpty else { return verdict }
        count(absent, before, listing, into: &verdict.missing)
        var ripe = Set(verdict.missing.counts.filter { $0.value >= configuration.confirmRuns }.keys)
        let released = ripe.intersection(others)
        verdict.missing.forget(released)
        ripe.subtract(released)
        guard !ripe.isEmpty else { return verdict }
        if !isAccepted, let name = guardName(ripe: ripe.count, known: known.count, seen: seen.count) {
            verdict.guardName = name
            verdict.held = ripe.count
            return verdict
        }
        verdict.doomed = ripe
        verdict.missing.forget(ripe)
        return verdict
    }

    private func count(_ absent: Set<Int64>, _ before: MissingKeys, _ listing: Listing?, into missing: inout MissingKeys) {
        var isNew = true
        if let judged = before.judged, let listing { isNew = listing.oldestPage > judged.run }
        for key in absent {
            let count = before.counts[key] ?? 0
            missing.counts[key] = isNew || count == 0 ? count + 1 : count
        }
        let isJudged = isNew || absent.contains { before.counts[$0] == nil }
        missing.judged = isJudged ? listing.map { .init(run: $0.run, time: isNew ? $0.time : before.judged?.time ?? $0.time) } : before.judged
    }

    /// One row of a small table may go, whatever its share is.
    private var smallest: Double { configuration.maxFraction == 0 ? 0 : 1 }

    private func guardName(ripe: Int, known: Int, seen: Int) -> String? {
        if seen < configuration.minExpected { return "min_expected = \(configuration.minExpected): the list had \(seen)" }
        if ripe > configuration.maxCount { return "max_count = \(configuration.maxCount)" }
        if Double(ripe) > max(smallest, configuration.maxFraction * Double(known)) {
            return "max_fraction = \(configuration.maxFraction) of \(known)"
        }
        return nil
    }
}

/// Removes rows: as tombstones, or for good.
struct Removal {
    let entity: EntityMapping
    let action: DeletionConfiguration.Action
    let now: Date
    let run: Int64

    /// Removes the rows with these keys in `context`. Returns those that there were.
    func remove(_ keys: Set<Int64>, in context: NSManagedObjectContext) throws -> Set<Int64> {
        let rows = try entity.rows(keys, in: context)
        var removed: Set<Int64> = []
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
            removed.insert(id.key)
        }
        return removed
    }

    /// Deletes for good those of these tombstones that are still the ones made in that second: a row may have come back since, and gone again for
    /// another resource.
    func purge(_ keys: Set<Int64>, madeAt second: Int64, in context: NSManagedObjectContext) throws {
        for (id, row) in try entity.rows(keys, in: context) {
            guard case .date(let time) = row[entity.bookkeeping.deletedAt], Int64(time.rounded(.down)) == second else { continue }
            context.delete(context.object(with: id))
        }
    }

    /// All tombstones of the entity, by the second they were made in.
    func tombstones(in context: NSManagedObjectContext) throws -> [Int64: KeySet] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "%K != nil", ModelBuilder.Bookkeeping.deletedAt.rawValue)
        return try context.fetch(request).reduce(into: [:]) { found, object in
            guard let time = object.value(forKey: ModelBuilder.Bookkeeping.deletedAt.rawValue) as? Date else { return }
            found[MissingKeys.second(time), default: KeySet()].keys.insert(object.objectID.key)
        }
    }
}
