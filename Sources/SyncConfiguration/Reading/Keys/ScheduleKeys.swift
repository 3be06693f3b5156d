import Foundation

extension ScheduleConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        var every = Key<Self>("every", .timeSpan(.seconds(1) ... .days(366)), \.every)
        // What does not hold is not shown.
        let shown = every.toml
        every.toml = { $0.cron == nil ? shown($0) : nil }
        return [
            every,
            Key("cron", Codec<CronExpression>.cron.optional(), \.cron),
            Key("timezone", .timeZone, \.timeZone),
            Key("jitter", .percentage, \.jitter),
            Key("min_interval", .timeSpan(.seconds(1) ... .days(366)), \.minInterval),
            Key("max_interval", .timeSpan(.seconds(1) ... .days(3660)), \.maxInterval),
            Key("adaptive", .bool, \.adaptive),
            Key("respect_cache_control", .bool, \.respectCacheControl),
            Key("quiet_hours", .quietHours, \.quietHours),
            Key("max_age", .maximumAge, \.maxAge),
            Key("overlap", .choice(Overlap.self), \.overlap),
            Key("catch_up", .choice(CatchUp.self), \.catchUp),
        ]
    }

    /// What a table that says when polls are due in another way makes obsolete.
    fileprivate static let ofIntervals = ["every", "jitter", "adaptive"], ofTimes = ["cron", "jitter"]
}

extension Codec where Value == CronExpression {
    static var cron: Codec {
        let expected = "five fields such as \"*/15 * * * *\", or a name such as \"@daily\""
        return Codec(
            expected: expected,
            wrong: [
                "15", "true", "[]", "\"\"", "\"15m\"", "\"* * * *\"", "\"0 0 6 * * *\"", "\"60 * * * *\"", "\"* 24 * * *\"", "\"0 0 30 2 *\"",
                "\"*/0 * * * *\"", "\"5/15 * * * *\"", "\"0 0 * * fri-mon\"", "\"@reboot\"", "\"@dayly\"", "\"0 0 L * *\"",
            ]
        ) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            do throws(CronProblem) {
                return .value(try CronExpression(parsing: text))
            } catch {
                let shown = text.count > 60 ? text.prefix(60) + "…" : text
                return .wrong("\"\(shown)\" is no expression of cron: \(error.message)", error.suggestion)
            }
        } toml: {
            tomlQuoted($0.description)
        }
    }
}

extension Codec where Value == String {
    /// A name of the IANA's database of time zones.
    static var timeZone: Codec {
        let expected = "the name of a time zone such as \"Europe/Zurich\""
        return text(expected, maxLength: 64, wrong: ["\"Europe/Zürich\"", "\"Zurich\"", "\"+02:00\"", "\"GMT+2\"", "\"local\""]) { name in
            // Foundation also reads offsets, and calls them otherwise.
            let isOffset = name.hasPrefix("GMT") && name != "GMT"
            if name == "UTC" || (!isOffset && TimeZone(identifier: name)?.identifier == name) { return nil }
            return ("there is no time zone \"\(name)\"", nearestTimeZone(to: name).map { "did you mean \"\($0)\"?" } ?? "write \(expected)")
        }
    }

    /// The zone whose name, or city, is written much like this.
    private static func nearestTimeZone(to name: String) -> String? {
        let plain = name.replacing(" ", with: "_")
        let candidates = (TimeZone.knownTimeZoneIdentifiers + ["UTC"]).map { known in
            let city = known.split(separator: "/").last.map(String.init) ?? known
            return (min(editDistance(plain, known), editDistance(plain, city)), known)
        }
        guard let nearest = candidates.min(by: { $0 < $1 }), nearest.0 <= max(1, name.count / 4) else { return nil }
        return nearest.1
    }
}

extension Codec where Value == [QuietHours] {
    static var quietHours: Codec {
        let one = Codec<QuietHours>.parsed(
            "a part of a day such as \"22:00-06:00\"", wrong: ["\"22-6\"", "\"22:00\"", "\"25:00-06:00\"", "\"06:00-06:00\""]
        ) {
            QuietHours($0)
        } print: {
            $0.description
        }
        let list = Codec.list(of: one, expected: "a list of parts of a day such as [\"22:00-06:00\"]", isEmptyAllowed: true)
        return Codec(
            expected: list.expected, wrong: list.wrong + one.wrong.map { "[\($0)]" } + ["[\"00:00-24:00\"]", "[\"06:00-22:00\", \"22:00-06:00\"]"]
        ) { node in
            let outcome = list.read(node)
            if case .value(let hours) = outcome, QuietHours.areAllDay(hours) {
                return .wrong("nothing of the day is left for polls", "shorten them; enabled = false polls nothing at all")
            }
            return outcome
        } toml: {
            list.toml($0)
        }
    }
}

extension DocumentNode {
    /// A table `schedule` without what a later one makes obsolete: where that says `cron`, there is no interval, and the other way round.
    func yieldingTimes(to later: DocumentNode) -> DocumentNode {
        guard var table = self.table, let later = later.table else { return self }
        switch (later["every"] != nil, later["cron"] != nil) {
        case (true, false) where table["cron"] != nil: for key in ScheduleConfiguration.ofTimes { table[key] = nil }
        case (false, true) where table["cron"] == nil: for key in ScheduleConfiguration.ofIntervals { table[key] = nil }
        default: return self
        }
        var result = self
        result.value = .table(table)
        return result
    }
}

extension Assembly {
    /// `schedule` of several layers. Who says `cron` takes back the interval of the layers below, with its jitter; who says `every`, their `cron`.
    func resolveSchedule(_ layers: [Layer]) -> (value: ScheduleConfiguration, origins: [String: DocumentNode.Place]) {
        let builtIn = ScheduleConfiguration()
        var value = builtIn
        var origins: [String: DocumentNode.Place] = [:]
        for layer in layers {
            checkTimes(layer)
            let table = layer.node?.table, saysEvery = table?["every"] != nil, saysCron = table?["cron"] != nil
            if saysCron, value.cron == nil {
                value.jitter = Percentage(percent: 0)
                value.adaptive = false
                for key in ScheduleConfiguration.ofIntervals { origins[key] = nil }
            } else if saysEvery, !saysCron, value.cron != nil {
                value.cron = nil
                value.jitter = builtIn.jitter
                for key in ScheduleConfiguration.ofTimes { origins[key] = nil }
            }
            value.apply(layer, to: complaints, origins: &origins)
        }
        return (value, origins)
    }

    /// One table says in one way when polls are due.
    private func checkTimes(_ layer: Layer) {
        guard let table = layer.node?.table, let cron = table["cron"], table["every"] != nil else { return }
        complaints.add(
            at: cron.place, layer.subject, key: "cron", "\"cron\" and \"every\" cannot be used together", "remove one of them")
    }

    /// What the keys of a schedule say together.
    func checkSchedule(_ schedule: ScheduleConfiguration, _ origins: [String: DocumentNode.Place], _ layer: Layer) {
        let subject = layer.subject.key("schedule")
        if schedule.cron != nil, schedule.adaptive {
            complaints.add(
                at: origins["adaptive"] ?? origins["cron"], subject.key("adaptive"), "the times of cron do not adapt",
                "write every instead of cron, or remove adaptive = true")
        }
        if schedule.minInterval > schedule.maxInterval {
            complaints.add(
                at: origins["min_interval"] ?? origins["max_interval"], subject.key("min_interval"),
                "min_interval \"\(schedule.minInterval)\" is longer than max_interval \"\(schedule.maxInterval)\"", "exchange them")
            return
        }
        if schedule.cron != nil { return }
        if schedule.every < schedule.minInterval {
            complaints.add(
                at: origins["every"] ?? origins["min_interval"], subject.key("every"),
                "every \"\(schedule.every)\" is shorter than min_interval \"\(schedule.minInterval)\"",
                "write min_interval = \"\(schedule.every)\" if the service allows it")
        } else if schedule.every > schedule.maxInterval {
            complaints.add(
                at: origins["every"] ?? origins["max_interval"], subject.key("every"),
                "every \"\(schedule.every)\" is longer than max_interval \"\(schedule.maxInterval)\"",
                "write max_interval = \"\(schedule.every)\"")
        }
    }
}
