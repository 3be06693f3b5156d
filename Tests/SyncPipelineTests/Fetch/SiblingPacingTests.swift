import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A server that told another fetch to leave it alone is left alone by the retries of this one, too.
@Suite struct SiblingPacingTests {
    private final class Told: Sendable {
        private let end = Mutex<Date?>(nil)
        var until: Date? {
            get { end.withLock { $0 } }
            set { end.withLock { $0 = newValue } }
        }
    }

    private let clock = ManualClock()
    private let told = Told()

    private func fetch(_ transport: StubTransport) throws -> PageFetch {
        let settings = try Fixture.settings("https://a.example/items"), clock = clock, told = told
        return PageFetch(
            PageRequest(address: settings.first),
            environment: FetchEnvironment(
                settings: settings, transport: transport, clock: clock, random: RandomSource { 0.5 },
                notBefore: { told.until.flatMap { $0 > clock.wallTime ? $0 : nil } }))
    }

    private func tell(_ wait: Duration) { told.until = clock.wallTime.advanced(by: wait) }

    private func waits(for duration: Duration) async {
        let end = clock.instant.advanced(by: duration)
        await clock.deadlines { $0 == [end] }
    }

    @Test(arguments: [false, true]) func aRetryWaitsForWhatAnotherWasTold(isToldMeanwhile: Bool) async throws {
        let transport = StubTransport { [self] _, number in
            if number > 0 { return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8)) }
            // The other one is told while this one is answered.
            if isToldMeanwhile { tell(.seconds(100)) }
            return .response(status: 503)
        }
        let task = Task { [fetch = try fetch(transport)] in await fetch.run() }
        if !isToldMeanwhile {
            await waits(for: .milliseconds(500))
            tell(.seconds(100))
            clock.advance(by: .milliseconds(500))
        }
        let rest = isToldMeanwhile ? Duration.seconds(100) : .seconds(99.5)
        await waits(for: rest)
        #expect(transport.requests.count == 1)
        clock.advance(by: rest)
        guard case .page = await task.value else { throw Unexpected() }
        #expect(transport.requests.count == 2)
    }

    @Test func aRedirectWaitsForWhatAnotherWasToldMeanwhile() async throws {
        let transport = StubTransport { _, number in
            if number > 0 { return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8)) }
            return .response(status: 302, headers: ["Location": "/moved", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60"])
        }
        let start = clock.instant
        let task = Task { [fetch = try fetch(transport)] in await fetch.run() }
        await clock.deadlines { $0.contains(start.advanced(by: .seconds(60))) }
        tell(.seconds(100))
        clock.advance(by: .seconds(60))
        await clock.deadlines { $0.contains(start.advanced(by: .seconds(100))) }
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(40))
        guard case .page = await task.value else { throw Unexpected() }
        #expect(transport.requests.count == 2)
    }

    @Test func whatAnotherWasToldBeforeIsHeardBeforeTheFirstRequest() async throws {
        let transport = StubTransport(.response(status: 200))
        tell(.seconds(100))
        guard case .leftAlone(let end) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(end == told.until && transport.requests.isEmpty)
    }

    @Test func aWaitThatIsTooLongForARunParksIt() async throws {
        let transport = StubTransport(.response(status: 503))
        let task = Task { [fetch = try fetch(transport)] in await fetch.run() }
        await waits(for: .milliseconds(500))
        tell(.seconds(3600))
        clock.advance(by: .milliseconds(500))
        guard case .parked(let end, _) = await task.value else { throw Unexpected() }
        #expect(end == told.until && transport.requests.count == 1)
    }

    private struct Unexpected: Error {}
}
