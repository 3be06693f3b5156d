import JSONPaths

/// How a stream asks for what has changed.
extension StreamConverter {
    /// Finds out what expressions may say of an interval, before anything is asked for.
    func planIncrement() throws {
        guard let component = try stream.component("incremental_sync", "DatetimeBasedCursor") else { return }
        switch component.type {
        case "DatetimeBasedCursor":
            _ = findings.refusing("incremental_sync", line: component.line) { increment = try timePlan(component) }
        case "IncrementingCountCursor":
            _ = findings.refusing("incremental_sync", line: component.line) {
                increment = IncrementPlan(component: component, isCounting: true, field: try cursorField(component))
            }
        default: findings.refuse("incremental_sync", named(component), "increments of this kind cannot be carried over")
        }
    }

    private func cursorField(_ component: Component) throws -> String {
        guard let value = try component.value("cursor_field") else { throw Unsayable("cursor_field is missing") }
        return try constant(value, in: component)
    }

    private func timePlan(_ component: Component) throws -> IncrementPlan {
        expect(
            component,
            handled: [
                "datetime_format", "cursor_datetime_formats", "start_datetime", "end_datetime", "start_time_option", "end_time_option", "step",
                "cursor_granularity", "lookback_window", "partition_field_start", "partition_field_end", "is_data_feed", "is_client_side_incremental",
                "is_compare_strictly", "global_substream_cursor", "clamping", "allow_catalog_defined_cursor_field", "api_retention_period",
            ])
        for key in ["clamping", "api_retention_period"] {
            if let value = try component.value(key), value.isTruthy { findings.refuse("incremental_sync.\(key)", value, "this cannot be said") }
        }
        var plan = IncrementPlan(component: component, isCounting: false, field: try cursorField(component))
        guard let format = try component.value("datetime_format") else { throw Unsayable("datetime_format is missing") }
        let requests = try constant(format, in: component)
        plan.requestFormat = try DateFormats.forRequests(requests)
        var patterns: [String] = []
        for pattern in try component.value("cursor_datetime_formats")?.list ?? [] { patterns.append(try constant(pattern, in: component)) }
        let records = try DateFormats.forRecords(patterns.isEmpty ? [requests] : patterns)
        plan.recordFormat = records.format
        if records.isNarrow {
            findings.remark(
                "incremental_sync.cursor_datetime_formats", try component.value("cursor_datetime_formats"),
                "a resource reads one format, \(records.format); where records write others, runs say so")
        }
        if let name = try component.value("partition_field_start") { evaluator.intervalNames.start = try constant(name, in: component) }
        if let name = try component.value("partition_field_end") { evaluator.intervalNames.end = try constant(name, in: component) }
        return plan
    }

    /// Says it, once it is known what requests say of it.
    func convertIncrement() throws {
        guard var plan = increment else { return }
        if plan.isCounting { return try convertCounting(&plan) }
        let component = plan.component
        var table = TOMLTable()
        if let path = draft.paths(of: [plan.field]).first { table["field"] = .text(path.description) }
        table["format"] = .text(plan.recordFormat)
        if plan.requestFormat != plan.recordFormat { table["request_format"] = .text(plan.requestFormat) }
        try inject("start_time_option", "since", of: component, &table, isSaid: &plan.saysSince)
        try inject("end_time_option", "until", of: component, &table, isSaid: &plan.saysUntil)
        if !plan.saysSince, !plan.saysUntil {
            // Connectors drop what is newer than a fixed end.
            try convertEnd(of: component, plan)
            if try component.flag("is_data_feed") {
                try convertFeed(component, table)
            } else {
                findings.remark(
                    "incremental_sync", named(component),
                    "no request says from where on: each run asks for everything, also for what is older than the start")
            }
            if plan.isInFields { findings.refuse("transformations", nil, "fields that say the interval need requests that ask for it") }
            return
        }
        try convertStart(of: component, &table)
        try convertEnd(of: component, plan)
        try convertLookback(of: component, &table)
        try convertStep(of: component, plan, &table)
        draft.incremental = table
    }

    /// A listing that begins with what is newest: it is read up to what is known, or older than the start.
    private func convertFeed(_ component: Component, _ plain: TOMLTable) throws {
        var table = plain
        table["request_format"] = nil
        if let start = try component.value("start_datetime"), start.isTruthy {
            try convertStart(of: component, &table)
            findings.remark(
                "incremental_sync.start_datetime", start, "of the page that reaches back to it, what is older than the start is kept, too")
        }
        try convertLookback(of: component, &table)
        table["order"] = .text("desc")
        draft.incremental = table
    }

    private func convertLookback(of component: Component, _ table: inout TOMLTable) throws {
        guard let value = try component.value("lookback_window"), let seconds = try duration(value, "lookback_window", in: component), seconds > 0
        else { return }
        table["lookback"] = .text(Self.span(seconds))
    }

    private func convertCounting(_ plan: inout IncrementPlan) throws {
        let component = plan.component
        expect(component, handled: ["start_value", "start_value_option"])
        var table = TOMLTable([("kind", .text("integer"))])
        if let path = draft.paths(of: [plan.field]).first { table["field"] = .text(path.description) }
        try inject("start_value_option", "since", of: component, &table, isSaid: &plan.saysSince)
        table["start"] = .integer(try integer("start_value", in: component) ?? 0)
        draft.incremental = table
    }

    /// Puts a time into requests where an option wants it.
    private func inject(_ key: String, _ name: String, of component: Component, _ table: inout TOMLTable, isSaid: inout Bool) throws {
        guard let option = try component.component(key, "RequestOption") else { return }
        let place = try requestPlace(option)
        isSaid = true
        if place.kind == .query, place.names.count == 1 {
            table[name] = .text(place.names[0])
        } else {
            try insert(.text("{\(name)}"), at: place)
        }
    }

    // MARK: Beginning and end

    private func convertStart(of component: Component, _ table: inout TOMLTable) throws {
        guard let value = try component.value("start_datetime") else { throw Unsayable("start_datetime is missing") }
        let start = try moment(value, of: component)
        if let least = start.least {
            guard case .moment(let moment) = least, moment.offset < 0 else {
                throw Unsayable("min_datetime can be a time before the run only, as in day_delta(-30)")
            }
            findings.remark("start_datetime.min_datetime", value, "runs begin \(Self.span(-moment.offset)) back, also where start_datetime is later")
            table["start"] = .text("-\(Self.span(-moment.offset))")
            return
        }
        switch start.term {
        case .moment(let moment) where moment.offset <= 0: table["start"] = .text("-\(Self.span(-moment.offset))")
        case .none, .text(""):
            findings.refuse("start_datetime", value, "the field that it comes from has no value; give it one with --set, or a default")
        default:
            guard let text = start.term.constantText else { throw Unsayable("start_datetime has to be known before a run") }
            guard let time = CivilTime(text) ?? Self.counted(text, start.format) else {
                throw Unsayable("start_datetime: \"\(ManifestValue.shortened(text, limit: 40))\" is no time that can be read here")
            }
            table["start"] = .text(time.rfc3339)
        }
    }

    private func convertEnd(of component: Component, _ plan: IncrementPlan) throws {
        guard let value = try component.value("end_datetime"), !value.isNull else { return }
        let end = try moment(value, of: component)
        switch end.term {
        case .moment(let moment) where moment.offset == 0: break
        case .none, .text(""): break
        default:
            // What a request cannot end is dropped by nobody here.
            guard plan.saysUntil || !plan.saysSince else { break }
            findings.refuse("end_datetime", value, "runs ask up to their own begin, and no other end can be said")
        }
        if end.most != nil { findings.refuse("end_datetime.max_datetime", value, "this cannot be said") }
    }

    /// A time with its bounds: a text, or a MinMaxDatetime.
    private func moment(_ value: ManifestValue, of component: Component) throws -> (term: Term, least: Term?, most: Term?, format: String) {
        let own = try component.value("datetime_format")?.text ?? ""
        guard value.mapping != nil else { return (try evaluator(for: component).term(value), nil, nil, own) }
        let inner = try component.inner(value, "start_datetime", "MinMaxDatetime")
        expect(inner, handled: ["datetime", "datetime_format", "min_datetime", "max_datetime", "lookback_window"])
        let evaluator = evaluator(for: inner)
        guard let time = try inner.value("datetime") else { throw Unsayable("datetime is missing") }
        func bound(_ key: String) throws -> Term? {
            guard let value = try inner.value(key), value.isTruthy else { return nil }
            return try evaluator.term(value)
        }
        let most = try bound("max_datetime")
        // The run's begin bounds everything anyway.
        if case .moment(let moment)? = most, moment.offset == 0 {
            return (try evaluator.term(time), try bound("min_datetime"), nil, try inner.value("datetime_format")?.text ?? own)
        }
        return (try evaluator.term(time), try bound("min_datetime"), most, try inner.value("datetime_format")?.text ?? own)
    }

    /// Seconds or milliseconds since 1970.
    private static func counted(_ text: String, _ format: String) -> CivilTime? {
        guard let number = Int(text), abs(number) < 1_000_000_000_000_000 else { return nil }
        return CivilTime(epoch: format == "%ms" ? number / 1000 : number)
    }

    // MARK: Steps

    private func convertStep(of component: Component, _ plan: IncrementPlan, _ table: inout TOMLTable) throws {
        let granularity = try component.value("cursor_granularity").flatMap { try duration($0, "cursor_granularity", in: component) } ?? 0
        guard let value = try component.value("step"), let step = try duration(value, "step", in: component), step > 0 else {
            if plan.isInFields {
                findings.refuse("transformations", nil, "fields that say the interval need steps, since they would change with every run")
            }
            return
        }
        guard plan.saysUntil else { return }
        // A step ends where the next one begins, and what is at its very end is asked for twice.
        if granularity >= 86_400, granularity >= step || plan.isInFields {
            return findings.refuse(
                "incremental_sync.cursor_granularity", try component.value("cursor_granularity"),
                "requests for single days cannot be said: a step ends where the next one begins")
        }
        if step < 3660 * 86_400 { table["window"] = .text(Self.span(step)) }
    }

    /// Seconds; nil: there are none.
    private func duration(_ value: ManifestValue, _ key: String, in component: Component) throws -> Int? {
        let text = try constant(value, in: component)
        if text.isEmpty { return nil }
        guard let duration = ISODuration(text) else { throw Unsayable("\(key): \"\(ManifestValue.shortened(text, limit: 40))\" is no duration") }
        if duration.isRough { findings.remark("incremental_sync.\(key)", value, "a month is taken for 30 days, a year for 365") }
        return duration.seconds
    }

    /// A length of time as a configuration writes it.
    static func span(_ seconds: Int) -> String {
        for (unit, length) in [("d", 86_400), ("h", 3600), ("m", 60)] where seconds != 0 && seconds.isMultiple(of: length) {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
