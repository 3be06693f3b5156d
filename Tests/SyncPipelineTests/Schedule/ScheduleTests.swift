import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct ScheduleTests {
    let now = Date(timeIntervalSince1970: 1_735_689_600)

    private func schedule(_ change: (inout ScheduleConfiguration) -> Void = { _ in }) -> Schedule {
        var configuration = ScheduleConfiguration()
        change(&configuration)
        return Schedule(configuration)
    }

    private func daemon(_ change: (inout DaemonConfiguration) -> Void = { _ in }) -> DaemonConfiguration {
        var configuration = DaemonConfiguration()
        change(&configuration)
        return configuration
    }

    // MARK: Interval

    @Test func jitterIsSymmetric() {
        #expect(schedule().interval(random: 0.5) == .seconds(900))
        #expect(schedule().interval(random: 0) == .seconds(810))
        #expect(abs(schedule().interval(random: 1.0.nextDown).inSeconds - 990) < 0.001)
    }

    @Test func jitterStaysWithinTheBounds() {
        let tight = schedule { $0.every = .seconds(60) }
        #expect(tight.interval(random: 0) == .seconds(60))
        let wide = schedule { $0.every = .hours(24) }
        #expect(wide.interval(random: 0.99) == .seconds(86_400))
    }

    @Test func theServerOnlyLengthens() {
        let pacing = { (seconds: Int64) in ServerPacing(cacheLifetime: .seconds(seconds), pollInterval: nil) }
        #expect(schedule().interval(pacing: pacing(10), random: 0.5) == .seconds(900))
        #expect(schedule().interval(pacing: pacing(0), random: 0.5) == .seconds(900))
        #expect(schedule().interval(pacing: pacing(3600), random: 0.5) == .seconds(3600))
        #expect(schedule().interval(pacing: pacing(31_536_000), random: 0.5) == .seconds(86_400))
        #expect(schedule { $0.respectCacheControl = false }.interval(pacing: pacing(3600), random: 0.5) == .seconds(900))
    }

    @Test func aDemandedPollIntervalIsNotCut() {
        let pacing = ServerPacing(cacheLifetime: nil, pollInterval: .seconds(200_000))
        #expect(schedule().interval(pacing: pacing, random: 0.5) == .seconds(200_000))
    }

    // MARK: Next poll

    @Test func intervalsCountFromTheStartOfARun() {
        let next = schedule().nextPoll(started: now, ended: now.addingTimeInterval(100), interval: .seconds(900))
        #expect(next == now.addingTimeInterval(900))
    }

    @Test func aRunLongerThanItsIntervalIsNotFollowedAtOnce() {
        let next = schedule().nextPoll(started: now, ended: now.addingTimeInterval(1000), interval: .seconds(900))
        #expect(next == now.addingTimeInterval(1060))
    }

    @Test func retryAfterIsNeverShortened() {
        let until = now.addingTimeInterval(90_000)
        #expect(schedule().nextPoll(started: now, ended: now, interval: .seconds(900), notBefore: until) == until)
        #expect(schedule().pollOnRequest(now: now, lastStarted: nil, parkedUntil: until) == until)
        #expect(
            schedule().firstPoll(now: now, daemon: daemon { $0.restartGuard = false }, stored: nil, parkedUntil: until, random: 0) == until)
    }

    // K1
    @Test func aClockSetBackDuringARunDoesNotPostponeTheNext() {
        let next = schedule().nextPoll(started: now.addingTimeInterval(86_400), ended: now, interval: .seconds(900))
        #expect(next == now.addingTimeInterval(900))
    }

    // MARK: First poll

    @Test func staggeringSpreadsOverTheWindow() {
        #expect(schedule().firstPoll(now: now, daemon: daemon(), stored: nil, random: 0) == now)
        #expect(schedule().firstPoll(now: now, daemon: daemon(), stored: nil, random: 0.5) == now.addingTimeInterval(15))
    }

    @Test func nowMeansNowAndWaitMeansAnInterval() {
        #expect(schedule().firstPoll(now: now, daemon: daemon { $0.start = .now }, stored: nil, random: 0.9) == now)
        let waiting = daemon { $0.start = .wait }
        #expect(schedule().firstPoll(now: now, daemon: waiting, stored: nil, random: 0.9) == now.addingTimeInterval(900))
        let last = now.addingTimeInterval(-600)
        #expect(schedule().firstPoll(now: now, daemon: waiting, stored: nil, lastSuccess: last, random: 0) == now.addingTimeInterval(300))
        let older = now.addingTimeInterval(-6000)
        #expect(schedule().firstPoll(now: now, daemon: waiting, stored: nil, lastSuccess: older, random: 0) == now)
    }

    @Test func aRestartNeverPollsSoonerThanStored() {
        let stored = now.addingTimeInterval(700)
        #expect(schedule().firstPoll(now: now, daemon: daemon(), stored: stored, random: 0) == stored)
        #expect(schedule().firstPoll(now: now, daemon: daemon { $0.start = .now }, stored: stored, random: 0) == stored)
        let free = daemon { $0.restartGuard = false }
        #expect(schedule().firstPoll(now: now, daemon: free, stored: stored, random: 0) == now)
        let past = now.addingTimeInterval(-100_000)
        #expect(schedule().firstPoll(now: now, daemon: daemon(), stored: past, random: 0.5) == now.addingTimeInterval(15))
    }

    // K1
    @Test func aStoredTimeFromAWrongClockIsClamped() {
        let stored = now.addingTimeInterval(75 * 365 * 86_400)
        #expect(schedule().firstPoll(now: now, daemon: daemon(), stored: stored, random: 0) == now.addingTimeInterval(86_400))
    }

    // MARK: Requests

    @Test func askingObeysTheFloor() {
        let schedule = schedule()
        #expect(schedule.pollOnRequest(now: now, lastStarted: nil, parkedUntil: nil) == now)
        #expect(
            schedule.pollOnRequest(now: now, lastStarted: now.addingTimeInterval(-10), parkedUntil: nil) == now.addingTimeInterval(50))
        #expect(schedule.pollOnRequest(now: now, lastStarted: now.addingTimeInterval(-61), parkedUntil: nil) == now)
        #expect(
            schedule.pollOnRequest(now: now, lastStarted: now.addingTimeInterval(9999), parkedUntil: nil) == now.addingTimeInterval(60))
    }

    // MARK: Freshness

    // R15
    @Test func dataAreStaleAfterThreeIntervals() {
        let schedule = schedule()
        #expect(schedule.staleTime(lastSuccess: now) == now.addingTimeInterval(2700))
        #expect(schedule.isCurrent(lastSuccess: now, now: now.addingTimeInterval(2699)))
        #expect(!schedule.isCurrent(lastSuccess: now, now: now.addingTimeInterval(2700)))
    }

    @Test func anIntervalTheServerLengthenedLengthensThePatience() {
        #expect(schedule().staleTime(lastSuccess: now, interval: .seconds(7200)) == now.addingTimeInterval(21_600))
        #expect(schedule().staleTime(lastSuccess: now, interval: .seconds(1)) == now.addingTimeInterval(2700))
        let fixed = self.schedule { $0.maxAge = .span(.hours(2)) }
        #expect(fixed.staleTime(lastSuccess: now, interval: .seconds(7200)) == now.addingTimeInterval(7200))
    }
}
