import Foundation
import OpenCoreData
import SyncConfiguration

/// What follows from the absence of rows in a complete listing. Pure: a judgement over key sets; nothing is changed here.
struct Sweep: Sendable {
    /// What to do about the rows that were missing.
    struct Verdict: Sendable, Hashable {
        /// Rows to remove.
        var doomed: KeyRuns = []
        /// How often each missing row has been missing now; rows to be removed are not in it.
        var missing = MissingKeys()
        /// Which guard held deletions back, in words; nil if none did.
        var guardName: String?
        /// The model's rules hold them, which no acceptance can override: an acceptance is used up all the same.
        var isDenied = false
        /// How many rows the guard protected.
        var held = 0
    }

    let configuration: DeletionConfiguration
    /// The server says that nothing is there any more of what was listed: how large a share that is, and how little is left, shows nothing.
    var isVanished = false
    /// What speaks against removing anything, whatever the numbers are; nil: nothing.
    var objection: String?

    /// The run whose listing is judged.
    struct Listing: Sendable {
        /// Its number.
        let run: Int64
        /// When it ended.
        let time: Date
        /// The number of the run that read the page whose reading is oldest. A page answered as unmodified was read earlier: the same evidence, seen
        /// again, is not a second listing.
        let oldestPage: Int64
    }

    /// - Parameters:
    ///   - known: the rows that earlier complete runs vouched for.
    ///   - seen: the rows of this complete run.
    ///   - missing: how often each row was missing before.
    ///   - isAccepted: somebody accepted the held deletions.
    ///   - others: rows that other resources vouch for; this resource drops them, but they stay.
    ///   - denials: how the model's rules forbid removing a row.
    ///   - listing: nil: one that was read as a whole just now.
    func verdict(
        known: KeyRuns, seen: KeyRuns, missing before: MissingKeys, isAccepted: Bool, others: KeyRuns = [],
        denials: [Int64: Denial] = [:], listing: Listing? = nil
    ) -> Verdict {
        var verdict = Verdict()
        let absent = known.subtracting(seen)
        guard !absent.isEmpty else { return verdict }
        count(absent, before, listing, into: &verdict.missing)
        var ripe = verdict.missing.missing(atLeast: configuration.confirmRuns)
        let released = ripe.intersection(others)
        verdict.missing.forget(released)
        ripe.subtract(released)
        verdict.deny(&ripe, denials)
        guard !ripe.isEmpty else { return verdict }
        if !isAccepted, let name = guardName(ripe: ripe.count, known: known.count, seen: seen.count) {
            verdict.guardName = name
            verdict.held += ripe.count
            return verdict
        }
        verdict.doomed = ripe
        verdict.missing.forget(ripe)
        return verdict
    }

    /// What becomes of rows whose own records say that they are gone. One such record is enough, and how large a share they are shows nothing; only how many
    /// go at once is limited, since what records are asked may be wrong.
    ///
    /// - Parameters:
    ///   - isAccepted: somebody accepted the held deletions.
    ///   - denials: how the model's rules forbid removing a row.
    func verdict(gone: KeyRuns, isAccepted: Bool, denials: [Int64: Denial] = [:]) -> Verdict {
        var verdict = Verdict(), ripe = gone
        verdict.deny(&ripe, denials)
        if !isAccepted, ripe.count > configuration.maxCount {
            verdict.guardName = "max_count = \(configuration.maxCount)"
            verdict.isDenied = false
            verdict.held += ripe.count
        } else {
            verdict.doomed = ripe
        }
        return verdict
    }

    /// How the model's rules forbid removing a row.
    struct Denial: Sendable, Hashable {
        /// The first relationship with such a rule that leads to live rows: `Team.people`.
        let relationship: String
        /// Those of them that are of the same entity: if they go as well, they do not count.
        var peers: Set<Int64> = []
        /// Others need it, which do not go with it.
        var isNeededByOthers = false
    }

    /// Those of the rows that may not go, because something would be left without them.
    fileprivate static func denied(_ ripe: KeyRuns, _ denials: [Int64: Denial]) -> Set<Int64> {
        var denied: Set<Int64> = []
        func goes(_ key: Int64) -> Bool { ripe.contains(key) && !denied.contains(key) }
        while true {
            let more = denials.filter { key, denial in
                guard goes(key) else { return false }
                return denial.isNeededByOthers || !denial.peers.allSatisfy(goes)
            }
            if more.isEmpty { return denied }
            denied.formUnion(more.keys)
        }
    }

    private func count(_ absent: KeyRuns, _ before: MissingKeys, _ listing: Listing?, into missing: inout MissingKeys) {
        var isNew = true
        if let judged = before.judged, let listing { isNew = listing.oldestPage > judged.run }
        let known = before.counts(of: absent)
        for (count, keys) in known { missing.count(keys, isNew ? count + 1 : count) }
        let fresh = absent.subtracting(known.values.reduce(into: KeyCollector()) { $0.add($1) }.keys)
        missing.count(fresh, 1)
        let isJudged = isNew || !fresh.isEmpty
        missing.judged = isJudged ? listing.map { .init(run: $0.run, time: isNew ? $0.time : before.judged?.time ?? $0.time) } : before.judged
    }

    /// One row of a small table may go, whatever its share is.
    private var smallest: Double { configuration.maxFraction == 0 ? 0 : 1 }

    /// What speaks against so many parts of those that were asked for being gone: then it may be the service, or the credential, and not they.
    func objection(toGone gone: Int, ofParts asked: Int) -> String? {
        Double(gone) > max(smallest, configuration.maxFraction * Double(asked))
            ? "max_fraction = \(configuration.maxFraction) of \(asked) parts" : nil
    }

    private func guardName(ripe: Int, known: Int, seen: Int) -> String? {
        if let objection { return objection }
        if !isVanished, seen < configuration.minExpected { return "min_expected = \(configuration.minExpected): the list had \(seen)" }
        if ripe > configuration.maxCount { return "max_count = \(configuration.maxCount)" }
        if !isVanished, Double(ripe) > max(smallest, configuration.maxFraction * Double(known)) {
            return "max_fraction = \(configuration.maxFraction) of \(known)"
        }
        return nil
    }
}

extension Sweep.Verdict {
    /// Keeps those of the rows that the model's rules hold.
    fileprivate mutating func deny(_ ripe: inout KeyRuns, _ denials: [Int64: Sweep.Denial]) {
        let denied = Sweep.denied(ripe, denials)
        guard let first = denied.min(), let denial = denials[first] else { return }
        guardName = "on_delete = \"deny\" of \(denial.relationship)"
        isDenied = true
        held = denied.count
        ripe.subtract(KeyRuns(denied))
    }

    /// This, and what is to be done about rows whose records say that they are gone.
    func joined(by gone: Sweep.Verdict) -> Sweep.Verdict {
        var both = self
        both.doomed.formUnion(gone.doomed)
        both.missing.forget(gone.doomed)
        both.guardName = guardName ?? gone.guardName
        both.isDenied = both.guardName != nil && (guardName == nil || isDenied) && (gone.guardName == nil || gone.isDenied)
        both.held += gone.held
        return both
    }
}

/// Removes rows: as tombstones, or for good.
struct Removal {
    let mapping: ModelMapping
    let entity: EntityMapping
    let action: DeletionConfiguration.Action
    let now: Date
    let run: Int64

    /// Removes the rows with these keys in `context`. Returns those that existed, and those that became tombstones with them, by entity; permanently
    /// deleted rows cascade when the context processes its changes.
    func remove(_ keys: KeyRuns, in context: NSManagedObjectContext) throws -> (removed: Set<Int64>, all: [String: Set<Int64>]) {
        var removed: Set<Int64> = [], all: [String: Set<Int64>] = [:]
        let rules = DeleteRules(mapping: mapping, context: context)
        for (id, row) in try entity.rows(keys, in: context) {
            switch action {
            case .delete: context.delete(context.object(with: id))
            case .tombstone:
                guard row[entity.bookkeeping.deletedAt].isNull else { continue }
                for (id, row) in try rules.owned(by: id, row) where bury(id, row, in: context) {
                    all[id.entity.name ?? "", default: []].insert(id.key)
                }
                _ = bury(id, row, in: context)
            }
            removed.insert(id.key)
        }
        all[entity.name, default: []].formUnion(removed)
        return (removed, all)
    }

    /// Makes a tombstone of a row. It keeps its values and references, so that nothing is lost if it comes back.
    private func bury(_ id: NSManagedObjectID, _ row: RowSnapshot, in context: NSManagedObjectContext) -> Bool {
        guard let slots = mapping.entities[id.entity.name ?? ""]?.bookkeeping, row[slots.deletedAt].isNull else { return false }
        let copy = row.copy()
        copy.update(slots.deletedAt, to: AttributeValue(now))
        copy.update(slots.lastChanged, to: AttributeValue(now))
        copy.update(slots.run, to: .int64(run))
        context.updateRow(id, to: copy, changed: SlotSet([slots.deletedAt, slots.lastChanged, slots.run]), base: row)
        return true
    }

    /// Deletes for good those of these tombstones that are still the ones made in that second: a row may have come back since, and gone again for
    /// another resource. Returns those that have to wait, because live rows, which came back through their own records, would go with them or forbid
    /// it.
    func purge(_ keys: KeyRuns, madeAt second: Int64, in context: NSManagedObjectContext) throws -> KeyRuns {
        let rules = DeleteRules(mapping: mapping, context: context)
        var waiting = KeyCollector()
        for (id, row) in try entity.rows(keys, in: context) {
            guard let time = Date(row[entity.bookkeeping.deletedAt]), MissingKeys.second(time) == second else { continue }
            if try rules.isNeeded(id, row) { waiting.add(id.key) } else { context.delete(context.object(with: id)) }
        }
        return waiting.keys
    }

    /// All tombstones of the entity, by the second they were made in.
    func tombstones(in context: NSManagedObjectContext) throws -> [Int64: KeyRuns] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "%K != nil", ModelBuilder.Bookkeeping.deletedAt.rawValue)
        var found: [Int64: KeyCollector] = [:]
        for object in try context.fetch(request) {
            guard let time = object.value(forKey: ModelBuilder.Bookkeeping.deletedAt.rawValue) as? Date else { continue }
            found[MissingKeys.second(time), default: KeyCollector()].add(object.objectID.key)
        }
        return found.mapValues(\.keys)
    }
}

/// How the model's delete rules apply to rows that a listing dropped. With cascade the targets go too; with deny they keep the row. Nullify needs
/// nothing here: live rows do not see a tombstone, and a permanently deleted row is removed from them.
struct DeleteRules {
    let mapping: ModelMapping
    let context: NSManagedObjectContext

    private typealias Row = (id: NSManagedObjectID, row: RowSnapshot)

    /// The live rows that go with a row: what it owns, what that owns, and so on.
    func owned(by id: NSManagedObjectID, _ row: RowSnapshot) throws -> [NSManagedObjectID: RowSnapshot] {
        try reach(id, row, through: { isLiving($0) })
    }

    /// Whether live rows would go with a tombstone that is permanently deleted, or forbid it.
    func isNeeded(_ id: NSManagedObjectID, _ row: RowSnapshot) throws -> Bool {
        let owned = try reach(id, row) { _ in true }
        if owned.contains(where: { isLiving(($0.key, $0.value)) }) { return true }
        for one in owned.map({ ($0.key, $0.value) }) + [(id, row)] {
            for relationship in relationships(of: one.0, .denyDeleteRule) where try !targets(of: one, relationship).isEmpty { return true }
        }
        return false
    }

    /// What needs a row, or something that would go with it.
    /// - Parameter forGood: it is to be deleted, which tombstones may forbid too, not turned into a tombstone.
    func denial(of id: NSManagedObjectID, _ row: RowSnapshot, forGood: Bool) throws -> Sweep.Denial? {
        let owned = try reach(id, row) { forGood || isLiving($0) }
        var denial: Sweep.Denial?
        for one in [(id, row)] + owned.map({ ($0.key, $0.value) }) {
            for relationship in relationships(of: one.0, .denyDeleteRule) {
                let left = try targets(of: one, relationship).filter { (forGood || isLiving($0)) && $0.id != id && owned[$0.id] == nil }
                if left.isEmpty { continue }
                var known = denial ?? Sweep.Denial(relationship: "\(one.0.entity.name ?? "").\(relationship.name)")
                for (target, _) in left {
                    if target.entity.name == id.entity.name { known.peers.insert(target.key) } else { known.isNeededByOthers = true }
                }
                denial = known
            }
        }
        return denial
    }

    /// Everything that relationships with the rule cascade lead to.
    private func reach(
        _ id: NSManagedObjectID, _ row: RowSnapshot, through isFollowed: (Row) -> Bool
    ) throws -> [NSManagedObjectID: RowSnapshot] {
        var found: [NSManagedObjectID: RowSnapshot] = [:]
        var next: [Row] = [(id, row)]
        while let one = next.popLast() {
            for relationship in relationships(of: one.id, .cascadeDeleteRule) {
                for target in try targets(of: one, relationship) where target.id != id && found[target.id] == nil && isFollowed(target) {
                    found[target.id] = target.row
                    next.append(target)
                }
            }
        }
        return found
    }

    private func isLiving(_ row: Row) -> Bool {
        guard let slots = mapping.entities[row.id.entity.name ?? ""]?.bookkeeping else { return false }
        return row.row[slots.deletedAt].isNull
    }

    private func relationships(of id: NSManagedObjectID, _ rule: NSDeleteRule) -> [NSRelationshipDescription] {
        id.entity.relationshipsByName.values.filter { $0.deleteRule == rule }.sorted { $0.name < $1.name }
    }

    private func targets(of one: Row, _ relationship: NSRelationshipDescription) throws -> [Row] {
        let ids: [NSManagedObjectID]
        switch one.id.layout.place(of: relationship.name) {
        case .slot(let slot)?: ids = one.row[slot].objectID.map { [$0] } ?? []
        case .toMany(let number)?: ids = try context.members(of: RelationshipKey(owner: one.id, toMany: number))
        case .composite?, nil: ids = []
        }
        return ids.isEmpty ? [] : try context.currentRows(ids).map { ($0.key, $0.value) }
    }
}
