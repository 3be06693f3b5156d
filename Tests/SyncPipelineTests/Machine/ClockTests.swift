import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Clocks that are set, zones that change theirs, machines that sleep: nothing is missed, nothing polled twice, and nobody wakes for nothing. // K1
@Suite struct ClockTests {
    // MARK: Clocks that are set

    @Test(arguments: [-1.0, 1]) func aSecondMovesNoPoll(step: Double) throws {
        var life = try ClockLife("2025-01-01T00:30:00Z", cron: "0 * * * *")
        life.live(.hours(0.5) - .seconds(0.5))
        life.set(by: .seconds(step))
        life.live(.hours(2.9))
        #expect(life.times == ["2025-01-01T01:00:00Z", "2025-01-01T02:00:00Z", "2025-01-01T03:00:00Z"])
    }

    // Just after the poll: the same time comes again.
    @Test func aTimeThatComesAgainIsNotPolledTwice() throws {
        for step in [Duration.seconds(-1), .seconds(-30), .seconds(-600), .seconds(-1500)] {
            var life = try ClockLife("2025-01-01T00:30:00Z", cron: "0 * * * *")
            life.live(.hours(0.5) + .seconds(10))
            life.set(by: step)
            life.live(.hours(2))
            #expect(life.times.first == "2025-01-01T01:00:00Z" && life.times.dropFirst().first == "2025-01-01T02:00:00Z", "\(step)")
        }
    }

    @Test(arguments: [-3600.0, 3600, -86_400, 86_400]) func anHourOrADayMovesPollsOfEveryHourByNothing(step: Double) throws {
        var life = try ClockLife("2025-01-10T00:30:00Z", cron: "0 * * * *")
        life.live(.hours(1))
        life.set(by: .seconds(step))
        life.live(.hours(5))
        // What a clock that is set forward leaves out is made up for, within the minute.
        if step < 0 {
            #expect(life.gaps == [Double](repeating: 3600, count: life.gaps.count) && life.polls.count == 6)
        } else {
            #expect(life.polls.count == 7)
            #expect(life.gaps.allSatisfy { $0 >= 60 && $0 <= 3600 })
        }
    }

    @Test func whatAClockSkipsIsMadeUpForOrNot() throws {
        for catchUp in ScheduleConfiguration.CatchUp.allCases {
            var life = try ClockLife("2025-01-01T05:00:00Z", cron: "0 6 * * *") { $0.catchUp = catchUp }
            life.live(.hours(0.5))
            life.set(by: .hours(3))
            life.live(.hours(24))
            #expect(life.polls.count == (catchUp == .one ? 2 : 1))
            #expect(life.times.last == "2025-01-02T06:00:00Z")
        }
    }

    @Test func aDayBackPollsThatDayAgain() throws {
        var life = try ClockLife("2025-01-02T05:00:00Z", cron: "0 6 * * *")
        life.live(.hours(2))
        life.set(by: .zero - .hours(24))
        life.live(.hours(48))
        // A day has passed between any two of them.
        #expect(life.times == ["2025-01-02T06:00:00Z", "2025-01-02T06:00:00Z", "2025-01-03T06:00:00Z"])
        #expect(life.gaps == [86_400, 86_400])
    }

    @Test(arguments: ["1970-01-01T00:00:00Z", "2038-01-19T03:14:07Z", "2100-02-28T23:59:59Z"]) func anyClockIsLivedWith(wall: String) throws {
        var life = try ClockLife("2025-01-01T00:30:00Z", cron: "*/15 * * * *") { $0.quietHours = [] }
        life.live(.hours(1) + .seconds(60))
        let before = life.polls.count
        try life.set(to: wall)
        life.live(.hours(4))
        // Where it is made up for what lies between, one more.
        #expect((15...17).contains(life.polls.count - before), "\(life.times)")
        #expect(life.gaps.allSatisfy { $0 >= 60 && $0 <= 1800 }, "\(life.gaps)")
        try life.set(to: "2025-01-01T05:31:00Z")
        life.live(.hours(4))
        #expect((30...34).contains(life.polls.count - before), "\(life.times)")
        #expect(life.gaps.allSatisfy { $0 >= 60 && $0 <= 1800 }, "\(life.gaps)")
        #expect(life.wakes < 1000)
    }

    @Test func aClockThatIsPulledBackAllTheTimePollsAtItsTimes() throws {
        var life = try ClockLife("2025-01-01T00:55:00Z", cron: "*/10 * * * *")
        for _ in 0..<360 {
            life.live(.seconds(10))
            life.set(by: .seconds(-1))
        }
        // 54 minutes by the clock.
        #expect(
            life.times == [
                "2025-01-01T01:00:00Z", "2025-01-01T01:10:00Z", "2025-01-01T01:20:00Z", "2025-01-01T01:30:00Z", "2025-01-01T01:40:00Z",
            ])
        #expect(life.wakes < 300)
    }

    // The second before midnight comes twice: the clock is pulled back by one.
    @Test func aLeapSecondIsASecondLikeOthers() throws {
        var life = try ClockLife("2016-12-31T23:59:00Z", cron: "0 0 * * *")
        life.runTime = .milliseconds(100)
        life.live(.seconds(60.2))
        life.set(by: .seconds(-1))
        life.live(.hours(1))
        #expect(life.polls.count == 1)
    }

    @Test func intervalsKnowOfNoClock() throws {
        var life = try ClockLife("2025-01-01T00:00:00Z") { $0.every = .minutes(15) }
        for wall in ["1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z", "2025-01-01T00:00:00Z"] {
            life.live(.hours(1))
            try life.set(to: wall)
        }
        life.live(.hours(1))
        #expect(life.gaps == [Double](repeating: 900, count: 16))
        // Nobody looks at the clock every minute: a poll has a beginning and an end.
        #expect(life.wakes < 100)
    }

    // MARK: Zones that change their clocks

    @Test(arguments: [
        ("Europe/Zurich", "2025-03-29T12:00:00Z"), ("Europe/Zurich", "2025-10-25T12:00:00Z"), ("America/New_York", "2025-03-08T12:00:00Z"),
        ("America/New_York", "2025-11-01T12:00:00Z"), ("Australia/Lord_Howe", "2025-04-05T00:00:00Z"),
        ("Australia/Lord_Howe", "2025-10-04T00:00:00Z"), ("Pacific/Apia", "2011-12-29T12:00:00Z"),
    ])
    func aChangeOfTheClockMissesNothingAndPollsNothingTwice(zone: String, start: String) throws {
        var daily = try ClockLife(start, cron: "30 2 * * *", zone)
        daily.live(.hours(72))
        #expect(daily.polls.count == 3 || (zone == "Pacific/Apia" && daily.polls.count == 4), "\(daily.times)")
        #expect(daily.gaps.allSatisfy { $0 >= 2 * 3600 && $0 <= 25 * 3600 }, "\(daily.times)")
        var often = try ClockLife(start, cron: "*/15 * * * *", zone)
        often.live(.hours(24))
        #expect(often.gaps == [Double](repeating: 900, count: often.gaps.count) && often.polls.count == 96)
    }

    // MARK: Machines that sleep

    @Test func eightHoursOfSleepMakeOnePollOrNone() throws {
        for catchUp in ScheduleConfiguration.CatchUp.allCases {
            var cron = try ClockLife("2025-01-01T00:30:00Z", cron: "0 * * * *") { $0.catchUp = catchUp }
            var every = try ClockLife("2025-01-01T00:00:00Z") {
                $0.every = .hours(1)
                $0.catchUp = catchUp
            }
            cron.live(.hours(1))
            every.live(.hours(1.5))
            #expect(cron.polls.count == 1 && every.polls.count == 2)
            cron.sleep(.hours(8))
            every.sleep(.hours(8))
            #expect(cron.polls.count == (catchUp == .one ? 2 : 1))
            #expect(every.polls.count == (catchUp == .one ? 3 : 2))
            cron.live(.hours(0.9))
            every.live(.hours(0.9))
            #expect(cron.times.last == "2025-01-01T10:00:00Z")
            // The rhythm of before.
            if catchUp == .none { #expect(every.times.last == "2025-01-01T10:00:00Z") }
        }
    }

    @Test func aTimerThatIsALittleLateHasMissedNothing() throws {
        var life = try ClockLife("2025-01-01T05:59:30Z", cron: "0 6 * * *") { $0.catchUp = .none }
        life.sleep(.seconds(50))
        #expect(life.polls.count == 1)
    }

    @Test func whatIsAskedForIsMadeAfterASleep() throws {
        var life = try ClockLife("2025-01-01T05:00:00Z", cron: "0 6 * * *") { $0.catchUp = .none }
        life.live(.hours(1) + .seconds(10))
        life.bench.tell(.asked(MachineBench.people, .control))
        life.sleep(.hours(8))
        #expect(life.polls.count == 2)
    }

    // MARK: Waking

    @Test func aRareTimeIsWaitedForWithOneLookAMinute() throws {
        var life = try ClockLife("2025-01-01T00:00:00Z", cron: "0 0 29 2 *")
        life.live(.hours(24))
        #expect(life.polls.isEmpty && life.due == "2028-02-29T00:00:00Z")
        #expect(life.wakes <= 24 * 60 + 5)
        #expect(life.bench.state.violation(at: life.bench.now) == nil)
    }
}
