import Testing

@testable import OpenCoreData

@Suite struct AskingTimesTests {
    private static let millisecond: UInt64 = 1_000_000

    /// The milliseconds at which it is asked, given those at which signs are seen.
    private func asked(signs: [UInt64]) -> [UInt64] {
        var times = AskingTimes(), result: [UInt64] = []
        var open = signs[...]
        while true {
            let sign = open.first.map { $0 * Self.millisecond }
            guard let now = [sign, times.next].compactMap({ $0 }).min() else { return result }
            if now == sign {
                open.removeFirst()
                if times.sawSign(at: now) { result.append(now / Self.millisecond) }
            } else {
                times.asks(at: now)
                result.append(now / Self.millisecond)
            }
        }
    }

    // T15
    @Test func aSignIsAskedAboutAtOnceAndThenEverLater() {
        #expect(asked(signs: [1000]) == [1000, 1020, 1100, 1500, 3000, 9000])
        #expect(asked(signs: [1000, 4000]) == [1000, 1020, 1100, 1500, 3000, 4000, 4020, 4100, 4500, 6000, 12000])
    }

    // T15
    @Test func manySignsAreAskedAboutOnceInAWhileAndDoNotPutItOff() {
        let asked = asked(signs: Array(1000..<3000))
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 >= 20 })
        let during = asked.filter { $0 < 3000 }
        #expect(zip(during, during.dropFirst()).allSatisfy { $1 - $0 <= 21 } && during.count > 90)
        // The last of them is asked about as long as a single one.
        #expect(Array(asked.suffix(4)) == [3099, 3499, 4999, 10999])
        #expect(asked.contains { (2999...3019).contains($0) })
    }
}
