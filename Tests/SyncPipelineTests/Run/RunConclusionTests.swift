import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What follows from a run for the rows that its resource vouched for, as a value.
@Suite struct RunConclusionTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private var deletion: DeletionConfiguration = {
        var deletion = DeletionConfiguration()
        deletion.detect = .snapshot
        deletion.confirmRuns = 1
        deletion.maxFraction = 1
        return deletion
    }()

    private var state: RunState {
        RunState(
            number: 7, listing: nil, rows: 0, missing: MissingKeys.Stored(), mayDelete: false, failures: 0, lastSuccess: nil, completeAt: nil,
            completeRun: 6,
            parkedUntil: nil, nextPollAt: nil, isPaused: false, heldDeletes: 0, httpStatus: nil, lastError: nil, fingerprint: "f")
    }

    private func tally(_ seen: KeyRuns, isComplete: Bool = true, outcome: RunOutcome = .succeeded) -> RunTally {
        var tally = RunTally()
        tally.see(seen)
        tally.isComplete = isComplete
        tally.outcome = outcome
        return tally
    }

    private func conclusion(_ tally: RunTally, live: KeyRuns, others: KeyRuns = [], denials: [Int64: Sweep.Denial] = [:]) -> RunConclusion {
        RunConclusion(
            tally, state: state, deletion: deletion,
            RunConclusion.Circumstances(live: live, others: others, denials: denials, isAccepted: false, endedAt: now))
    }

    @Test func whatACompleteListingDoesNotHoldGoes() {
        let found = conclusion(tally([1, 2]), live: [1, 2, 3])
        #expect(found.isListing && found.verdict.doomed == [3] && found.members == [1, 2] && found.leavesNothingOpen)
    }

    @Test(arguments: [(false, RunOutcome.succeeded), (true, .failed), (true, .incomplete), (false, .cancelled), (true, .parked)])
    func noOtherRunRemovesAnything(isComplete: Bool, outcome: RunOutcome) {
        let found = conclusion(tally([1, 4], isComplete: isComplete, outcome: outcome), live: [1, 2, 3])
        // What it saw is the resource's from now on, beside what was.
        #expect(!found.isListing && found.verdict.doomed.isEmpty && found.members == [1, 2, 3, 4] && !found.leavesNothingOpen)
    }

    @Test func whatOthersVouchForStaysAndIsNotTheResourcesAnyMore() {
        let found = conclusion(tally([1]), live: [1, 2, 3], others: [2])
        #expect(found.verdict.doomed == [3] && found.members == [1])
    }

    @Test mutating func whatIsMissingForTheFirstTimeOfTwoWaits() {
        deletion.confirmRuns = 2
        let found = conclusion(tally([1]), live: [1, 2])
        #expect(found.verdict.doomed.isEmpty && found.verdict.missing.counts == [1: [2]])
        // The resource vouches for it until it is gone: the listing is not all that there is.
        #expect(found.members == [1, 2] && !found.leavesNothingOpen)
    }

    @Test mutating func nothingGoesWhereDeletionIsNotDetectedByAbsence() {
        deletion.detect = .none
        let found = conclusion(tally([1]), live: [1, 2])
        #expect(found.isListing && found.verdict.doomed.isEmpty && found.members == [1])
    }

    @Test func aDenialHoldsWhatItDenies() {
        let found = conclusion(tally([1]), live: [1, 2, 3], denials: [2: Sweep.Denial(relationship: "Person.tasks", isNeededByOthers: true)])
        #expect(!found.verdict.doomed.contains(2) && found.verdict.isDenied && KeyRuns([1, 2]).isSubset(of: found.members))
    }
}
