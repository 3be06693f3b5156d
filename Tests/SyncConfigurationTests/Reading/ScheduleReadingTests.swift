import Testing

@testable import SyncConfiguration

/// When polls are due, as it is written on several levels.
@Suite struct ScheduleReadingTests {
    private func schedule(_ lines: String, defaults: String = "", dropIns: [String: String] = [:]) throws -> ScheduleConfiguration {
        try configuration((defaults.isEmpty ? "" : "[defaults.schedule]\n\(defaults)\n") + itemSource + lines, dropIns: dropIns).sources[0].resources[
            0
        ]
        .schedule
    }

    private func problem(_ lines: String, defaults: String = "") -> String {
        errors((defaults.isEmpty ? "" : "[defaults.schedule]\n\(defaults)\n") + itemSource + lines).joined(separator: "\n")
    }

    @Test func everythingIsRead() throws {
        let schedule = try schedule(
            """
            [source.schedule]
            cron = "0 6 * * mon-fri"
            timezone = "Europe/Zurich"
            quiet_hours = ["22:00-06:00", "12:00-13:00"]
            overlap = "queue-one"
            catch_up = "none"
            """)
        #expect(schedule.cron == (try CronExpression(parsing: "0 6 * * mon-fri")))
        #expect(schedule.timeZone == "Europe/Zurich")
        #expect(schedule.quietHours == [try #require(QuietHours("22:00-06:00")), try #require(QuietHours("12:00-13:00"))])
        #expect(schedule.overlap == .queueOne && schedule.catchUp == .none)
        #expect(schedule.jitter == Percentage(percent: 0))
        #expect(try self.schedule("schedule.adaptive = true").adaptive)
    }

    @Test func oneTableSaysInOneWayWhenPollsAreDue() {
        #expect(
            problem("schedule = { cron = \"@daily\", every = \"1h\" }").contains("\"cron\" and \"every\" cannot be used together; remove one of them")
        )
        #expect(problem("", defaults: "cron = \"@daily\"\nevery = \"1h\"").contains("cannot be used together"))
    }

    @Test func theNearerTableSaysHow() throws {
        let daily = try CronExpression(parsing: "@daily")
        let cron = try schedule("schedule.cron = \"@daily\"", defaults: "every = \"20m\"\njitter = \"20%\"\nadaptive = true")
        #expect(cron.cron == daily && !cron.adaptive)
        // That was a share of the interval.
        #expect(cron.jitter == Percentage(percent: 0))
        let every = try schedule("schedule.every = \"20m\"", defaults: "cron = \"@daily\"\njitter = \"1%\"")
        #expect(every.cron == nil && every.every == .minutes(20) && every.jitter == Percentage(percent: 10))
        let again = try schedule("schedule.cron = \"@hourly\"", defaults: "cron = \"@daily\"\njitter = \"1%\"")
        #expect(again.cron == (try CronExpression(parsing: "@hourly")) && again.jitter == Percentage(percent: 1))
        let own = try schedule("schedule = { jitter = \"2%\", cron = \"@daily\" }", defaults: "jitter = \"20%\"")
        #expect(own.jitter == Percentage(percent: 2))
    }

    @Test func aLaterFileSaysHow() throws {
        let drop = ["20-night.toml": "[[source]]\nname = \"items\"\nschedule.cron = \"0 3 * * *\"\n"]
        let night = try schedule("schedule = { every = \"1h\", jitter = \"5%\" }", dropIns: drop)
        #expect(night.cron?.description == "0 3 * * *" && night.jitter == Percentage(percent: 0))
        let often = ["20-often.toml": "[[source]]\nname = \"items\"\nschedule.every = \"5m\"\n"]
        #expect(try schedule("schedule.cron = \"0 3 * * *\"", dropIns: often).cron == nil)
    }

    @Test func timesDoNotAdapt() {
        #expect(problem("schedule = { cron = \"@daily\", adaptive = true }").contains("the times of cron do not adapt"))
        #expect(problem("schedule.adaptive = true", defaults: "cron = \"@daily\"").contains("the times of cron do not adapt"))
    }

    @Test func limitsOfIntervalsAreNoLimitsOfTimes() {
        #expect(problem("schedule = { cron = \"@daily\", max_interval = \"1m\" }", defaults: "every = \"5m\"").isEmpty)
        #expect(problem("schedule = { cron = \"@daily\", min_interval = \"2d\" }").contains("longer than max_interval"))
    }

    @Test func anUnknownZoneIsNamedWithTheOneThatWasMeant() {
        #expect(problem("schedule.timezone = \"Europe/Zürich\"").contains("did you mean \"Europe/Zurich\"?"))
        #expect(problem("schedule.timezone = \"zurich\"").contains("did you mean \"Europe/Zurich\"?"))
        #expect(problem("schedule.timezone = \"New York\"").contains("did you mean \"America/New_York\"?"))
        #expect(problem("schedule.timezone = \"utc\"").contains("did you mean \"UTC\"?"))
        #expect(problem("schedule.timezone = \"GMT+2\"").contains("there is no time zone \"GMT+2\""))
    }

    @Test(arguments: ["UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata", "US/Eastern"])
    func zonesOfTheDatabaseAreKnown(name: String) throws {
        #expect(try schedule("schedule.timezone = \"\(name)\"").timeZone == name)
    }

    @Test func somethingOfTheDayIsLeft() {
        #expect(problem("schedule.quiet_hours = [\"06:00-18:00\", \"17:00-06:00\"]").contains("nothing of the day is left"))
        #expect(problem("schedule.quiet_hours = [\"06:00-18:00\", \"17:00-05:59\"]").isEmpty)
    }

    @Test(arguments: [("22:00-06:00", "22:00-06:00"), ("7:05-12:00", "07:05-12:00"), ("18:00-00:00", "18:00-24:00"), ("00:00-00:01", "00:00-00:01")])
    func quietHoursAreWrittenInOneWay(text: String, shown: String) {
        #expect(QuietHours(text)?.description == shown)
    }

    @Test func quietHoursMayGoOverMidnight() throws {
        let night = try #require(QuietHours("22:00-06:00")), noon = try #require(QuietHours("12:00-13:00"))
        #expect([1319, 1320, 1439, 0, 359, 360].map(night.contains) == [false, true, true, true, true, false])
        #expect([719, 720, 779, 780].map(noon.contains) == [false, true, true, false])
        for wrong in ["22-6", "6:0-7:00", "24:00-06:00", "06:00-06:00", "06:00", "06:60-07:00", "06:00-24:01", "-1:00-02:00"] {
            #expect(QuietHours(wrong) == nil, "\(wrong)")
        }
    }

    @Test func whatIsShownIsWhatHolds() throws {
        let text = itemSource + "schedule = { cron = \"0  6 * * *\", timezone = \"Europe/Zurich\", quiet_hours = [\"1:00-02:00\"] }"
        let resolved = try #require(read(text).resolved)
        func shown(_ key: String) -> String? { resolved.settings.first { $0.keyPath == "source.items.schedule.\(key)" }?.value }
        #expect(shown("cron") == "\"0 6 * * *\"" && shown("every") == nil && shown("jitter") == "\"0%\"")
        #expect(shown("quiet_hours") == "[\"01:00-02:00\"]")
        #expect(read(resolved.toml()).configuration == read(text).configuration)
        let plain = try #require(read(itemSource).resolved)
        #expect(plain.settings.first { $0.keyPath == "source.items.schedule.every" }?.value == "\"15m\"")
        #expect(!plain.settings.contains { $0.keyPath == "source.items.schedule.cron" })
    }
}
