import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct ErrorsTests {
    private func manifest(_ filters: String, _ more: String = "") -> ManifestText {
        var manifest = ManifestText()
        manifest.requester = """
            error_handler:
              type: CompositeErrorHandler
              error_handlers:
                - type: DefaultErrorHandler
                  response_filters: [\(filters)]
            \(more.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
            """
        return manifest
    }

    @Test func statusesMeanWhatTheManifestSays() throws {
        let lines = try manifest(
            "{ http_codes: [404, 403], action: IGNORE }, { http_codes: [429, 520], action: RATE_LIMITED }, { http_codes: [500], action: FAIL }, "
                + "{ http_codes: [201], action: SUCCESS }, { http_codes: [404], action: FAIL }, { http_codes: [401], error_message: x }"
        ).lines()
        #expect(lines.contains("empty_statuses = [403, 404]"))
        #expect(lines.contains("success = [200, 201]"))
        #expect(lines.contains("retry = { statuses = [408, 425, 429, 502, 503, 504, 520] }"))
    }

    @Test func whatIsAsTheProgramDoesAnywayIsNotWritten() throws {
        let manifest = manifest(
            "{ http_codes: [429, 500], action: RETRY }", "backoff_strategies: [{ type: WaitTimeFromHeader, header: Retry-After }]")
        #expect(try !manifest.lines().contains { $0.hasPrefix("retry") })
        #expect(try manifest.converted().findings == [])
    }

    @Test func waitsAreKept() throws {
        let constant = manifest("", "max_retries: 9\nbackoff_strategies: [{ type: ConstantBackoffStrategy, backoff_time_in_seconds: 90 }]")
        #expect(
            try constant.lines().contains("retry = { base = \"90s\", factor = 1.0, max_delay = \"90s\", jitter = \"none\", attempts = 10 }"))
        let growing = manifest("", "backoff_strategies: [{ type: ExponentialBackoffStrategy, factor: 5 }]")
        #expect(try growing.lines().contains("retry = { base = \"5s\" }"))
    }

    @Test func whatOnlyMakesARunFailIsARemark() throws {
        for (filters, more) in [
            ("{ http_codes: [401], action: IGNORE }", ""), ("{ http_codes: [500], action: IGNORE }", ""),
            ("", "backoff_strategies: [{ type: WaitUntilTimeFromHeader, header: X-Reset }]"),
            ("{ action: IGNORE, predicate: \"{{ response.a > response.b }}\" }", ""),
        ] {
            let conversion = try manifest(filters, more).converted()
            #expect(conversion.streams == ["items"])
            #expect(conversion.findings.map(\.isLeftOut) == [false], "\(filters) \(more)")
        }
    }

    @Test func whatAnAnswerSaysIsSaidOrJudgedByItsStatus() throws {
        let isKnown = Capability.supported.contains("err.ignore.body")
        let conversion = try manifest("{ action: IGNORE, predicate: \"{{ response.ok == false }}\" }").converted()
        #expect(conversion.streams == ["items"])
        #expect(conversion.findings.isEmpty == isKnown)
        #expect(conversion.toml?.contains("ignore_if = [{ status = [\"2xx\", \"4xx\"], path = \"$.ok\", equals = false }]") == isKnown)
    }

    @Test func anErrorThatWouldPassForAnAnswerLeavesTheStreamOut() throws {
        let isKnown = Capability.supported.contains("err.fail.body")
        let conversion = try manifest("{ action: FAIL, predicate: \"{{ response.code == 7 }}\" }").converted()
        #expect(conversion.streams == (isKnown ? ["items"] : []))
        #expect(try !manifest("{ action: FAIL, predicate: \"{{ response.a > response.b }}\" }").refusals().isEmpty)
    }

    @Test(arguments: [
        "{ http_codes: [200], action: FAIL }", "{ http_codes: [202], action: RETRY }", "{ http_codes: [410], action: RESET_PAGINATION }",
    ])
    func whatCannotBeSaidLeavesTheStreamOut(_ filter: String) throws {
        #expect(try manifest(filter).refusals().map(\.key) == ["error_handler.response_filters"])
    }

    @Test func whatAProgramMakesOfErrorsIsARemark() throws {
        var manifest = ManifestText()
        manifest.requester = "error_handler: { type: CustomErrorHandler, class_name: a.B, response_filters: [{ http_codes: [404], action: IGNORE }] }"
        #expect(try manifest.lines().contains("empty_statuses = [404]"))
        #expect(try manifest.converted().findings.map(\.key) == ["error_handler"])
    }

    @Test func theTextOfAnErrorIsNotLookedForInSuccesses() throws {
        for (action, line) in [
            ("IGNORE", "ignore_if = [{ status = [\"4xx\"], contains = \"not found\" }]"),
            ("FAIL", "fail_if = [{ status = [\"4xx\", \"5xx\"], contains = \"not found\" }]"),
            ("RETRY", "retry_if = [{ status = [\"4xx\", \"5xx\"], contains = \"not found\" }]"),
        ] {
            let manifest = manifest("{ action: \(action), error_message_contains: not found }")
            #expect(try manifest.lines().contains(line))
            #expect(try manifest.converted().findings.map(\.key) == ["response_filters.error_message_contains"])
        }
    }

    @Test func aStatusIsWhatTheFirstFilterSaysThatNamesIt() throws {
        let lines = try manifest(
            "{ http_codes: [400], action: FAIL }, { http_codes: [400], action: IGNORE, error_message_contains: plan }"
        ).lines()
        let condition = try #require(lines.first { $0.hasPrefix("ignore_if = ") })
        #expect(!condition.contains("400") && !condition.contains("4xx") && condition.contains("402, 403, 404"))
        #expect(!condition.contains("401") && !condition.contains("429"))
        #expect(!lines.contains { $0.hasPrefix("empty_statuses") })
        // A status of the same action need not be kept apart.
        #expect(
            try manifest("{ http_codes: [404], action: IGNORE, error_message_contains: plan }").lines()
                .contains("ignore_if = [{ status = [\"4xx\"], contains = \"plan\" }]"))
    }

    @Test func conditionsThatWouldChangePlacesLeaveTheStreamOut() throws {
        for filters in [
            "{ action: FAIL, predicate: \"{{ response.code == 7 }}\" }, { action: IGNORE, predicate: \"{{ response.ok == false }}\" }",
            "{ action: IGNORE, error_message_contains: a }, { action: RETRY, error_message_contains: b }",
            "{ action: RETRY, predicate: \"{{ response.a > response.b }}\" }, { http_codes: [404], action: IGNORE }",
        ] {
            let manifest = manifest(filters)
            let refusals = try manifest.refusals()
            #expect(refusals.map(\.key) == ["error_handler.response_filters"], "\(filters)")
            #expect(try refusals.map(\.line) == [manifest.line(of: "response_filters")])
        }
        let kept = "{ action: RETRY, error_message_contains: a }, { action: IGNORE, error_message_contains: b }"
        #expect(try manifest(kept).converted().streams == ["items"])
    }
}
