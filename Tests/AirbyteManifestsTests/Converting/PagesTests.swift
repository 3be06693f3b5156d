import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct PagesTests {
    private static let parameter = "{ type: RequestOption, inject_into: request_parameter, field_name: page }"

    private func manifest(_ strategy: String, token: String = PagesTests.parameter) -> ManifestText {
        var manifest = ManifestText()
        manifest.retriever = """
            paginator:
              type: DefaultPaginator
              page_token_option: \(token)
              page_size_option: { type: RequestOption, inject_into: request_parameter, field_name: per_page }
              pagination_strategy: \(strategy)
            """
        return manifest
    }

    private let path = "{ type: RequestPath }"

    @Test(
        arguments: zip(
            [
                "{ type: PageIncrement, page_size: 50, start_from_page: 1 }", "{ type: PageIncrement, page_size: 50 }",
                "{ type: PageIncrement, start_from_page: 0 }", "{ type: OffsetIncrement, page_size: \"{{ config.size }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.meta['next'] }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ headers['X-Next'] }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ last_record['id'] }}\", stop_condition: \"{{ last_page_size == 0 }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ not response.next }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ 'next' not in response }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ not response['data'] }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", "
                    + "stop_condition: \"{{ response.more is false or not response.next }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response['is_last'] }}\" }",
                "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response.end == true }}\" }",
            ],
            [
                "{ kind = \"page\", param = \"page\", start = 1, size_param = \"per_page\", size = 50 }",
                "{ kind = \"page\", param = \"page\", start = 0, size_param = \"per_page\", size = 50 }",
                "{ kind = \"page\", param = \"page\", start = 0, size_param = \"\" }",
                "{ kind = \"offset\", param = \"page\", limit_param = \"per_page\", limit = 25 }",
                "{ kind = \"cursor\", path = \"$.meta.next\", param = \"page\" }", "{ kind = \"cursor\", header = \"X-Next\", param = \"page\" }",
                "{ kind = \"keyset\", from = \"$.id\", param = \"page\" }", "{ kind = \"cursor\", path = \"$.next\", param = \"page\" }",
                "{ kind = \"cursor\", path = \"$.next\", param = \"page\" }", "{ kind = \"cursor\", path = \"$.next\", param = \"page\" }",
                "{ kind = \"cursor\", path = \"$.next\", param = \"page\", stop = { has_more = \"$.more\" } }",
                "{ kind = \"cursor\", path = \"$.next\", param = \"page\", stop = { last = \"$.is_last\" } }",
                "{ kind = \"cursor\", path = \"$.next\", param = \"page\", stop = { last = \"$.end\" } }",
            ]))
    func listingsGoOnAsTheManifestSays(_ strategy: String, _ pages: String) throws {
        var manifest = manifest(strategy)
        manifest.spec += ", size: { type: integer, default: 25 }"
        #expect(try manifest.lines().contains("pages = \(pages)"))
    }

    @Test func whereTheManifestDoesNotSayTheFirstPageIsItsOwnDefaultAndThatIsTold() throws {
        let findings = try manifest("{ type: PageIncrement, page_size: 50 }").converted().findings
        #expect(findings.map(\.key) == ["paginator.start_from_page"])
        #expect(findings.map { $0.reason.contains("first request says no page") } == [true])
        #expect(try manifest("{ type: PageIncrement, page_size: 50, start_from_page: 0 }").converted().findings == [])
    }

    @Test(
        arguments: zip(
            ["== 0", "< 50", "<= 49", "< 10", "<= 50", "< 51", "> 3", "== 50", "!= 0", ">= 50"],
            [true, true, true, true, false, false, false, false, false, false]))
    func aShortPageMayEndAListingAndNoOtherDoes(_ test: String, _ isKept: Bool) throws {
        let manifest = manifest(
            "{ type: CursorPagination, page_size: 50, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ last_page_size \(test) }}\" }")
        let conversion = try manifest.converted()
        #expect(conversion.streams == (isKept ? ["items"] : []))
        #expect(conversion.findings.filter(\.isLeftOut).map(\.key) == (isKept ? [] : ["paginator.stop_condition"]))
    }

    @Test func addressesOfNextPagesAreFollowed() throws {
        let body = manifest("{ type: CursorPagination, page_size: 5, cursor_value: \"{{ response.get('links', {}).get('next') }}\" }", token: path)
        #expect(try body.lines().contains("pages = { kind = \"body-link\", path = \"$.links.next\" }"))
        #expect(try body.lines().contains("params = { per_page = 5 }"))
        var header = manifest(
            "{ type: CursorPagination, cursor_value: \"{{ headers['link']['next']['url'] }}\", "
                + "stop_condition: \"{{ 'next' not in headers['link'] }}\" }",
            token: path)
        header.requester = "request_parameters: { since: \"{{ 'x' if not next_page_token }}\" }"
        #expect(try header.lines().contains("pages = { kind = \"link-header\" }"))
        #expect(try header.lines().contains("params = { since = \"x\" }"))
    }

    @Test(arguments: [
        "response['next'].split('page=')[1]", "response.next.split('&page=')[-1].split('&')[0]",
        "response.get('next') | regex_search('page=([^&]+)')", "response.get('next') | regex_search('[?&]page=(\\\\d+)(?:&|$)')",
    ])
    func theAddressThatATokenIsCutOutOfIsFollowed(_ value: String) throws {
        let manifest = manifest(
            "{ type: CursorPagination, page_size: 5, cursor_value: \"{{ \(value) }}\", stop_condition: \"{{ response.get('next') is none }}\" }")
        let lines = try manifest.lines()
        #expect(lines.contains("pages = { kind = \"body-link\", path = \"$.next\" }") && lines.contains("params = { per_page = 5 }"))
        let findings = try manifest.converted().findings
        #expect(findings.map(\.key) == ["paginator.cursor_value"])
        #expect(findings.first?.reason.hasSuffix("parameter page; per_page is sent with the first page only, unless the address has it") == true)
    }

    // Another parameter, or a piece of something that is no parameter: nothing says that the address leads to the next page.
    @Test(arguments: [
        "response.next.split('cursor=')[1]", "response.next.split('/')[1]", "response.next.split('page=')[0]",
        "response.next | regex_search('cursor=([^&]+)')", "response.next | regex_search('page=([a-c]+)')",
        "response.next | regex_search('page=([^&]+)&x=1')", "headers['X-Next'].split('page=')[1]",
    ])
    func aTokenThatIsCutOutOfSomethingElseLeavesTheStreamOut(_ value: String) throws {
        #expect(
            try manifest("{ type: CursorPagination, cursor_value: \"{{ \(value) }}\" }").refusals().map(\.key) == ["paginator.cursor_value"])
    }

    @Test func pagesMayBeAskedForInABody() throws {
        var manifest = manifest(
            "{ type: CursorPagination, page_size: 5, cursor_value: \"{{ response.next }}\" }",
            token: "{ type: RequestOption, inject_into: body_json, field_path: [page, after] }")
        manifest.requester = "http_method: POST\nrequest_body_json: { a: b }"
        let lines = try manifest.lines()
        #expect(lines.contains("pages = { kind = \"cursor\", path = \"$.next\", in = \"body\", param = \"/page/after\" }"))
        #expect(lines.contains("json = { a = \"b\" }"))
        #expect(lines.contains("params = { per_page = 5 }"))
    }

    @Test func theCursorOfAConnectionIsOneOfGraphQL() throws {
        var manifest = manifest(
            "{ type: CursorPagination, cursor_value: \"{{ response.data.items.pageInfo.endCursor }}\" }",
            token: "{ type: RequestOption, inject_into: body_json, field_path: [variables, after] }")
        manifest.fieldPath = "[data, items, nodes]"
        manifest.requester = """
            request_body:
              type: RequestBodyGraphQL
              value: { query: "query($after: String) { items(after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } }" }
            """
        #expect(try manifest.lines().contains("pages = { kind = \"graphql\", page_info = \"$.data.items.pageInfo\", variable = \"after\" }"))
    }

    @Test(arguments: [
        "{ type: CursorPagination, cursor_value: \"{{ response.next.split('=')[1] }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ response.page + 1 }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response.last }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response.total < 5 }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response.done or not response.more }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ true }}\" }",
        "{ type: CursorPagination, cursor_value: \"{{ headers['link']['next']['url'] }}\" }", "{ type: CustomPaginationStrategy, class_name: a.B }",
        "{ type: PageIncrement, page_size: \"{{ response.size }}\" }", "{ type: PageIncrement, unheard_of: 1 }",
    ])
    func whatCannotBeSaidLeavesTheStreamOut(_ strategy: String) throws {
        let manifest = manifest(strategy)
        let refusals = try manifest.refusals()
        #expect(!refusals.isEmpty)
        let first = try manifest.line(of: "paginator:")
        #expect(refusals.allSatisfy { (first...first + 4).contains($0.line) }, "\(refusals)")
    }

    @Test func aTokenThatGoesNowhereLeavesTheStreamOut() throws {
        var manifest = ManifestText()
        manifest.retriever = "paginator: { type: DefaultPaginator, pagination_strategy: { type: PageIncrement, page_size: 5 } }"
        #expect(try manifest.refusals().map(\.key) == ["paginator.page_token_option"])
    }
}
