import SyncTestSupport
import Testing

@testable import SyncPipeline

/// The bucket alone: what it lets out when.
@Suite struct RateBudgetTests {
    private func at(_ duration: Duration) -> SyncInstant { SyncInstant(sinceOrigin: duration) }

    /// When so many requests go out, each as soon as it may.
    private func times(_ budget: inout RateBudget, _ count: Int, from start: Duration = .zero) -> [Duration] {
        var now = at(start)
        return (0..<count).map { _ in
            now = budget.next(at: now)
            budget.take(at: now)
            return now.sinceOrigin
        }
    }

    @Test func afterARestAFewGoOutAtOnceAndTheOthersAtEvenDistances() {
        var budget = RateBudget(.init(requests: 6, per: .seconds(60), burst: 2), isUnused: true, at: at(.zero))
        #expect(times(&budget, 4) == [.zero, .zero, .seconds(10), .seconds(20)])
        // A rest of any length gives no more than the burst.
        #expect(times(&budget, 3, from: .seconds(600)) == [.seconds(600), .seconds(600), .seconds(610)])
    }

    // The burst and what follows it evenly would be seven.
    @Test func noSpanHasMoreThanConfiguredBurstsIncluded() {
        var budget = RateBudget(.init(requests: 6, per: .seconds(60), burst: 6), isUnused: true, at: at(.zero))
        let times = times(&budget, 8)
        #expect(times.prefix(6).allSatisfy { $0 == .zero })
        #expect(times[6] == .seconds(60))
    }

    @Test func aBurstIsNoMoreThanAllThatMayGoOut() {
        #expect(RateBudget.Limit(requests: 3, per: .seconds(1), burst: 10).burst == 3)
    }

    // Who was there before may have let out a burst just now, and one after the other before that.
    @Test func nobodyKnowsWhatWasLetOutBefore() {
        var budget = RateBudget(.init(requests: 6, per: .seconds(60), burst: 2), isUnused: false, at: at(.zero))
        #expect(times(&budget, 2) == [.seconds(30), .seconds(40)])
    }

    @Test(arguments: 0..<500) func noSpanHasMoreAcrossRestarts(seed: Int) {
        var random = SeededNumbers(seed)
        let limit = RateBudget.Limit(requests: 1 + random.next(upTo: 20), per: .seconds(60), burst: 1 + random.next(upTo: 25))
        var budget = RateBudget(limit, isUnused: true, at: at(.zero)), now = Duration.zero, sent: [Duration] = []
        for _ in 0..<300 {
            switch random.next(upTo: 30) {
            case 0: budget = RateBudget(limit, isUnused: false, at: at(now))
            case 1..<6: now += .seconds([1, 5, 30, 90][random.next(upTo: 4)])
            default:
                let next = budget.next(at: at(now)).sinceOrigin
                if random.chance(30) { now = next }
                guard next <= now else { continue }
                budget.take(at: at(now))
                sent.append(now)
            }
        }
        // Parts of the span are rounded down to what the clock knows.
        let rounding = Duration.microseconds(1)
        for (first, next) in zip(sent, sent.dropFirst(limit.requests)) {
            #expect(next - first >= limit.per - rounding, "\(limit): \(limit.requests + 1) from \(first) to \(next)")
        }
        #expect(sent.count > 3)
    }
}
