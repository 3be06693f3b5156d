import Foundation
import SyncConfiguration

/// What follows from a run for the rows of its resource. Pure: a judgement over what the run has seen and what was known before.
struct RunConclusion: Sendable, Hashable {
    /// What to do about the rows that were missing.
    private(set) var verdict = Sweep.Verdict()
    /// The rows that the resource vouches for from now on.
    let members: KeySet
    /// These are the rows of the listing and no others: the same listing, seen again, has nothing to say.
    let isSettled: Bool
    /// The run was a complete listing: what it did not hold may be judged, and what was remembered of other pages is forgotten.
    let isListing: Bool

    /// What is known beside the run itself.
    struct Circumstances: Sendable {
        /// Those of the rows known before that there still are. A row that is gone already, however it went, is not missing.
        let live: Set<Int64>
        /// Those that other resources vouch for.
        let others: Set<Int64>
        /// What the model's rules have against removing a row.
        var denials: [Int64: Sweep.Denial] = [:]
        /// Somebody let the held deletions through.
        let isAccepted: Bool
        let endedAt: Date
    }

    init(_ tally: RunTally, state: RunState, deletion: DeletionConfiguration, _ known: Circumstances) {
        isListing = tally.isComplete && tally.outcome == .succeeded
        let seen = tally.seen.keys
        guard isListing else {
            members = KeySet(known.live.union(seen))
            isSettled = false
            verdict.missing = state.missing
            if tally.isReadAnew { verdict.missing.judged?.time = known.endedAt }
            return
        }
        if deletion.detect == .snapshot {
            if tally.unidentified > 0 {
                verdict = Self.withoutProof(tally, absent: known.live.subtracting(seen), before: state.missing)
            } else {
                verdict = Sweep(configuration: deletion).verdict(
                    known: known.live, seen: seen, missing: state.missing, isAccepted: known.isAccepted || state.mayDelete,
                    others: known.others, denials: known.denials,
                    listing: Sweep.Listing(run: state.number, time: known.endedAt, oldestPage: tally.oldestReading))
            }
        }
        let kept = deletion.detect == .snapshot && tally.unidentified > 0 ? known.live : Set(verdict.missing.counts.keys)
        members = KeySet(seen.union(kept))
        isSettled = kept.isSubset(of: seen)
        verdict.missing.tombstones = state.missing.tombstones
    }

    /// A record that cannot be told by its key may be any row: nothing is missing for certain.
    private static func withoutProof(_ tally: RunTally, absent: Set<Int64>, before: MissingKeys) -> Sweep.Verdict {
        var verdict = Sweep.Verdict()
        verdict.missing = before
        verdict.missing.forget(Set(before.counts.keys).subtracting(absent))
        guard !absent.isEmpty else { return verdict }
        verdict.held = absent.count
        verdict.guardName = "the key of \(tally.unidentified == 1 ? "a listed record" : "\(tally.unidentified) listed records") cannot be read"
        return verdict
    }

    /// Whether there is anything to conclude from a run although none of its pages was written.
    static func isDue(_ tally: RunTally, state: RunState, deletion: DeletionConfiguration, endedAt: Date) -> Bool {
        guard tally.isComplete else { return false }
        if state.missing.hasTombstones(until: deletion.purgeCutoff(endedAt)) { return true }
        guard deletion.detect == .snapshot else { return false }
        return !state.missing.counts.isEmpty || state.listing != tally.listing
    }
}

extension DeletionConfiguration {
    /// Tombstones that were made then or before are removed at `time`.
    func purgeCutoff(_ time: Date) -> Date { time.advanced(by: .zero - purgeAfter.duration) }
}
