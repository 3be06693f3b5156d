import Foundation
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
        /// The model's rules hold them, which nobody can accept: an acceptance is used up all the same.
        var isDenied = false
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
    ///   - denials: what the model's rules have against removing a row.
    ///   - listing: nil: one that was read as a whole just now.
    func verdict(
        known: Set<Int64>, seen: Set<Int64>, missing before: MissingKeys, isAccepted: Bool, others: Set<Int64> = [],
        denials: [Int64: Denial] = [:], listing: Listing? = nil
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
        let denied = Self.denied(ripe, denials)
        if let first = denied.min(), let denial = denials[first] {
            verdict.guardName = "on_delete = \"deny\" of \(denial.relationship)"
            verdict.isDenied = true
            verdict.held = denied.count
            ripe.subtract(denied)
            if ripe.isEmpty { return verdict }
        }
        if !isAccepted, let name = guardName(ripe: ripe.count, known: known.count, seen: seen.count) {
            verdict.guardName = name
            verdict.held += ripe.count
            return verdict
        }
        verdict.doomed = ripe
        verdict.missing.forget(ripe)
        return verdict
    }

    /// What the model's rules have against removing a row.
    struct Denial: Sendable, Hashable {
        /// The first relationship with such a rule that leads to living rows: `Team.people`.
        let relationship: String
        /// Those of them that are of the same entity: if they go as well, they are no reason.
        var peers: Set<Int64> = []
        /// Others hold it, which do not go with it.
        var isHeldByOthers = false
    }

    /// Those of the rows that may not go, as something would be left without them.
    private static func denied(_ ripe: Set<Int64>, _ denials: [Int64: Denial]) -> Set<Int64> {
        var denied: Set<Int64> = []
        while true {
            let more = ripe.subtracting(denied).filter { key in
                guard let denial = denials[key] else { return false }
                return denial.isHeldByOthers || !denial.peers.isSubset(of: ripe.subtracting(denied))
            }
            if more.isEmpty { return denied }
            denied.formUnion(more)
        }
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
