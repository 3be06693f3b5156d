import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct IncrementTests {
    private func manifest(_ more: String, format: String = "%Y-%m-%dT%H:%M:%SZ", start: String = "\"{{ config['start_date'] }}\"") -> ManifestText {
        var manifest = ManifestText()
        manifest.stream = """
            incremental_sync:
              type: DatetimeBasedCursor
              cursor_field: updated_at
              datetime_format: "\(format)"
              start_datetime: \(start)
            \(more.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
            """
        manifest.spec += ", start_date: { type: string, format: date-time }, days: { type: integer, default: 3 }"
        manifest.required = "[start_date]"
        manifest.schema = "{ id: { type: string }, updated_at: { type: string, format: date-time } }"
        return manifest
    }

    private let since = "start_time_option: { type: RequestOption, inject_into: request_parameter, field_name: since }"
    private let until = "end_time_option: { type: RequestOption, inject_into: request_parameter, field_name: until }"

    @Test func aRangeIsAskedForInSteps() throws {
        let lines = try manifest("\(since)\n\(until)\nstep: P30D\ncursor_granularity: PT1S\nlookback_window: \"P{{ config.days }}D\"").lines()
        #expect(
            lines.contains(
                "incremental = { field = \"$.updated_at\", format = \"rfc3339\", request_format = \"%Y-%m-%dT%H:%M:%SZ\", since = \"since\", "
                    + "until = \"until\", start = \"2020-01-01T00:00:00Z\", lookback = \"3d\", window = \"30d\" }"))
        #expect(lines.contains("updated_at = { type = \"date\" }"))
    }

    @Test(
        arguments: zip(
            ["%s", "%ms", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%_msZ", "%Y-%m-%dT%H:%M:%S%z"],
            [
                "format = \"unix\", since = ", "format = \"unix-ms\", since = ", "format = \"rfc3339\", request_format = \"%Y-%m-%d\", since = ",
                "format = \"rfc3339\", request_format = \"%Y-%m-%dT%H:%M:%S.000Z\", since = ", "format = \"%Y-%m-%dT%H:%M:%S%z\", since = ",
            ]))
    func timesAreWrittenAsTheManifestSays(_ format: String, _ part: String) throws {
        #expect(try manifest(since, format: format).lines().contains { $0.contains(part) })
    }

    @Test func templatesMaySayTheInterval() throws {
        var manifest = manifest(until + "\npartition_field_start: from")
        manifest.path = "\"/items/{{ stream_slice['from'] }}\""
        manifest.requester = """
            request_parameters: { filter: "updated>{{ stream_interval.from }}", month: "{{ format_datetime(stream_interval['from'], '%Y-%m') }}" }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("path = \"/items/{since}\""))
        #expect(lines.contains("params = { filter = \"updated>{since}\", month = \"{since:%Y-%m}\" }"))
        #expect(lines.contains { $0.hasPrefix("incremental = ") && $0.contains("until = \"until\"") && !$0.contains("since = ") })
    }

    @Test func timesMayGoIntoABody() throws {
        var manifest = manifest("start_time_option: { type: RequestOption, inject_into: body_json, field_path: [range, from] }")
        manifest.requester = "http_method: POST\nrequest_body_json: { a: b }"
        #expect(try manifest.lines().contains("json = { a = \"b\", range = { from = \"{since}\" } }"))
        manifest.requester = "http_method: POST\nrequest_body_json: { a: \"{{ stream_interval.start_time }}\" }"
        #expect(try manifest.lines().contains("json = { a = \"{since}\", range = { from = \"{since}\" } }"))
        // As a text of its own it becomes a number, here as there.
        for format in ["%s", "%ms", "%s_as_float"] {
            var seconds = self.manifest("", format: format)
            seconds.requester = manifest.requester
            #expect(try seconds.lines().contains("json = { a = \"{since}\" }"), "\(format)")
        }
    }

    @Test(
        arguments: zip(
            [
                "2021-02-03", "\"2021-02-03T04:05:06Z\"", "{ type: MinMaxDatetime, datetime: \"{{ day_delta(-90, format='%Y-%m-%d') }}\" }",
                "{ type: MinMaxDatetime, datetime: \"{{ config['start_date'] }}\", min_datetime: \"{{ day_delta(-7) }}\" }",
                "{ datetime: \"1612325106\", datetime_format: \"%s\" }",
            ],
            ["2021-02-03T00:00:00Z", "2021-02-03T04:05:06Z", "-90d", "-7d", "2021-02-03T04:05:06Z"]))
    func theBeginningIsKept(_ start: String, _ result: String) throws {
        #expect(try manifest(since, start: start).lines().contains { $0.contains("start = \"\(result)\"") })
    }

    @Test func whatIsOnlyFilteredAfterwardsIsAskedForEachTime() throws {
        let conversion = try manifest("is_client_side_incremental: true").converted()
        #expect(conversion.toml?.contains("incremental = ") == false)
        #expect(conversion.findings.map(\.isLeftOut) == [false])
    }

    @Test func aFeedEndsWhereItIsKnown() throws {
        let manifest = manifest("is_data_feed: true\nlookback_window: P30D")
        #expect(
            try manifest.lines().contains(
                "incremental = { field = \"$.updated_at\", format = \"rfc3339\", start = \"2020-01-01T00:00:00Z\", lookback = \"30d\", "
                    + "order = \"desc\" }"))
        #expect(try manifest.converted().findings.map(\.key) == ["incremental_sync.start_datetime"])
    }

    @Test(arguments: ["is_data_feed: true", "is_client_side_incremental: true"])
    func aFixedEndThatNoRequestSaysLeavesTheStreamOut(_ kind: String) throws {
        #expect(try manifest("\(kind)\nend_datetime: \"2024-02-01\"").refusals().map(\.key) == ["end_datetime"])
        #expect(try manifest("\(kind)\nend_datetime: \"{{ now_utc() }}\"").converted().streams == ["items"])
    }

    @Test func aNumberMayBeCounted() throws {
        var manifest = ManifestText()
        manifest.stream = """
            incremental_sync:
              type: IncrementingCountCursor
              cursor_field: id
              start_value: 5
              start_value_option: { type: RequestOption, inject_into: request_parameter, field_name: after }
            """
        #expect(try manifest.lines().contains("incremental = { kind = \"integer\", field = \"$.id\", since = \"after\", start = 5 }"))
    }

    @Test func daysThatAreAskedForOneByOneCannotBeSaid() throws {
        let refusals = try manifest("\(since)\n\(until)\nstep: P1D\ncursor_granularity: P1D", format: "%Y-%m-%d").refusals()
        #expect(refusals.map(\.key) == ["incremental_sync.cursor_granularity"])
    }

    @Test(arguments: [
        "clamping: { target: DAY }", "end_datetime: \"2024-01-01\"", "end_datetime: \"{{ day_delta(-1) }}\"", "unheard_of: 1", "step: soon",
        "lookback_window: \"{{ response.x }}\"",
    ])
    func whatCannotBeSaidLeavesTheStreamOut(_ more: String) throws {
        #expect(try !manifest("\(since)\n\(until)\n\(more)").refusals().isEmpty)
    }

    @Test func anEndThatIsNowIsTheRunsOwn() throws {
        let manifest = manifest("\(since)\n\(until)\nend_datetime: { type: MinMaxDatetime, datetime: \"{{ now_utc().strftime('%Y') }}\" }")
        #expect(try manifest.converted().findings == [])
        #expect(try manifest.lines().contains { $0.contains("until = \"until\"") })
    }

    @Test func customIncrementsLeaveTheStreamOut() throws {
        var manifest = ManifestText()
        manifest.stream = "incremental_sync: { type: CustomIncrementalSync, class_name: a.B, cursor_field: x }"
        #expect(try manifest.refusals().map(\.key) == ["incremental_sync"])
    }
}
