import Testing

@testable import SyncConfiguration

@Suite struct SourceReadingTests {
    private func problem(_ line: String) -> String {
        errors(itemSource + line).joined(separator: "\n")
    }

    @Test func theShortFormIsASourceWithOneResourceOfItsName() throws {
        let result = try configuration(itemSource + "records = \"/data\"\nsuccess = [200, 203]\nkey = [\"code\"]\n")
        let resource = try #require(result.resource(scope: "items/items"))
        #expect(result.sources.map(\.name) == ["items"])
        #expect(resource.url == "https://api.example.com/items")
        #expect(resource.records?.description == "$.data")
        #expect(resource.success == [200, 203])
        #expect(resource.key == ["code"])
        var plain = ResourceConfiguration(name: "items", source: "items", url: resource.url, entity: "Item", key: ["id"])
        #expect(try configuration(itemSource).resource(scope: "items/items") == plain)
        plain.isEnabled = false
        #expect(try configuration(itemSource + "enabled = false").resource(scope: "items/items") == plain)
    }

    @Test func aBaseURLAndAPathMakeOneURL() throws {
        let text = itemModel + "[[source]]\nname = \"s\"\nentity = \"Item\"\nbase_url = \"https://a.example/v1/\"\n"
        #expect(try configuration(text + "path = \"/x?y=1\"").sources[0].resources[0].url == "https://a.example/v1/x?y=1")
        #expect(try configuration(text).sources[0].resources[0].url == "https://a.example/v1/")
    }

    @Test func aComplaintAboutAPathNamesTheLineAndTheCharacter() throws {
        func problem(_ path: String) throws -> ConfigurationProblem {
            let problems = read(itemSource + "records = \(path)\n").errors
            #expect(problems.count == 1)
            return try #require(problems.first)
        }
        let line = itemSource.count { $0 == "\n" } + 1
        let wrong = try problem("\"$.a b\"")
        #expect(wrong.line == line)
        #expect(wrong.keyPath.hasSuffix("records"))
        #expect(wrong.message.hasPrefix("\"$.a b\" is not a path: at character 4, expected \".\" or \"[\""), "\(wrong)")
        #expect(wrong.suggestion == "write a path such as \"$.data\" or \"/data\"")
        let later = try problem("\"$..data\"")
        #expect(later.message == "the search \"..\" in a path is not in this version")
        let empty = try problem("\"\"")
        #expect(empty.message == "the path is empty")
    }

    @Test func theShortAndTheLongFormExcludeEachOther() {
        let resource = "[[source.resource]]\nname = \"r\"\npath = \"/r\"\nentity = \"Item\"\n"
        let found = errors(itemSource + resource)
        #expect(found.contains { $0.contains("\"url\" and [[source.resource]] cannot be used together; write base_url") })
        #expect(found.contains { $0.contains("\"entity\" and [[source.resource]] cannot be used together; move it") })
        #expect(problem("base_url = \"https://b.example\"").contains("\"url\" and \"base_url\" cannot be used together"))
        #expect(problem("path = \"/x\"").contains("\"url\" and \"path\" cannot be used together"))
    }

    @Test func whatIsMissingIsNamed() {
        let bare = errors(itemModel + "[[source]]\n")
        #expect(bare.contains { $0.contains("source 1: \"name\" is missing") })
        #expect(bare.contains { $0.contains("source 1: \"url\" is missing") })
        #expect(bare.contains { $0.contains("source 1: \"entity\" is missing; write entity = \"Item\"") })
        let resource = errors(itemModel + "[[source]]\nname = \"s\"\n[[source.resource]]\n")
        #expect(resource.contains { $0.contains("source \"s\": \"base_url\" is missing") })
        #expect(resource.contains { $0.contains("source \"s\": resource 1: \"path\" is missing") })
        #expect(errors("[source]\nname = \"s\"\n").first?.contains("write [[source]], in two brackets") == true)
        #expect(errors("source = [1]\n").count == 1)
    }

    @Test func anEntityThatDoesNotExistIsNamedOnce() {
        let found = errors(itemSource.replacing("entity = \"Item\"", with: "entity = \"Itme\""))
        #expect(found == ["/c/cisternd.toml:7: source \"items\": entity: there is no entity \"Itme\"; did you mean \"Item\"?"])
        #expect(problem("key = [\"cdoe\"]").contains("\"cdoe\" is not an attribute of \"Item\"; did you mean \"code\"?"))
        #expect(problem("key = [\"id\", \"id\"]").contains("appears twice"))
    }

    @Test func theComplaintOfTheSpecificationReadsAsThere() {
        let text =
            itemModel + """
                [[source]]
                name = "github"
                base_url = "https://api.github.com"
                [[source.resource]]
                name = "repos"
                path = "/user/repos"
                entity = "Item"
                evry = "5m"
                schedule.evry = "5m"
                """
        // `schedule` knows the key, the resource itself does not: it lists what it has.
        let found = errors(text)
        #expect(found.count == 2)
        #expect(found[0].hasPrefix("/c/cisternd.toml:11: source \"github\": resource \"repos\": unknown key \"evry\"; "))
        #expect(
            found[1] == "/c/cisternd.toml:12: source \"github\": resource \"repos\": schedule: unknown key \"evry\"; did you mean \"every\"?")
        #expect(read(text).errors[1].keyPath == "source.github.resource.repos.schedule.evry")
    }

    @Test func secretsAreTakenByReferenceOnly() throws {
        func auth(_ text: String) throws -> AuthenticationConfiguration {
            try configuration(itemSource + "auth = \(text)").sources[0].resources[0].authentication
        }
        #expect(try auth("{ kind = \"bearer\", token = { file = \"/run/t\" } }") == .bearer(.init(token: .file("/run/t"))))
        #expect(
            try auth("{ kind = \"bearer\", token = { env = \"T\" }, header = \"X-Token\", scheme = \"\" }")
                == .bearer(.init(token: .environment("T"), header: "X-Token", scheme: "")))
        #expect(
            try auth("{ kind = \"basic\", username = \"me\", password = { credential = \"p\" } }")
                == .basic(.init(username: .name("me"), password: .credential("p"))))
        #expect(
            try auth("{ kind = \"basic\", username = { credential = \"u\" }, password = { credential = \"p\" } }").secrets
                == [.credential("u"), .credential("p")])
        #expect(
            try auth("{ kind = \"api-key\", in = \"query\", name = \"key\", value = { credential = \"k\" } }")
                == .apiKey(.init(name: "key", in: .query, value: .credential("k"))))
        let literal = problem("auth = { kind = \"bearer\", token = \"hunter2\" }")
        #expect(literal.contains("the configuration may not contain a secret; write { credential = \"ID\" }"))
        #expect(!literal.contains("hunter2"))
    }

    @Test func secretsAreNotHiddenInHeadersParametersAndURLs() {
        let header = problem("headers = { Authorization = \"Bearer hunter2\" }")
        #expect(header.contains("carries a secret") && header.contains("kind = \"bearer\"") && !header.contains("hunter2"))
        #expect(problem("http.headers = { x-api-key = \"hunter2\" }").contains("carries a secret"))
        let parameter = problem("params = { access_token = \"hunter2\" }")
        #expect(parameter.contains("in = \"query\", name = \"access_token\"") && !parameter.contains("hunter2"))
        for url in ["https://me:hunter2@api.example.com/", "https://api.example.com/?api_key=hunter2"] {
            let found = errors(itemSource.replacing("https://api.example.com/items", with: url)).joined()
            #expect(!found.isEmpty && !found.contains("hunter2"), "\(found)")
        }
    }

    @Test func aKeyOfAnotherKindIsRefused() {
        #expect(problem("auth = { token = { credential = \"t\" } }").contains("kind is missing; write kind = \"bearer\""))
        #expect(problem("auth = { kind = \"bearer\" }").contains("\"token\" is missing"))
        #expect(
            problem("auth = { kind = \"basic\", password = { credential = \"p\" }, username = \"u\", in = \"query\" }").contains(
                "\"in\" belongs to kind = \"api-key\""))
        #expect(problem("pages = { kind = \"link-header\", start = 0 }").contains("\"start\" belongs to kind = \"page\""))
        #expect(problem("pages = { start = 0 }").contains("kind is missing; write kind = \"page\""))
        #expect(problem("pages = { limit = 10 }").contains("kind is missing; write kind = \"offset\""))
        #expect(problem("pages = { kind = \"page\", limit = 10 }").contains("\"limit\" belongs to kind = \"offset\""))
        #expect(problem("pages = { kind = \"offset\", size = 10 }").contains("\"size\" belongs to kind = \"page\""))
        #expect(problem("pages = { kind = \"cursor\" }").contains("needs path or header"))
        #expect(problem("pages = { kind = \"cursor\", path = \"$.a\", header = \"X\" }").contains("cannot be used together"))
        let linked = problem("pages = { kind = \"body-link\" }")
        #expect(linked.contains("kind = \"body-link\" needs path; write path = \"$.paging.next\", where the answer holds the address"), "\(linked)")
        #expect(!problem("pages = { kind = \"body-link\", path = \"$.a b\" }").contains("needs path"))
        #expect(problem("pages = { kind = \"keyset\", from = \"$.a\", rel = \"x\" }").contains("\"rel\" belongs to kind = \"link-header\""))
        let keyset = problem("pages = { kind = \"keyset\" }")
        #expect(keyset.contains("kind = \"keyset\" needs from; write from = \"$.id\", where each record holds"), "\(keyset)")
        #expect(!problem("pages = { kind = \"keyset\", from = \"$.a b\" }").contains("needs from"))
        #expect(problem("pages = { from = \"$.id\" }").contains("kind is missing; write kind = \"keyset\""))
        #expect(problem("pages = { kind = \"cursor\", from = \"$.id\", path = \"$.a\" }").contains("\"from\" belongs to kind = \"keyset\""))
        let header = "pages = { kind = \"keyset\", from = \"$.id\", in = \"header\", param = \"a b\" }"
        #expect(problem(header).contains("\"a b\" is not the name of a header; use letters, digits and \"-\""))
        #expect(problem("pages = { kind = \"none\", stop = { empty_page = true } }").contains("stop rules need a kind"))
    }

    @Test func everyKindOfPaginationIsRead() throws {
        func pages(_ text: String) throws -> PaginationConfiguration {
            try configuration(itemSource + "pages = \(text)").sources[0].resources[0].pagination
        }
        #expect(try pages("{ kind = \"none\" }") == PaginationConfiguration())
        #expect(try pages("{ kind = \"page\" }") == PaginationConfiguration(.page(.init())))
        var page = PaginationConfiguration.PageNumber()
        (page.parameter, page.start, page.sizeParameter, page.size) = ("p", 0, nil, 20)
        #expect(
            try pages("{ kind = \"page\", param = \"p\", start = 0, size_param = \"\", size = 20 }") == PaginationConfiguration(.page(page))
        )
        #expect(try pages("{ kind = \"offset\" }") == PaginationConfiguration(.offset(.init())))
        var offset = PaginationConfiguration.Offset()
        #expect(offset.parameter == "offset" && offset.start == 0 && offset.limitParameter == "limit" && offset.limit == 100)
        (offset.parameter, offset.start, offset.limitParameter, offset.limit) = ("from", 1, nil, 20)
        #expect(
            try pages("{ kind = \"offset\", param = \"from\", start = 1, limit_param = \"\", limit = 20 }")
                == PaginationConfiguration(.offset(offset)))
        var cursor = PaginationConfiguration(.cursor(.init(from: .path("$.next"))))
        cursor.stop.hasMore = "$.has_more"
        cursor.stop.maxPages = 5
        #expect(try pages("{ kind = \"cursor\", path = \"$.next\", stop = { has_more = \"$.has_more\", max_pages = 5 } }") == cursor)
        var header = PaginationConfiguration.Cursor(from: .header("X-Next"))
        (header.place, header.parameter) = (.header, "X-Cursor")
        #expect(
            try pages("{ kind = \"cursor\", header = \"X-Next\", in = \"header\", param = \"X-Cursor\", repeat_guard = \"fail\" }")
                == PaginationConfiguration(.cursor(header)))
        var keyset = PaginationConfiguration.Keyset(from: "$.id")
        #expect(keyset.place == .query && keyset.parameter == "after")
        #expect(try pages("{ kind = \"keyset\", from = \"$.id\" }") == PaginationConfiguration(.keyset(keyset)))
        (keyset.place, keyset.parameter) = (.header, "X-After")
        #expect(
            try pages("{ kind = \"keyset\", from = \"/id\", in = \"header\", param = \"X-After\" }") == PaginationConfiguration(.keyset(keyset)))
        #expect(try pages("{ kind = \"link-header\", rel = \"following\" }") == PaginationConfiguration(.linkHeader(relation: "following")))
        #expect(try pages("{ kind = \"body-link\", path = \"/paging/next\" }") == PaginationConfiguration(.bodyLink(path: "$.paging.next")))
        let listed = PaginationConfiguration.Kind.bodyLink(path: "$.links", relation: "next")
        #expect(try pages("{ kind = \"body-link\", path = \"$.links\", rel = \"next\" }") == PaginationConfiguration(listed))
    }

    @Test func aPageSaysThatThereIsMoreOrThatItIsTheLast() throws {
        let link = "pages = { kind = \"body-link\", path = \"$.next\", "
        #expect(try configuration(itemSource + link + "stop = { last = \"$.done\" } }").sources[0].resources[0].pagination.stop.last == "$.done")
        let both = errors(itemSource + link + "stop = { last = \"$.done\", has_more = \"$.more\" } }")
        #expect(both.count == 1 && both[0].contains("pages.stop: has_more and last cannot be used together"), "\(both)")
    }

    @Test(arguments: [("page", "size_param"), ("offset", "limit_param")])
    func aPageAndItsSizeNeedTwoParameters(kind: String, key: String) {
        let text = itemSource + "pages = { kind = \"\(kind)\", param = \"n\", \(key) = \"n\" }"
        let found = read(text).errors
        #expect(found.map(\.message) == ["param and \(key) are both \"n\""])
        #expect(found.first?.keyPath == "source.items.pages.\(key)")
        #expect(found.first?.suggestion == "use the names the service expects")
    }

    @Test func wherePagesBeginIsShownAsTheirKindHasIt() throws {
        func start(_ kind: String) throws -> String? {
            let resolved = try #require(read(itemSource + "pages.kind = \"\(kind)\"").resolved)
            return resolved.settings.first { $0.keyPath == "source.items.pages.start" }?.value
        }
        let starts = try [start("page"), start("offset"), start("link-header")]
        #expect(starts == ["1", "0", nil])
    }

    @Test func intervalsMustFitTogether() {
        #expect(
            problem("schedule.every = \"30s\"").contains(
                "schedule.every: every \"30s\" is shorter than min_interval \"1m\"; write min_interval = \"30s\""))
        #expect(problem("schedule.every = \"7d\"").contains("longer than max_interval \"24h\"; write max_interval = \"7d\""))
        #expect(problem("schedule = { min_interval = \"2h\", max_interval = \"1h\", every = \"1h\" }").contains("longer than max_interval"))
        #expect(problem("retry = { base = \"2m\" }").contains("longer than max_delay"))
        #expect(problem("schedule = { every = \"30s\", min_interval = \"10s\" }").isEmpty)
    }

    @Test func uncheckedCertificatesNeedAReason() throws {
        #expect(problem("tls.verify = false").contains("write insecure_reason"))
        #expect(errors("[defaults.tls]\nverify = false\n").count == 1)
        let reading = read(itemSource + "tls = { verify = false, insecure_reason = \"test bench\" }")
        #expect(reading.configuration?.sources[0].resources[0].tls.insecureReason == "test bench")
        #expect(reading.warnings.contains { $0.message.contains("certificates are not checked: test bench") })
        let ca = try configuration(itemSource + "tls.ca = { credential = \"ca\" }").sources[0].resources[0].tls.ca
        #expect(ca == .credential("ca"))
    }

    @Test func whatIsDoubtfulIsAWarning() {
        func warnings(_ text: String) -> [String] { read(text).warnings.map(\.description) }
        #expect(warnings(itemSource).contains { $0.contains("warning: daemon.contact: ") })
        #expect(!warnings("[daemon]\ncontact = \"me\"\n" + itemSource).contains { $0.contains("contact") })
        #expect(
            warnings(itemSource + "auth = { kind = \"bearer\", token = { env = \"T\" } }").contains {
                $0.contains("the environment variable T")
            })
        let plain = itemSource.replacing("https://", with: "http://") + "auth = { kind = \"bearer\", token = { credential = \"t\" } }"
        #expect(warnings(plain).contains { $0.contains("without encryption to api.example.com") })
    }

    @Test func mixedKindsOfValuesAreRead() throws {
        let text =
            itemSource + """
                http = { min_speed = "off", allow_private_networks = false, user_agent = "me/1", max_ratio = 5, redirects = "none" }
                limits.max_bad_records = 0
                deletion = { detect = "snapshot", action = "delete", max_fraction = 1 }
                retry = { statuses = [], errors = ["connect"], factor = 3, jitter = "none" }
                """
        let resource = try configuration(text).sources[0].resources[0]
        #expect(resource.http.minSpeed == nil)
        #expect(resource.http.allowPrivateNetworks == .refuse)
        #expect(resource.http.userAgent == "me/1")
        #expect(resource.http.redirects == .none)
        #expect(resource.limits.maxBadRecords == 0)
        #expect(resource.deletion.maxFraction == 1)
        #expect(resource.retry.statuses == [])
        #expect(resource.retry.errors == [.connect])
    }

    @Test func aPageMayHaveATebibyteAndAHundredMillionRecords() throws {
        func text(_ size: String, _ records: Int) -> String {
            itemSource + "http = { max_body = \"\(size)\", max_body_compressed = \"\(size)\" }\nlimits.max_records_per_page = \(records)"
        }
        let resource = try configuration(text("1024GiB", 100_000_000)).sources[0].resources[0]
        #expect(resource.http.maxBody.bytes == 1 << 40 && resource.http.maxBodyCompressed.bytes == 1 << 40)
        #expect(resource.limits.maxRecordsPerPage == 100_000_000)
        #expect(errors(text("1025GiB", 100_000_001)).count == 3)
    }
}
