import JSONPaths

/// `incremental` as it stands in the files.
struct IncrementalTable: ConfigurationTable {
    enum Kind: String, TableKind {
        case none, time, integer, token

        var keys: [String] {
            let field = ["field", "since", "start", "order", "on_missing"]
            return switch self {
            case .none: []
            case .time: field + ["format", "request_format", "lookback", "window", "until"]
            case .integer: field
            case .token: ["path", "header", "in", "param"]
            }
        }
    }

    /// `full_every` as it is written.
    enum FullInterval: Hashable {
        case never
        case every(TimeSpan)
    }

    var kind = Kind.time
    var field: JSONPath?
    var since: String?
    var until: String?
    var format = DateFormat.rfc3339
    var requestFormat: DateFormat?
    var start: IncrementalConfiguration.Start?
    var lookback = TimeSpan.zero
    var order = IncrementalConfiguration.Order.unsorted
    var fullEvery: FullInterval?
    var window: TimeSpan?
    var onMissing = IncrementalConfiguration.MissingField.include
    var onRejection = IncrementalConfiguration.Rejection.full
    var path: JSONPath?
    var header: String?
    var place = PaginationConfiguration.Place.query
    var parameter: String?

    static var keys: [Key<Self>] {
        let parameter = Codec<String>.text("the name of a parameter", maxLength: 128)
        let header = Codec<String>.text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
        return [
            Key("kind", .choice(Kind.self, later: ["etag-only"]), \.kind),
            Key("field", Codec<JSONPath>.jsonPath.optional(), \.field),
            Key("since", parameter.optional(), \.since),
            Key("until", parameter.optional(), \.until),
            Key("format", .dateFormat, \.format),
            Key("request_format", Codec<DateFormat>.dateFormat.optional(), \.requestFormat),
            Key("start", Codec<IncrementalConfiguration.Start>.start.optional(), \.start),
            Key("lookback", .timeSpan(.zero ... .days(3660)), \.lookback),
            Key("order", .choice(IncrementalConfiguration.Order.self), \.order),
            Key("full_every", Codec<FullInterval>.fullInterval.optional(), \.fullEvery),
            Key("window", Codec<TimeSpan>.timeSpan(.seconds(1) ... .days(3660)).optional(), \.window),
            Key("on_missing", .choice(IncrementalConfiguration.MissingField.self, later: ["skip"]), \.onMissing),
            Key("on_cursor_rejected", .choice(IncrementalConfiguration.Rejection.self), \.onRejection),
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
            Key("header", header.optional(), \.header),
            Key("in", .choice(PaginationConfiguration.Place.self), \.place),
            Key("param", parameter.optional(), \.parameter),
        ]
    }

    /// The keys that every kind but `none` may have.
    static let shared: Set<String> = ["kind", "full_every", "on_cursor_rejected"]

    /// The value the table stands for; nil: every run asks for everything.
    ///
    /// - Parameters:
    ///   - resource: what else is known of the resource: how it is asked for, and its pages.
    ///   - needsListings: whether some things show only where everything is listed.
    func configuration(
        _ layer: Layer, _ origins: [String: DocumentNode.Place], of resource: ResourceConfiguration, needsListings: Bool, _ complaints: Complaints
    ) -> IncrementalConfiguration? {
        guard let node = layer.node, let table = node.table, table["kind"] == nil || origins["kind"] != nil else { return nil }
        kind.complainOfOthers(origins, shared: kind == .none ? ["kind"] : Self.shared, layer.subject, complaints)
        if kind == .none { return nil }
        if kind == .token {
            let check = TokenCheck(layer: layer, table: table, resource: resource, complaints: complaints)
            guard let token = check.token(self) else { return nil }
            var result = IncrementalConfiguration(.token(token), field: nil)
            finish(&result, needsListings: needsListings)
            return result
        }
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: table[key]?.place ?? node.place, layer.subject, key: key, message, suggestion)
        }
        if field == nil, table["field"] == nil {
            if kind == .integer || table["until"] == nil && window == nil {
                complain("field", "\"field\" is missing", "write field = \"$.updated_at\", where a record holds how new it is")
                return nil
            }
            if order != .unsorted { complain("order", "without field the order of records cannot be seen", "write field = \"$.updated_at\"") }
        }
        if since != nil, since == until { complain("until", "since and until are both \"\(since ?? "")\"", "use the names the service expects") }
        switch (kind, start) {
        case (.integer, .time?), (.integer, .ago?): complain("start", "kind = \"integer\" begins with an integer", "write start = 0")
        case (.time, .integer?):
            complain("start", "kind = \"time\" begins with a time", "write start = \"2020-01-01T00:00:00Z\", or \"-90d\" for 90 days before the run")
        default: break
        }
        if order == .descending, window != nil {
            complain("window", "steps and order = \"desc\" cannot be used together", "remove one of them")
        }
        var result = IncrementalConfiguration(kind == .integer ? .integer : .time(format), field: field)
        result.since = since
        result.until = until
        result.requestFormat = requestFormat
        result.start = start
        result.lookback = lookback
        result.order = order
        result.window = window
        result.onMissing = onMissing
        finish(&result, needsListings: needsListings)
        return result
    }

    /// What every kind has.
    private func finish(_ result: inout IncrementalConfiguration, needsListings: Bool) {
        switch fullEvery {
        case .never?: result.fullEvery = nil
        case .every(let span)?: result.fullEvery = span
        case nil: result.fullEvery = needsListings ? .hours(24) : nil
        }
        result.onRejection = onRejection
    }
}

extension Codec where Value == IncrementalTable.FullInterval {
    fileprivate static var fullInterval: Codec {
        let span = Codec<TimeSpan>.timeSpan(.minutes(1) ... .days(3660)), expected = "a duration such as \"24h\", or \"never\""
        return Codec(expected: expected, wrong: span.wrong) { node in
            if node.string == "never" { return .value(.never) }
            switch span.read(node) {
            case .value(let value): return .value(.every(value))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            switch $0 {
            case .never: "\"never\""
            case .every(let value): span.toml(value)
            }
        }
    }
}

extension Codec where Value == IncrementalConfiguration.Start {
    /// A moment, or an integer.
    fileprivate static var start: Codec {
        let moment = Codec<RecordCondition.Moment>.timeOrSpan(
            "a time such as \"2020-01-01T00:00:00Z\", \"-90d\" for so long before the run, or an integer")
        return Codec(expected: moment.expected, wrong: moment.wrong.filter { $0 != "5" }) { node in
            if case .integer(let value) = node.value { return .value(.integer(value)) }
            switch moment.read(node) {
            case .value(.time(let seconds)): return .value(.time(seconds: seconds))
            case .value(.ago(let span)): return .value(.ago(span))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            switch $0 {
            case .time(let seconds): moment.toml(.time(seconds: seconds))
            case .ago(let span): moment.toml(.ago(span))
            case .integer(let value): "\(value)"
            }
        }
    }
}
