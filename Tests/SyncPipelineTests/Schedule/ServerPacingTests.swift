import Foundation
import NIOHTTP1
import Testing

@testable import SyncPipeline

@Suite struct ServerPacingTests {
    let now = Date(timeIntervalSince1970: 1_735_689_600)

    private func pacing(_ headers: HTTPHeaders) -> ServerPacing { ServerPacing(headers: headers, now: now) }

    @Test func maxAgeLessAge() {
        #expect(pacing(["Cache-Control": "public, Max-Age=300"]).cacheLifetime == .seconds(300))
        #expect(pacing(["Cache-Control": "max-age=300", "Age": "100"]).cacheLifetime == .seconds(200))
        #expect(pacing(["Cache-Control": "max-age=300", "Age": "900"]).cacheLifetime == .zero)
        #expect(pacing(["Cache-Control": "max-age=\"60\""]).cacheLifetime == .seconds(60))
    }

    @Test func theStrictestDirectiveHolds() {
        #expect(pacing(HTTPHeaders([("Cache-Control", "max-age=300"), ("Cache-Control", "max-age=60")])).cacheLifetime == .seconds(60))
        #expect(pacing(["Cache-Control": "no-cache, max-age=300"]).cacheLifetime == .zero)
        #expect(pacing(["Cache-Control": "no-store"]).cacheLifetime == .zero)
    }

    @Test func expiresIsMeasuredFromDate() {
        let date = HTTPDate.format(now.addingTimeInterval(5000))
        let expires = HTTPDate.format(now.addingTimeInterval(5600))
        #expect(pacing(["Date": date, "Expires": expires]).cacheLifetime == .seconds(600))
        #expect(pacing(["Expires": "0"]).cacheLifetime == .zero)
        #expect(pacing(["Date": date, "Expires": expires, "Cache-Control": "max-age=1"]).cacheLifetime == .seconds(1))
    }

    @Test func numbersAreBounded() {
        #expect(pacing(["Cache-Control": "max-age=99999999999999999999"]).cacheLifetime == RetryAfter.longest)
        #expect(pacing(["Cache-Control": "max-age=-5"]).cacheLifetime == nil)
        #expect(pacing(["X-Poll-Interval": "99999999999999999999"]).pollInterval == RetryAfter.longest)
    }

    @Test func thePollIntervalIsRead() {
        #expect(pacing(["X-Poll-Interval": "60"]).pollInterval == .seconds(60))
        #expect(pacing([:]) == ServerPacing(cacheLifetime: nil, pollInterval: nil))
    }
}
