import Foundation
import Testing

@testable import SyncPipeline

// N8
@Suite struct RetryAfterTests {
    let now = Date(timeIntervalSince1970: 1_735_689_600)

    private func delay(_ values: String..., date: String? = nil) -> Duration? {
        RetryAfter.delay(values: values, date: date, now: now)
    }

    @Test func secondsAreTakenAsTheyAre() {
        #expect(delay("0") == .zero)
        #expect(delay("1") == .seconds(1))
        #expect(delay(" 86400 ") == .seconds(86_400))
    }

    @Test func aFractionIsRoundedUp() {
        #expect(delay("1.5") == .seconds(2))
    }

    @Test(arguments: ["-1", "", "soon", "1e3", "0x10", "1 2", ".5", "5.", "٣", "12, soon"])
    func whatCannotBeReadCountsAsNotSent(value: String) {
        #expect(delay(value) == nil)
    }

    @Test func hugeNumbersAreHeldAtTheLongestWait() {
        #expect(delay("100000000000000000000") == RetryAfter.longest)
        #expect(delay("\(Int64.max)") == RetryAfter.longest)
        #expect(delay("Fri, 31 Dec 9999 23:59:59 GMT") == RetryAfter.longest)
    }

    @Test func ofSeveralTheLongestHolds() {
        #expect(delay("5", "120", "60") == .seconds(120))
        #expect(delay("5, 120") == .seconds(120))
        #expect(delay("5", "nonsense") == .seconds(5))
        #expect(delay("5", HTTPDate.format(now.addingTimeInterval(90))) == .seconds(90))
    }

    @Test func aDateInThePastMeansNoWait() {
        #expect(delay("Sun, 06 Nov 1994 08:49:37 GMT") == .zero)
    }

    @Test func aDateIsMeasuredOnTheServersClock() {
        // The server's clock is two hours ahead.
        let server = now.addingTimeInterval(7200)
        #expect(delay(HTTPDate.format(server.addingTimeInterval(30)), date: HTTPDate.format(server)) == .seconds(30))
        #expect(delay(HTTPDate.format(now.addingTimeInterval(30)), date: "garbage") == .seconds(30))
    }
}
