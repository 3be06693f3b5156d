import Testing

@testable import Systemd

struct RepeatCollapserTests {
    // Section 9: repeated identical errors collapse to the 1st, 2nd, 4th, 8th … with a count
    @Test func powersOfTwoAreSaid() {
        var collapser = RepeatCollapser()
        let said = (1...100).filter { _ in collapser.record("timeout") != .keepQuiet }
        #expect(said == [1, 2, 4, 8, 16, 32, 64])
    }

    @Test func theCountGoesAlong() {
        var collapser = RepeatCollapser()
        #expect((0..<4).map { _ in collapser.record("timeout") } == [.say(count: 1), .say(count: 2), .keepQuiet, .say(count: 4)])
    }

    @Test func kindsAreCountedApartAndResetApart() {
        var collapser = RepeatCollapser()
        for _ in 0..<3 { _ = collapser.record("a") }
        #expect(collapser.record("b") == .say(count: 1))
        #expect(collapser.reset("a") == 3)
        #expect(collapser.reset("a") == 0)
        #expect(collapser.record("a") == .say(count: 1))
        #expect(collapser.record("b") == .say(count: 2))
    }

    @Test func theKindNotSeenForLongestIsForgottenFirst() {
        var collapser = RepeatCollapser(capacity: 2)
        _ = collapser.record("old")
        _ = collapser.record("kept")
        _ = collapser.record("old")
        _ = collapser.record("new")
        #expect(collapser.record("old") == .keepQuiet, "the third one")
        #expect(collapser.record("kept") == .say(count: 1))
    }
}
