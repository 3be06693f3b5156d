import Testing

@testable import SyncConfiguration

/// `incremental`, and the times that templates say.
@Suite struct IncrementalReadingTests {
    /// A resource with some keys.
    private func text(_ incremental: String?, _ more: String = "", path: String = "/items") -> String {
        itemModel + """
            [[source]]
            name = "s"
            base_url = "https://a.example"
            [[source.resource]]
            name = "items"
            entity = "Item"
            path = "\(path)"
            \(incremental.map { "incremental = { \($0) }" } ?? "")
            \(more)
            """
    }

    private func incremental(_ keys: String, _ more: String = "") throws -> IncrementalConfiguration {
        try #require(try configuration(text(keys, more)).resource(scope: "s/items")?.incremental)
    }

    @Test func everyKeyIsRead() throws {
        let all = try incremental(
            """
            kind = "time", field = "$.updated_at", since = "from", until = "to", format = "unix-ms", request_format = "%Y-%m-%d", \
            start = "2020-01-01", lookback = "5m", order = "asc", full_every = "7d", window = "30d", on_missing = "fail", \
            on_cursor_rejected = "fail"
            """)
        var expected = IncrementalConfiguration(.time(.unixMilliseconds), field: try .init(parsing: "$.updated_at"))
        (expected.since, expected.until, expected.requestFormat) = ("from", "to", .pattern("%Y-%m-%d"))
        (expected.start, expected.lookback, expected.order) = (.time(seconds: 1_577_836_800), .minutes(5), .ascending)
        (expected.fullEvery, expected.window, expected.onMissing, expected.onRejection) = (.days(7), .days(30), .fail, .fail)
        #expect(all == expected)
    }

    @Test func fewKeysAreNeeded() throws {
        let few = try incremental("field = \"$.at\", since = \"since\"")
        #expect(few.kind == .time(.rfc3339) && few.order == .unsorted && few.start == nil && few.fullEvery == nil && few.onRejection == .full)
        // Where deletions are found by listing everything, everything is listed every day.
        let deletes = "deletion = { detect = \"snapshot\" }"
        #expect(try incremental("field = \"$.at\", since = \"since\"", deletes).fullEvery == .hours(24))
        #expect(try incremental("field = \"$.at\", since = \"since\", full_every = \"never\"", deletes).fullEvery == nil)
        #expect(try incremental("kind = \"integer\", field = \"$.id\", since = \"after\", start = 5").start == .integer(5))
        #expect(try incremental("field = \"$.at\", since = \"since\", start = \"-90d\"").start == .ago(.days(90)))
        #expect(try incremental("field = \"$.at\", since = \"since\", start = 2020-01-01T00:00:00Z").start == .time(seconds: 1_577_836_800))
        #expect(try incremental("field = \"$.at\", order = \"desc\"").since == nil)
        #expect(try incremental("since = \"from\", until = \"to\", start = \"-1d\"").field == nil)
    }

    @Test func aResourceMayAskForEverythingWhateverItsSourceSays() throws {
        let result = try configuration(
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://a.example"
                incremental = { field = "$.at", since = "since" }
                [[source.resource]]
                name = "a"
                entity = "Item"
                path = "/a"
                incremental.since = "from"
                [[source.resource]]
                name = "b"
                entity = "Item"
                path = "/b"
                incremental.kind = "none"
                """)
        #expect(result.resource(scope: "s/a")?.incremental?.since == "from")
        #expect(result.resource(scope: "s/b")?.incremental == nil)
    }

    @Test(arguments: [
        ("since = \"since\"", "\"field\" is missing"),
        ("kind = \"integer\", since = \"since\", until = \"until\"", "\"until\" belongs to kind = \"time\""),
        ("field = \"$.at\"", "no request says from where on"),
        ("field = \"$.at\", since = \"at\", until = \"at\", start = \"-1d\"", "since and until are both \"at\""),
        ("field = \"$.at\", since = \"s\", until = \"u\"", "\"start\" is missing: a range has two ends"),
        ("field = \"$.at\", since = \"s\", window = \"1d\", start = \"-1d\"", "no request says up to where"),
        ("field = \"$.at\", since = \"s\", start = 3", "begins with a time"),
        ("kind = \"integer\", field = \"$.id\", since = \"s\", start = \"-1d\"", "begins with an integer"),
        ("field = \"$.at\", order = \"desc\", since = \"s\", until = \"u\", window = \"1d\", start = \"-1d\"", "cannot be used together"),
        ("since = \"s\", until = \"u\", start = \"-1d\", order = \"asc\"", "without field the order of records cannot be seen"),
        ("since = \"s\", window = \"1d\", start = \"-1d\"", "no request says up to where"),
    ])
    func whatDoesNotFitTogetherIsRefused(keys: String, message: String) {
        let found = read(text(keys)).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
    }

    // Everything that a listing does not have would be removed.
    @Test(arguments: [
        ("field = \"$.at\", since = \"s\", until = \"u\", start = \"2020-01-01\"", "a listing with an end misses what changes while it is read"),
        ("field = \"$.at\", since = \"s\", start = \"-90d\"", "what is older than that is not listed"),
    ])
    func aRangeIsNoListingToDeleteBy(keys: String, message: String) {
        let found = read(text(keys, "deletion = { detect = \"snapshot\" }")).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
        #expect(read(text(keys)).errors.isEmpty)
    }

    // A record that is changed while pages are read moves others from page to page.
    @Test(arguments: [("page", TimeSpan.hours(24)), ("offset", .hours(24)), ("link-header", nil)])
    func whereIsCountedEverythingIsListedNowAndThen(kind: String, every: TimeSpan?) throws {
        #expect(try incremental("field = \"$.at\", since = \"since\"", "pages = { kind = \"\(kind)\" }").fullEvery == every)
    }

    // MARK: Tokens

    private let body = "method = \"POST\"\njson = { at = {} }"

    @Test func aTokenIsRead() throws {
        var expected = DeltaToken(from: .path("$['@odata.deltaLink']"))
        let link = try incremental("kind = \"token\", path = \"$['@odata.deltaLink']\"", "pages = { kind = \"body-link\", path = \"$.next\" }")
        #expect(link.token == expected && link.field == nil && link.fullEvery == nil && link.onRejection == .full)
        expected = DeltaToken(from: .path("$.token"))
        expected.parameter = "sync"
        #expect(try incremental("kind = \"token\", path = \"$.token\", param = \"sync\"", "pages = { kind = \"page\" }").token == expected)
        expected = DeltaToken(from: .header("X-Next"))
        (expected.parameter, expected.place) = ("X-Since", .header)
        #expect(try incremental("kind = \"token\", header = \"X-Next\", param = \"X-Since\", in = \"header\"").token == expected)
        expected = DeltaToken(from: .path("$.token"))
        (expected.parameter, expected.place) = ("/at/token", .body)
        #expect(try incremental("kind = \"token\", path = \"$.token\", param = \"/at/token\", in = \"body\"", body).token == expected)
        // A page and a run may go on from the same place.
        let cursor = "\(body)\npages = { kind = \"cursor\", path = \"$.next\", in = \"body\", param = \"$.at.token\" }"
        #expect(try incremental("kind = \"token\", path = \"$.token\", param = \"/at/token\", in = \"body\"", cursor).token == expected)
        let deletes = "deletion = { detect = \"snapshot\" }"
        #expect(try incremental("kind = \"token\", path = \"$.token\", param = \"sync\"", deletes).fullEvery == .hours(24))
        let all = "kind = \"token\", path = \"$.t\", param = \"s\", full_every = \"never\", on_cursor_rejected = \"fail\""
        #expect(try incremental(all, deletes).fullEvery == nil)
        #expect(try incremental(all, deletes).onRejection == .fail)
    }

    @Test(
        arguments: [
            ("kind = \"token\"", "", "kind = \"token\" needs path or header"),
            ("kind = \"token\", path = \"$.a\", header = \"A\", param = \"a\"", "", "path and header cannot be used together"),
            ("kind = \"token\", header = \"A\"", "", "a token in a header needs param"),
            ("kind = \"token\", path = \"$.a\", in = \"header\"", "", "in says where param is"),
            ("kind = \"token\", path = \"$.a\", param = \"a b\", in = \"header\"", "", "is not the name of a header"),
            ("kind = \"token\", path = \"$.a\", param = \"a\", in = \"body\"", "", "in = \"body\" needs a request that has one"),
            ("kind = \"token\", path = \"$.a\", param = \"a\"", "params = { a = \"1\" }", "a has a value already"),
            ("kind = \"token\", path = \"$.a\", param = \"a\"", "secret_params = { a = { env = \"A\" } }", "a has a value already"),
            ("kind = \"token\", path = \"$.a\", param = \"x-a\", in = \"header\"", "headers = { X-A = \"1\" }", "x-a has a value already"),
            ("kind = \"token\", path = \"$.a\", param = \"page\"", "pages = { kind = \"page\" }", "page says which page is meant"),
            (
                "kind = \"token\", path = \"$.a\", param = \"x-page\", in = \"header\"",
                "pages = { kind = \"page\", in = \"header\", param = \"X-Page\" }", "x-page says which page is meant"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"/at\", in = \"body\"",
                "method = \"POST\"\njson = {}\npages = { kind = \"page\", in = \"body\", param = \"at\" }", "says which page is meant"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"/at/token\", in = \"body\"",
                "method = \"POST\"\njson = {}\npages = { kind = \"cursor\", path = \"$.b\", in = \"body\", param = \"/at\" }",
                "says which page is meant"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"key\"",
                "auth = { kind = \"api-key\", in = \"query\", name = \"key\", value = { env = \"A\" } }", "key has a value already"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"authorization\", in = \"header\"",
                "auth = { kind = \"bearer\", token = { env = \"A\" } }", "authorization has a value already"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"/auth\", in = \"body\"",
                "method = \"POST\"\njson = {}\nauth = { kind = \"api-key\", in = \"body\", name = \"/auth/key\", value = { env = \"A\" } }",
                "where the token of incremental goes"
            ),
            (
                "kind = \"token\", path = \"$.a\", param = \"at\", in = \"body\"",
                "method = \"POST\"\njson = {}\nsecret_fields = { \"/at\" = { env = \"A\" } }", "where the token of incremental goes"
            ),
            ("kind = \"token\", path = \"$.a\"", "pages = { kind = \"offset\" }", "the pages of an address"),
            ("kind = \"token\", path = \"$.a\"", "pages = { kind = \"keyset\", from = \"$.id\" }", "the pages of an address"),
            ("kind = \"token\", path = \"$.a\", field = \"$.at\"", "", "\"field\" belongs to kind = \"time\""),
            ("kind = \"token\", path = \"$.a\", since = \"s\"", "", "\"since\" belongs to kind = \"time\""),
            ("field = \"$.at\", since = \"s\", path = \"$.a\"", "", "\"path\" belongs to kind = \"token\""),
            ("kind = \"token\", path = \"$.a\", param = \"p\"", "params = { a = \"{since}\" }", "kind = \"token\" knows no times"),
        ])
    func aTokenThatDoesNotFitIsRefused(keys: String, more: String, message: String) {
        let found = read(text(keys, more)).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
    }

    // MARK: Templates

    @Test(
        arguments: [
            ("/items/{since}", nil, "the resource has no \"incremental\""),
            ("/items/{since}", "field = \"$.at\"", "\"start\" is missing: {since} is more than a parameter"),
            ("/items/{since.year}", "field = \"$.at\", start = \"-1d\"", "a time has no properties"),
            ("/items/{until}", "kind = \"integer\", field = \"$.id\", since = \"a\"", "kind = \"integer\" has no end"),
            ("/items/{now:split(-,0)}", nil, "a time is not split"),
        ] as [(String, String?, String)])
    func aTimeThatATemplateCannotSayIsRefused(path: String, keys: String?, message: String) {
        let found = read(text(keys, path: path)).errors
        #expect(found.contains { $0.message.contains(message) && $0.suggestion?.isEmpty == false && $0.line != nil }, "\(found)")
    }

    @Test(arguments: ["{now:%Q}", "a {now:yyyy}"])
    func aFormThatIsNoneIsRefused(text: String) {
        let found = read(self.text(nil, "params = { day = \"\(text)\" }")).errors
        #expect(
            found.contains { $0.message.contains("what follows the colon is no form") && $0.suggestion?.contains("%Y-%m-%d") == true }, "\(found)")
    }

    @Test func timesStandInPathsParametersAndHeaders() throws {
        let items = try #require(
            try configuration(
                text(
                    "field = \"$.at\", start = \"-1d\"", "params = { to = \"{until:unix}\" }\nheaders = { X-Day = \"{now:%d.%m.%Y}\" }",
                    path: "/{since:%Y/%m}/items")
            ).resource(scope: "s/items"))
        #expect(items.isTimed && items.templates.flatMap(\.references).map { "\($0)" } == ["since:%Y/%m", "until:unix", "now:%d.%m.%Y"])
    }

    @Test func aPartMayNotHaveTheNameOfATime() {
        let found = read(text(nil, "for_each = { values = [\"a\"], as = \"now\" }")).errors
        #expect(found.contains { $0.message.contains("{now} is a time of a run in every template") }, "\(found)")
    }

    @Test func onlyATimeHasAFormatOfTimes() {
        let found = read(text(nil, "for_each = { values = [\"a\"], as = \"part\" }\nparams = { a = \"{part:%Y}\" }")).errors
        #expect(found.contains { $0.message.contains("only a time can be written in a format of times") }, "\(found)")
    }

    @Test func aPropertyIsNotSetToATime() {
        let found = read(text("field = \"$.at\", since = \"a\"", "set = { code = \"{since}\" }")).errors
        #expect(found.contains { $0.message.contains("would change every object") }, "\(found)")
    }
}
