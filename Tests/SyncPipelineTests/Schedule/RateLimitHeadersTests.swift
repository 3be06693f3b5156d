import Foundation
import NIOHTTP1
import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct RateLimitHeadersTests {
    private static let now = Date(timeIntervalSince1970: 1_735_689_600)

    private func wait(_ headers: HTTPHeaders, _ change: (inout RateConfiguration) -> Void = { _ in }) -> Double? {
        var rate = RateConfiguration()
        change(&rate)
        return RateLimitHeaders.exhaustion(headers, rate, now: Self.now)?.timeIntervalSince(Self.now)
    }

    @Test(
        arguments: [
            (["X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1735689660"], 60),
            (["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1735689660000"], 60),
            (["x-ratelimit-remaining": "0.0", "x-ratelimit-used": "996", "x-ratelimit-reset": "598"], 598),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9999999999", "X-RateLimit-Reset-After": "1.5"], 1.5),
            (["RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": "0", "RateLimit-Reset": "30"], 30),
            (["RateLimit": "limit=100, remaining=0, reset=50"], 50),
            (["RateLimit": "\"default\";r=0;t=20", "RateLimit-Policy": "\"default\";q=100;w=60"], 20),
            (["RateLimit": "\"hour\";r=0, \"day\";r=7;t=9999", "RateLimit-Policy": "\"hour\";q=100;w=3600"], 3600),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "Wed, 01 Jan 2025 00:02:00 GMT"], 120),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2025-01-01T00:01:00Z"], 60),
            (["X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "60"], 60),
        ] as [([String: String], Double)])
    func whatServersSayIsUnderstood(_ headers: [String: String], _ seconds: Double) {
        #expect(wait(HTTPHeaders(headers.map { ($0.key, $0.value) })) == seconds)
    }

    @Test(
        arguments: [
            [:], ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "60"], ["X-RateLimit-Remaining": "0"],
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1735689600"],
            ["X-RateLimit-Remaining": "none", "X-RateLimit-Reset": "60"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"],
            // Some say so of what they do not limit.
            ["X-RateLimit-Limit": "0", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60"], ["RateLimit": "\"a\";r=3;t=60"],
            ["RateLimit": ";;=,"], ["X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "60"],
        ] as [[String: String]])
    func whereMoreIsLeftOrNobodySaysItNobodyWaits(_ headers: [String: String]) {
        #expect(wait(HTTPHeaders(headers.map { ($0.key, $0.value) })) == nil)
    }

    // The server's clock is ten seconds ahead.
    @Test func aTimeIsMeasuredByTheServersOwnClock() {
        #expect(
            wait(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1735689670", "Date": "Wed, 01 Jan 2025 00:00:10 GMT"]) == 60)
    }

    @Test func aShareIsLeftToOthers() {
        let headers: HTTPHeaders = ["X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "10", "X-RateLimit-Reset": "60"]
        #expect(wait(headers) == nil)
        #expect(wait(headers) { $0.earlyLimit = 0.1 } == 60)
        #expect(wait(headers) { $0.earlyLimit = 0.09 } == nil)
    }

    @Test func headersOfOnesOwnAreReadAsConfigured() {
        let headers: HTTPHeaders = ["X-Left": "0", "X-When": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"]
        #expect(wait(headers) { $0.headers = .named(limit: nil, remaining: "X-Left", reset: "X-When") } == 5000)
        #expect(
            wait(["X-Left": "0", "X-When": "1735689605000"]) {
                $0.headers = .named(limit: nil, remaining: "X-Left", reset: "X-When")
                $0.resetFormat = .epochMilliseconds
            } == 5)
        #expect(wait(headers) { $0.headers = .off } == nil)
    }

    @Test func noWaitIsLongerThanAnyServerMeans() {
        #expect(wait(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "1e300"]) == RetryAfter.longest.inSeconds)
    }
}
