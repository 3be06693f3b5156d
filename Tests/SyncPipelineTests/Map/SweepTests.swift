import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What may be concluded from absence (R6).
@Suite struct SweepTests {
    private func sweep(_ change: (inout DeletionConfiguration) -> Void = { _ in }) -> Sweep {
        var configuration = DeletionConfiguration()
        configuration.detect = .snapshot
        change(&configuration)
        return Sweep(configuration: configuration)
    }

    private let known = KeyRuns(1...100)

    @Test func oneCompleteRunWithoutARowRemovesNothing() {
        let verdict = sweep().verdict(known: known, seen: known.subtracting([1]), missing: MissingKeys(), isAccepted: false)
        #expect(verdict.doomed.isEmpty)
        #expect(verdict.missing.counts == [1: [1]])
    }

    @Test func theSecondCompleteRunWithoutARowRemovesIt() {
        var missing = MissingKeys()
        missing.count([1], 1)
        let verdict = sweep().verdict(known: known, seen: known.subtracting([1]), missing: missing, isAccepted: false)
        #expect(verdict.doomed == [1])
        #expect(verdict.missing.counts.isEmpty)
    }

    @Test func aRowThatCameBackStartsFromZero() {
        var missing = MissingKeys()
        missing.count([1], 1)
        #expect(sweep().verdict(known: known, seen: known, missing: missing, isAccepted: false) == Sweep.Verdict())
    }

    @Test func anEmptyListIsNotBelieved() {
        let verdict = sweep { $0.confirmRuns = 1 }.verdict(known: known, seen: [], missing: MissingKeys(), isAccepted: false)
        #expect(verdict.doomed.isEmpty)
        #expect(verdict.held == 100)
        #expect(verdict.guardName?.contains("min_expected") == true)
    }

    @Test func moreThanTheFractionIsHeldBack() {
        let verdict = sweep { $0.confirmRuns = 1 }.verdict(known: known, seen: KeyRuns(1...89), missing: MissingKeys(), isAccepted: false)
        #expect(verdict.doomed.isEmpty)
        #expect(verdict.held == 11)
        #expect(verdict.guardName?.contains("max_fraction") == true)
    }

    @Test func moreThanTheCountIsHeldBack() {
        let many = KeyRuns(1...100_000)
        let verdict = sweep { $0.confirmRuns = 1 }.verdict(known: many, seen: KeyRuns(1...98_000), missing: MissingKeys(), isAccepted: false)
        #expect(verdict.doomed.isEmpty)
        #expect(verdict.guardName?.contains("max_count") == true)
    }

    @Test func heldDeletionsGoThroughWhenTheyWereAccepted() {
        let verdict = sweep { $0.confirmRuns = 1 }.verdict(known: known, seen: KeyRuns(1...10), missing: MissingKeys(), isAccepted: true)
        #expect(verdict.doomed == KeyRuns(11...100))
        #expect(verdict.guardName == nil)
    }

    @Test func whatTheModelDeniesStaysAndTheOthersGo() {
        let denials: [Int64: Sweep.Denial] = [
            1: .init(relationship: "Team.people", isNeededByOthers: true),
            // Held by one that stays, by one that goes as well, and by each other.
            2: .init(relationship: "Item.parts", peers: [1]), 3: .init(relationship: "Item.parts", peers: [4]),
            5: .init(relationship: "Item.parts", peers: [6]), 6: .init(relationship: "Item.parts", peers: [5]),
        ]
        let sweep = sweep { $0.confirmRuns = 1 }
        let verdict = sweep.verdict(
            known: known, seen: known.subtracting([1, 2, 3, 4, 5, 6]), missing: MissingKeys(), isAccepted: true, denials: denials)
        #expect(verdict.doomed == [3, 4, 5, 6])
        #expect(verdict.held == 2 && verdict.isDenied)
        #expect(verdict.guardName == "on_delete = \"deny\" of Team.people")
        // They are missing all the same, and go when nothing holds them any more.
        #expect(verdict.missing.all == [1, 2])
    }

    // MARK: What records say

    @Test func whatIsSaidToBeGoneGoesAtOnceHoweverLargeAShareItIs() {
        let verdict = sweep().verdict(gone: known, isAccepted: false)
        #expect(verdict.doomed == known && verdict.guardName == nil && verdict.held == 0)
    }

    @Test func onlySoManyGoAtOnce() {
        let held = sweep { $0.maxCount = 99 }.verdict(gone: known, isAccepted: false)
        #expect(held.doomed.isEmpty && held.held == 100 && held.guardName == "max_count = 99" && !held.isDenied)
        #expect(sweep { $0.maxCount = 99 }.verdict(gone: known, isAccepted: true).doomed == known)
        // Those that the model holds do not count.
        let denials = [Int64(1): Sweep.Denial(relationship: "Team.people", isNeededByOthers: true)]
        let denied = sweep { $0.maxCount = 99 }.verdict(gone: known, isAccepted: false, denials: denials)
        #expect(denied.doomed == KeyRuns(2...100) && denied.held == 1 && denied.isDenied)
    }

    @Test func whatIsMissingAndWhatIsGoneAreJudgedTogether() {
        var missing = MissingKeys()
        missing.count([1, 2], 1)
        let swept = sweep().verdict(known: known, seen: known.subtracting([1, 2, 3]), missing: missing, isAccepted: false)
        let both = swept.joined(by: sweep { $0.maxCount = 0 }.verdict(gone: [9], isAccepted: false))
        #expect(both.doomed == [1, 2] && both.held == 1 && both.guardName == "max_count = 0" && !both.isDenied && both.missing.all == [3])
        // One that is removed is not missing.
        #expect(swept.joined(by: sweep().verdict(gone: [3], isAccepted: false)).missing.all == [])
    }

    // MARK: What a status says

    @Test func whereAllIsGoneItsShareShowsNothing() {
        var sweep = sweep { $0.confirmRuns = 1 }
        sweep.isVanished = true
        #expect(sweep.verdict(known: known, seen: [], missing: MissingKeys(), isAccepted: false).doomed == known)
        sweep.objection = "the others"
        let held = sweep.verdict(known: known, seen: [], missing: MissingKeys(), isAccepted: false)
        #expect(held.doomed.isEmpty && held.held == 100 && held.guardName == "the others" && held.missing.all == known)
        #expect(sweep.verdict(known: known, seen: [], missing: MissingKeys(), isAccepted: true).doomed == known)
    }

    @Test(arguments: [(1, 1, false), (1, 100, false), (2, 2, true), (2, 19, true), (2, 20, false), (11, 100, true)])
    func oneOfFewPartsOrAShareOfManyMayBeGone(gone: Int, asked: Int, isHeld: Bool) {
        #expect((sweep().objection(toGone: gone, ofParts: asked) != nil) == isHeld)
        #expect(sweep { $0.maxFraction = 0 }.objection(toGone: gone, ofParts: asked) != nil)
        #expect(sweep { $0.maxFraction = 1 }.objection(toGone: gone, ofParts: asked) == nil)
    }
}
