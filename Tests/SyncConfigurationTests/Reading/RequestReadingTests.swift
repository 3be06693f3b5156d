import Testing

@testable import SyncConfiguration

/// `method`, `json`, `form`, `query` and what pages do with them.
@Suite struct RequestReadingTests {
    private func resource(_ lines: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> ResourceConfiguration {
        try configuration(itemSource + lines, sourceLocation: sourceLocation).sources[0].resources[0]
    }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    // MARK: JSON and forms

    @Test func aResourceIsAskedForWithGETUnlessItSaysOtherwise() throws {
        let plain = try resource("")
        #expect(plain.method == .get && plain.body == nil && !plain.isIdempotent && !plain.isGraphQL)
        let post = try resource("method = \"POST\"\nidempotent = true")
        #expect(post.method == .post && post.body == nil && post.isIdempotent)
    }

    // As they are written: their order, and a fraction that is nothing.
    @Test func aBodyIsWhatTheFileSays() throws {
        let text = """
            method = "POST"
            json = { z = 1.0, a = [1, -2.5, true, "x {{y}}", { }], "m n" = { c = false, b = 1e3 } }
            """
        let body = try resource(text).body
        #expect(
            body
                == .json(
                    .object([
                        .init("z", .number("1.0")),
                        .init("a", .array([.number("1"), .number("-2.5"), .boolean(true), .template(Template("x {{y}}")), .object([])])),
                        .init("m n", .object([.init("c", .boolean(false)), .init("b", .number("1000.0"))])),
                    ])))
        let table = try resource("method = \"POST\"\n[source.json]\nz = 1\na = 2\n[source.json.m]\nb = \"x\\ny\"\n").body
        #expect(
            table
                == .json(
                    .object([.init("z", .number("1")), .init("a", .number("2")), .init("m", .object([.init("b", .template(Template("x\ny")))]))])))
        #expect(try resource("method = \"POST\"\njson = [{ a = 1 }]").body == .json(.array([.object([.init("a", .number("1"))])])))
    }

    @Test func aFormHasItsFieldsByName() throws {
        let body = try resource("method = \"POST\"\nform = { q = \"x\", n = 5, all = [\"b\", \"a\"] }").body
        #expect(
            body
                == .form([.init(name: "all", value: "b"), .init(name: "all", value: "a"), .init(name: "n", value: "5"), .init(name: "q", value: "x")])
        )
    }

    @Test func whatDoesNotFitTogetherIsRefused() {
        #expect(problem("json = {}").contains("a GET sends nothing; write method = \"POST\", or move what is in it into params"))
        #expect(problem("method = \"GET\"\nform = { a = 1 }").contains("a GET sends nothing"))
        #expect(problem("idempotent = true").contains("a GET may always be made again"))
        #expect(problem("method = \"POST\"\njson = {}\nform = {}").contains("json and form cannot be used together; remove one of them"))
        #expect(problem("method = \"POST\"\njson = {}\nquery = \"{ a }\"\nrecords = \"$.data\"").contains("json and query cannot be used together"))
        #expect(
            problem("query = \"{ a }\"\nquery_file = \"a.graphql\"\nrecords = \"$.data\"").contains("query and query_file cannot be used together"))
        #expect(problem("method = \"POST\"\nvariables = {}").contains("there is no query that would have variables; write query"))
        #expect(problem("query = \"{ a }\"").contains("the answer to a query is no list of records; write records = "))
        #expect(problem("method = \"PUT\"").contains("expected one of \"GET\", \"POST\""))
        #expect(problem("retry.methods = [\"GET\", \"POST\"]").contains("is for its resource to say; write idempotent = true at the resource"))
    }

    @Test(arguments: ["json = { a = [{ password = \"x\" }] }", "form = { client_secret = \"x\" }", "json = { Authorization = \"x\" }"])
    func aBodyHoldsNoSecrets(line: String) {
        let found = read(itemSource + "method = \"POST\"\n" + line).errors
        #expect(found.count == 1 && found[0].message.contains("carries a secret, which the configuration may not contain"), "\(found)")
        #expect(found.first?.suggestion?.contains("auth = ") == true)
        // A place for something that is still to come is none.
        #expect(errors(itemSource + "method = \"POST\"\njson = { token = \"\", password = 1 }") == [])
    }

    @Test func aComplaintNamesThePlaceInTheBody() {
        let found = read(itemSource + "method = \"POST\"\njson = { a = { b = [1, 2024-01-01] } }").errors
        #expect(found.map(\.message) == ["/a/b/1: JSON has no dates"])
        #expect(found.first?.keyPath == "source.items.json" && found.first?.suggestion == "write it in quotes")
    }

    // MARK: From the source to its resources

    private func long(_ source: String, _ resource: String) -> String {
        itemModel
            + "[[source]]\nname = \"s\"\nbase_url = \"https://a.example\"\n\(source)\n[[source.resource]]\nname = \"r\"\npath = \"/r\"\nentity = \"Item\"\n"
            + resource
    }

    @Test func resourcesAddToTheBodyOfTheirSource() throws {
        func body(_ source: String, _ resource: String) throws -> RequestBody? {
            try configuration(long(source, resource)).sources[0].resources[0].body
        }
        #expect(
            try body("method = \"POST\"\njson = { a = 1, b = { c = 1 } }", "json = { b = 2, d = 3 }")
                == .json(.object([.init("a", .number("1")), .init("b", .number("2")), .init("d", .number("3"))])))
        #expect(
            try body("method = \"POST\"\nform = { a = 1, b = 2 }", "form = { b = 3 }")
                == .form([.init(name: "a", value: "1"), .init(name: "b", value: "3")]))
        // A body of another kind takes its place, and a GET has none.
        #expect(try body("method = \"POST\"\njson = { a = 1 }", "form = { b = 3 }") == .form([.init(name: "b", value: "3")]))
        #expect(try body("method = \"POST\"\nidempotent = true\njson = { a = 1 }", "method = \"GET\"") == nil)
    }

    // What a source says of its POSTs is nothing that its GETs could have said.
    @Test func whatASourceSaysOfItsPOSTsIsNoMistakeOfItsGETs() throws {
        for resource in ["", "method = \"GET\""] {
            let text = long("idempotent = true", resource), reading = read(text)
            #expect(reading.errors.map(\.description) == [])
            let plain = try #require(reading.configuration?.sources[0].resources[0])
            #expect(plain.method == .get && !plain.isIdempotent)
            let resolved = try #require(reading.resolved).toml()
            #expect(errors(resolved) == [], "\(resolved)")
        }
        #expect(try configuration(long("idempotent = true", "method = \"POST\"")).sources[0].resources[0].isIdempotent)
        let query = "query = \"{ items { id } }\"\nrecords = \"$.data.items\""
        #expect(try configuration(long("idempotent = true", query)).sources[0].resources[0].isIdempotent)
        // Its own word is one all the same.
        #expect(errors(long("idempotent = true", "idempotent = true")).joined().contains("a GET may always be made again"))
    }

    @Test func aQueryOfTheSourceTakesVariablesOfItsResources() throws {
        let query = "query = \"query($k: String) { items(k: $k) { id } }\"\nvariables = { k = \"a\", n = 1 }\nrecords = \"$.data.items\""
        let text = long(query, "variables = { k = \"b\" }")
        let resource = try configuration(text).sources[0].resources[0]
        guard case .json(let body)? = resource.body else {
            Issue.record("no body")
            return
        }
        #expect(body.member("variables") == .object([.init("n", .number("1")), .init("k", .template(Template("b")))]))
        #expect(resource.method == .post && resource.isGraphQL)
    }

    @Test func theResolvedTextReadAgainGivesTheSameRequests() throws {
        for (source, resource) in [
            (
                "method = \"POST\"\nidempotent = true",
                "json = { z = 1.0, a = [1, { \"b c\" = \"x\\ny\" }], e = {} }\npages = { kind = \"page\", in = \"body\" }"
            ),
            ("method = \"POST\"\nform = { a = 1 }", "form = { b = [\"x\", \"y\"] }\npages = { kind = \"offset\", in = \"body\" }"),
            (
                "records = \"$.data.items.nodes\"",
                "query = '''\nquery($after: String) {\n  items(after: $after) { nodes { id } }\n}'''\nvariables = { k = \"a\" }\n"
                    + "pages = { kind = \"graphql\", page_info = \"$.data.items.pageInfo\" }"
            ),
        ] {
            let reading = read(long(source, resource))
            #expect(reading.errors.map(\.description) == [])
            let text = try #require(reading.resolved).toml()
            let again = read(text)
            #expect(again.errors.map(\.description) == [], "\(text)")
            #expect(again.configuration == reading.configuration, "\(text)")
        }
        let shown = try #require(read(itemSource).resolved).toml()
        #expect(shown.contains("\nmethod = \"GET\"\n") && shown.contains("\nidempotent = false\n") && !shown.contains("\njson = "))
    }

    // MARK: Templates

    @Test(arguments: [
        ("json = { a = [\"{region}\"] }", ""), ("form = { a = \"{region}\" }", ""),
        ("json = { a = [\"{place}\"] }", "json"), ("form = { a = \"{place}\" }", "form"),
        ("query = \"{ items { id } }\"\nrecords = \"$.data\"\nvariables = { a = \"{place}\" }", "variables"),
        // A query is full of braces, and none of them is a place.
        ("query = \"{items{id}}\"\nrecords = \"$.data\"\nvariables = { a = \"{region}\" }", ""),
    ])
    func placesInABodyNameWhatThereIs(lines: String, key: String) {
        let found = read(itemSource + "method = \"POST\"\nfor_each = { values = [\"eu\"], as = \"region\" }\n" + lines).errors
        if key.isEmpty {
            #expect(found.map(\.description) == [])
            return
        }
        #expect(found.count == 1 && found[0].message.contains("{place}: nothing is called \"place\" here"), "\(found)")
        #expect(found.first?.keyPath == "source.items.\(key)")
    }

    // MARK: GraphQL

    private static let query = "query = \"query($after: String) { items(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }\"\n"
    private static let records = "records = \"$.data.items.nodes\"\n"

    @Test func aQueryIsABodyWithItsVariables() throws {
        let resource = try resource("query = \"\"\"\n{\n\titems { id }\n}\"\"\"\nrecords = \"$.data.items\"")
        #expect(resource.body == .json(.object([.init("query", .text("{\n\titems { id }\n}"))])))
        #expect(resource.method == .post && resource.isGraphQL && !resource.isIdempotent)
    }

    @Test(arguments: ["# what changes\n, mutation { a }", "subscription { a }", "  ", "# { a }", "items", "{ a \u{1} }", "\"{ a }\""])
    func whatIsNoQueryIsRefused(text: String) {
        #expect(GraphQLQuery.complaint(text)?.suggestion.isEmpty == false)
    }

    // It may stand behind a query, and a text or a comment may hide where that ends.
    @Test(arguments: [
        "\u{FEFF}mutation { a }", "query A { a } mutation B { b }", "fragment F on X { a }\nsubscription { b }", "{ a(b: \"\\\\\") } mutation { b }",
        "{ a(b: \"\") } mutation { b }", "{ a(b: \"\"\"{\"\"\") } mutation { b }", "{ a # {\n} mutation { b }",
        "query($a: In = {b: [1]}) { a } mutation { b }",
    ])
    func aChangeIsFoundWhereverItStands(text: String) {
        #expect(GraphQLQuery.complaint(text)?.message.hasSuffix("and cisternd only reads") == true)
    }

    // Neither texts and comments nor names make a query something else.
    @Test(arguments: [
        "query($a: String = \"#\") { a }", "query mutation($subscription: ID = {a: 1}) { mutation }", "fragment subscription on X { a } { b }",
        "{ a(b: \"} mutation {\") }", "{ a(b: \"\"\" \\\"\"\" } mutation { \"\"\") }", "{ a } # } mutation { b }", "{ a(b: \"\\\"} mutation {\") }",
    ])
    func aQueryMayHoldAnyWord(text: String) {
        #expect(GraphQLQuery.complaint(text) == nil)
    }

    @Test func aQueryInAFileIsLookedForBesideTheMainFile() throws {
        func reading(_ name: String, _ files: [String: String]) -> ConfigurationReading {
            var texts = ConfigurationTexts(["/c/cisternd.toml": itemSource + "query_file = \"\(name)\"\nrecords = \"$.data.items\""])
            for (path, text) in files { texts.files[path] = Array(text.utf8) }
            return ConfigurationReader(path: "/c/cisternd.toml", files: texts).read()
        }
        for (name, path) in [("q/items.graphql", "/c/q/items.graphql"), ("/q.graphql", "/q.graphql")] {
            let found = reading(name, [path: "{ items { id } }\n"])
            #expect(found.errors.map(\.description) == [])
            #expect(found.configuration?.sources[0].resources[0].body == .json(.object([.init("query", .text("{ items { id } }\n"))])))
            #expect(found.resolved?.toml().contains("query_file = \"\(name)\"") == true)
        }
        let missing = reading("a.graphql", [:]).errors
        #expect(missing.count == 1 && missing[0].message == "/c/a.graphql cannot be read: no such file", "\(missing)")
        #expect(missing.first?.keyPath == "source.items.query_file" && missing.first?.line != nil)
        let wrong = reading("a.graphql", ["/c/a.graphql": "mutation { a }"]).errors
        #expect(wrong.count == 1 && wrong[0].message == "/c/a.graphql: this is a mutation, and cisternd only reads", "\(wrong)")
    }

    // What cannot be read, or was refused, says nothing of variables: they are not missed.
    @Test func aQueryThatIsRefusedIsComplainedOfOnce() {
        let pages = "pages = { kind = \"graphql\", page_info = \"$.data.items.pageInfo\" }\nvariables = { k = \"a\" }\n"
        let missing = read(itemSource + Self.records + pages + "query_file = \"a.graphql\"").errors
        #expect(missing.map(\.keyPath) == ["source.items.query_file"], "\(missing)")
        let wrong = read(itemSource + Self.records + pages + "query = \"mutation { a }\"").errors
        #expect(wrong.map(\.keyPath) == ["source.items.query"], "\(wrong)")
    }

    @Test(arguments: [
        ("json = { query = \"{ items { id } }\" }", "$.data.items", true), ("json = { query = \"{ items { id } }\" }", "$.data", true),
        ("json = { query = \"{ items { id } }\" }", "$.items", false), ("json = { query = { match = \"a\" } }", "$.data.items", false),
        ("json = { q = \"a\" }", "$.data.items", false), ("form = { query = \"a\" }", "$.data.items", false),
    ])
    func aQueryMayBeWrittenAsJSON(body: String, records: String, isGraphQL: Bool) throws {
        let resource = try resource("method = \"POST\"\n\(body)\nrecords = \"\(records)\"")
        #expect(resource.isGraphQL == isGraphQL)
    }

    @Test func aChangeIsNotWrittenAsJSONEither() {
        let found = read(itemSource + "method = \"POST\"\njson = { query = \"query A { a } mutation { b }\" }").errors
        #expect(found.count == 1 && found[0].message == "query: this is a mutation, and cisternd only reads", "\(found)")
        // Whoever looks for a word asks for no change.
        #expect(errors(itemSource + "method = \"POST\"\njson = { query = \"mutation\" }") == [])
    }

    @Test func aConnectionIsReadWithItsVariable() throws {
        let pages = try resource(Self.query + Self.records + "pages = { kind = \"graphql\", page_info = \"$.data.items.pageInfo\" }").pagination
        #expect(pages == PaginationConfiguration(.graphQL(.init(pageInfo: "$.data.items.pageInfo"))))
        #expect(pages.kind.tokenOrigin == .path("$.data.items.pageInfo.endCursor"))
        #expect(pages.kind.hasMorePath == "$.data.items.pageInfo.hasNextPage")
        // It need not be written as a query.
        let json = try resource(
            "method = \"POST\"\njson = { query = \"query($from: String) { a }\", variables = { n = 1 } }\nrecords = \"$.data\"\n"
                + "pages = { kind = \"graphql\", page_info = \"$.data.p\", variable = \"from\" }")
        #expect(json.isGraphQL)
    }

    @Test func aConnectionThatCannotBeAskedForIsRefused() {
        let pages = "pages = { kind = \"graphql\", page_info = \"$.data.items.pageInfo\" }\n"
        #expect(
            problem(Self.query + Self.records + "pages.kind = \"graphql\"").contains("needs page_info; write page_info = \"$.data.items.pageInfo\""))
        #expect(problem(pages).contains("kind = \"graphql\" needs a query; write query"))
        #expect(problem(pages + "method = \"POST\"\nform = { query = \"x\" }").contains("kind = \"graphql\" needs a query"))
        #expect(problem(Self.query + Self.records + pages + "variables = { after = \"x\" }").contains("the variable after has a value already"))
        #expect(
            problem("query = \"query($afterwards: String) { a }\"\n" + Self.records + pages).contains(
                "the query has no variable $after, and the cursor"))
        let stop = "pages = { kind = \"graphql\", page_info = \"$.a\", stop = { has_more = \"$.b\" } }"
        #expect(problem(Self.query + Self.records + stop).contains("hasNextPage says whether there is more; remove has_more"))
        #expect(problem("pages = { page_info = \"$.a\" }").contains("kind is missing; write kind = \"graphql\""))
        #expect(problem("pages = { kind = \"cursor\", path = \"$.a\", variable = \"b\" }").contains("\"variable\" belongs to kind = \"graphql\""))
    }

    // MARK: Pages in bodies and headers

    @Test func everyKindMayBeAskedForInTheBody() throws {
        let post = "method = \"POST\"\njson = { paging = { size = 5 } }\n"
        var page = PaginationConfiguration.PageNumber()
        (page.place, page.parameter, page.sizeParameter) = (.body, "/paging/page", "/paging/size")
        #expect(
            try resource(post + "pages = { kind = \"page\", in = \"body\", param = \"/paging/page\", size_param = \"/paging/size\" }").pagination
                == PaginationConfiguration(.page(page)))
        var offset = PaginationConfiguration.Offset()
        (offset.place, offset.limitParameter) = (.body, nil)
        #expect(
            try resource(post + "pages = { kind = \"offset\", in = \"body\", limit_param = \"\" }").pagination
                == PaginationConfiguration(.offset(offset)))
        var cursor = PaginationConfiguration.Cursor(from: .path("$.next"))
        (cursor.place, cursor.parameter) = (.body, "$.paging.after")
        #expect(
            try resource(post + "pages = { kind = \"cursor\", path = \"$.next\", in = \"body\", param = \"$.paging.after\" }").pagination
                == PaginationConfiguration(.cursor(cursor)))
        var keyset = PaginationConfiguration.Keyset(from: "$.id")
        (keyset.place, keyset.parameter) = (.body, "after")
        #expect(
            try resource("method = \"POST\"\nform = { q = \"x\" }\npages = { kind = \"keyset\", from = \"$.id\", in = \"body\" }").pagination
                == PaginationConfiguration(.keyset(keyset)))
        (page.place, page.parameter, page.sizeParameter) = (.header, "X-Page", nil)
        #expect(
            try resource("pages = { kind = \"page\", in = \"header\", param = \"X-Page\", size_param = \"\" }").pagination
                == PaginationConfiguration(.page(page)))
    }

    @Test(arguments: [
        ("", "in = \"body\"", "in", "in = \"body\" needs a request that has one; write method = \"POST\" and json = { … }"),
        ("json = { a = 1 }", "in = \"body\", param = \"/a/b\"", "param", "the body has no place \"/a/b\": what is on the way"),
        ("json = { a = 1 }", "in = \"body\", param = \"$.x y\"", "param", "\"$.x y\" is no place in the body: at character 4"),
        ("json = { a = 1 }", "in = \"body\", param = \"$\"", "param", "\"$\" is the whole body; write a JSON Pointer such as \"/paging/after\""),
        ("json = { a = 1 }", "in = \"body\", size_param = \"/a/b\"", "size_param", "the body has no place \"/a/b\""),
        ("json = { a = 1 }", "in = \"header\", param = \"a b\"", "param", "\"a b\" is not the name of a header"),
        ("json = { a = 1 }", "in = \"header\", size_param = \"a b\"", "size_param", "\"a b\" is not the name of a header"),
        ("json = {}", "in = \"header\", param = \"X-P\", size_param = \"x-p\"", "size_param", "param and size_param are both \"X-P\""),
        ("json = {}", "in = \"body\", param = \"p\", size_param = \"p\"", "size_param", "param and size_param are both \"p\""),
        ("json = {}", "in = \"body\", param = \"p\", size_param = \"/p\"", "size_param", "are one place in the body, or one of them is inside"),
        ("json = {}", "in = \"body\", param = \"$.p\", size_param = \"p\"", "size_param", "are one place in the body, or one of them is inside"),
        ("json = {}", "in = \"body\", param = \"/p/a\", size_param = \"p\"", "size_param", "are one place in the body, or one of them is inside"),
        ("json = {}", "in = \"body\", param = \"p\", size_param = \"$.p.a\"", "size_param", "are one place in the body, or one of them is inside"),
        ("json = {}", "in = \"body\", param = \"/p/0\", size_param = \"/p/a\"", "size_param", "the body has no place \"/p/a\""),
        ("json = {}", "in = \"body\", param = \"/p/0\", size_param = \"/p/2\"", "size_param", "the body has no place \"/p/2\""),
    ])
    func aPlaceThatTheRequestDoesNotHaveIsRefused(body: String, pages: String, key: String, message: String) {
        let found = read(itemSource + "method = \"POST\"\n\(body)\npages = { kind = \"page\", \(pages) }").errors
        #expect(found.count == 1 && found[0].description.contains(message), "\(found)")
        #expect(found.first?.keyPath == "source.items.pages.\(key)")
    }
    // One makes the list that the other one is in, and the fields of a form have any name.
    @Test(arguments: [("json = {}", "/range/0", "/range/1"), ("json = {}", "/p", "/pp"), ("form = {}", "p", "/p")])
    func placesBesideEachOtherAreTwo(body: String, param: String, size: String) throws {
        let resource = try resource(
            "method = \"POST\"\n\(body)\npages = { kind = \"offset\", in = \"body\", param = \"\(param)\", limit_param = \"\(size)\" }")
        let sent = try #require(resource.body)
        #expect(sent.setting(.number("0"), at: param)?.setting(.number("1"), at: size) != nil)
    }

    // MARK: Times

    private static let bodiesWithTimes = [
        "method = \"POST\"\njson = { filter = { since = \"{since}\", at = [\"{now:unix}\"] } }",
        "method = \"POST\"\nform = { since = \"{since}\" }",
        "query = \"query($since: String) { items(since: $since) { id } }\"\nrecords = \"$.data.items\"\nvariables = { since = \"{since}\" }",
    ]

    // A body has no parameter that could be left out of the first request.
    @Test(arguments: bodiesWithTimes) func aTimeInABodyNeedsABeginning(lines: String) throws {
        let timed = try resource(lines + "\nincremental = { field = \"$.at\", start = \"2020-01-01T00:00:00Z\" }")
        #expect(timed.isTimed && timed.templates.contains(where: \.isTimed))
        let found = read(itemSource + lines + "\nincremental = { field = \"$.at\" }").errors
        #expect(found.count == 1 && found[0].message.contains("\"start\" is missing: {since} is more than a parameter"), "\(found)")
        #expect(problem("incremental = { field = \"$.at\" }").contains("{since} in params, path, a header or the body (json, form, variables)"))
    }
}
