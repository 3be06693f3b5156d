import Foundation
import SyncConfiguration
import Synchronization

/// What follows where a server says that nothing is there any more of what was listed.
extension ListingRun {
    /// What a part has to conclude from, when it is known what the others are told.
    struct Gone: Sendable {
        let tally: RunTally
        let state: RunState?
        let startedAt: Date
    }

    /// Whether the answer in place of a first page says so: by its status, and not where a condition says that the answer is something else.
    func saysGone(_ outcome: FetchOutcome, _ step: Step, _ tally: RunTally) -> Bool {
        guard tally.pages == 0, case .failed(let error) = outcome, case .status(let status) = error.kind else { return false }
        // Of a run that asks for what has changed it may mean where that begins to ask.
        if mayReject(status, step.increment) { return false }
        return resource.deletion.goneStatuses.contains(status)
    }

    /// Takes in that the server says so. Where nothing was ever listed, the address may be wrong: then the run fails.
    ///
    /// - Returns: what is known until others have been asked; nil: the run is concluded as any other.
    func vanish(_ tally: inout RunTally, _ vanishing: Vanishing, _ state: RunState?, _ startedAt: Date) async -> Conclusion? {
        let hasRows: Bool
        do { hasRows = try await hasListedRows() } catch {
            tally.fail(error)
            return nil
        }
        guard hasRows || state?.completeAt != nil else {
            stop(&tally, after: vanishing.outcome)
            return nil
        }
        tally.vanish(status: vanishing.outcome.error?.status)
        guard isPart, hasRows else { return nil }
        gone.withLock { [tally] in $0 = Gone(tally: tally, state: state, startedAt: startedAt) }
        var waiting = conclusion(tally, Sweep.Verdict(), startedAt, held: state?.heldDeletes ?? 0)
        waiting.isGone = true
        return waiting
    }

    /// Concludes from it, for a part.
    ///
    /// - Parameter objection: what speaks against believing it; nil: nothing.
    func concludeGone(objection: String?, acceptsDeletes: Bool) async -> Conclusion {
        guard let gone = self.gone.withLock({ $0 }) else { preconditionFailure("\(scope) is not gone") }
        return await conclude(
            gone.tally, state: gone.state, startedAt: gone.startedAt, isWaitedFor: false, acceptsDeletes: acceptsDeletes, objection: objection)
    }
}

/// A server says that nothing is there any more of what was listed.
struct Vanishing: Error {
    let outcome: FetchOutcome
}
