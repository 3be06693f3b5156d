import Testing

@testable import SyncConfiguration

/// `rate` and `breaker`.
@Suite struct RateReadingTests {
    private func resource(_ lines: String, defaults: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws -> ResourceConfiguration {
        try configuration(defaults + itemSource + lines, sourceLocation: sourceLocation).sources[0].resources[0]
    }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    @Test func requestsAreNotCountedUnlessTheFileSaysSo() throws {
        let rate = try resource("").rate
        #expect(rate == RateConfiguration() && rate.requests == 0 && rate.concurrency == 0 && rate.earlyLimit == 0)
        // What the server says of its own limit is believed.
        #expect(rate.headers == .automatic)
    }

    @Test func aBudgetIsWhatTheFileSays() throws {
        let rate = try resource(
            """
            rate = { requests = 60, per = "2m", burst = 5, concurrency = 3, scope = "source", reset_format = "epoch-ms", early_limit = 0.1, \
            headers = { limit = "X-L", remaining = "X-Left", reset = "X-When" } }
            """
        ).rate
        #expect(rate.requests == 60 && rate.per == .minutes(2) && rate.burst == 5 && rate.concurrency == 3 && rate.scope == .source)
        #expect(rate.headers == .named(limit: "X-L", remaining: "X-Left", reset: "X-When"))
        #expect(rate.resetFormat == .epochMilliseconds && rate.earlyLimit == 0.1)
    }

    @Test func aResourceAddsToWhatTheDefaultsSay() throws {
        let defaults = "[defaults.rate]\nrequests = 60\nscope = \"origin\"\n[defaults.breaker]\nfailures = 3\n"
        let found = try resource("rate.requests = 5\nbreaker.max_open = \"2h\"", defaults: defaults)
        #expect(found.rate.requests == 5 && found.rate.scope == .origin)
        #expect(found.breaker.failures == 3 && found.breaker.maxOpen == .hours(2) && found.breaker.openFor == .minutes(1))
    }

    @Test func headersThatSayHalfOfItAreRefused() {
        #expect(problem("rate.headers = { remaining = \"X-Left\" }").contains("remaining and reset are needed"))
        #expect(problem("rate.headers = { remaining = \"X-Left\", reset = \"X\", rest = \"Y\" }").contains("unknown key \"rest\""))
        #expect(problem("rate.headers = \"on\"").contains("rate.headers"))
    }

    // Of what would it be a share?
    @Test func aShareNeedsALimit() {
        let lines = "rate = { early_limit = 0.2, headers = { remaining = \"X-Left\", reset = \"X-Reset\" } }"
        #expect(problem(lines).contains("early_limit is a share of a limit"))
    }

    @Test func aWaitBeginsNoLongerThanItMayBecome() {
        #expect(problem("breaker = { open_for = \"2h\" }").contains("write max_open = \"2h\""))
    }

    // It says that it passes.
    @Test(arguments: [408, 425, 429]) func aStatusThatPassesIsNotPermanent(status: Int) {
        #expect(problem("breaker.permanent_statuses = [\(status)]").contains("\(status) says that it passes"))
    }

    @Test func whatIsResolvedIsReadAsTheSame() throws {
        let text = itemSource + "rate = { requests = 3, headers = { remaining = \"X-Left\", reset = \"X-When\" } }\nbreaker.permanent_statuses = []\n"
        let reading = read(text), resolved = try #require(reading.resolved).toml()
        #expect(read(resolved).configuration?.sources == reading.configuration?.sources)
        #expect(resolved.contains("rate.headers = { remaining = \"X-Left\", reset = \"X-When\" }"))
    }
}
