import SyncConfiguration
import Testing

@testable import SyncPipeline

extension PaginationTests {
    // MARK: Pages in bodies

    private func listing(
        _ kind: PaginationConfiguration.Kind, _ body: RequestBody, _ change: (inout PaginationConfiguration.StopRules) -> Void = { _ in }
    ) -> Pagination {
        var configuration = PaginationConfiguration(kind)
        change(&configuration.stop)
        return Pagination(configuration, limits: LimitsConfiguration(), first: first, method: .post, body: body)
    }

    private static let json = RequestBody.json(.object([.init("q", .text("a")), .init("paging", .object([.init("size", .number("5"))]))]))
    private static let form = RequestBody.form([FormField(name: "q", value: "a")])

    private func sent(_ step: Pagination.Step) -> String? {
        if case .next(let request) = step { request.content.description } else { nil }
    }

    @Test func numbersGoIntoABodyAsNumbers() {
        var page = PaginationConfiguration.PageNumber()
        (page.place, page.parameter, page.sizeParameter) = (.body, "/paging/page", "/paging/size")
        var numbered = listing(.page(page), Self.json)
        #expect(numbered.request.content.description == #"{"q":"a","paging":{"size":100,"page":1}}"#)
        #expect(numbered.request.address == first && numbered.request.method == .post)
        #expect(sent(numbered.advance(facts(100, body: "a"))) == #"{"q":"a","paging":{"size":100,"page":2}}"#)
        var offset = PaginationConfiguration.Offset()
        (offset.place, offset.limit) = (.body, 2)
        var counted = listing(.offset(offset), Self.form)
        #expect(counted.request.content.description == "q=a&offset=0&limit=2")
        #expect(sent(counted.advance(facts(2, body: "a"))) == "q=a&offset=2&limit=2")
    }

    @Test func numbersGoIntoHeaders() {
        var page = PaginationConfiguration.PageNumber()
        (page.place, page.parameter, page.sizeParameter) = (.header, "X-Page", "X-Size")
        var listing = pagination(.page(page))
        #expect(listing.request.headers == [HeaderField(name: "X-Page", value: "1"), HeaderField(name: "X-Size", value: "100")])
        guard case .next(let next) = listing.advance(facts(100, body: "a")) else {
            Issue.record("no next page")
            return
        }
        #expect(next.address == first && next.headers.first == HeaderField(name: "X-Page", value: "2"))
    }

    @Test func aCursorGoesIntoABodyAsWhatItIs() {
        var cursor = PaginationConfiguration.Cursor(from: .path("$.next"))
        (cursor.place, cursor.parameter) = (.body, "/paging/after")
        var listing = listing(.cursor(cursor), Self.json)
        // The first request says nothing of it.
        #expect(listing.request.content.description == #"{"q":"a","paging":{"size":5}}"#)
        #expect(sent(listing.advance(facts(5, body: "a", cursor: "7"))) == #"{"q":"a","paging":{"size":5,"after":"7"}}"#)
        var number = facts(5, body: "b", cursor: "8")
        number.isCursorNumber = true
        #expect(listing.foreseen(number)?.content.description == #"{"q":"a","paging":{"size":5,"after":8}}"#)
        #expect(sent(listing.advance(number)) == #"{"q":"a","paging":{"size":5,"after":8}}"#)
        #expect(end(listing.advance(facts(1, body: "c")))?.rules == [.noCursor])
        // A form knows texts only.
        (cursor.place, cursor.parameter) = (.body, "after")
        var form = self.listing(.cursor(cursor), Self.form)
        #expect(sent(form.advance(number)) == "q=a&after=8")
    }

    @Test func theLastRecordsValueGoesIntoABody() {
        var keyset = PaginationConfiguration.Keyset(from: "$.id")
        (keyset.place, keyset.parameter) = (.body, "/search_after/0")
        var listing = listing(.keyset(keyset), Self.json)
        var last = facts(5, body: "a", cursor: "12")
        last.isCursorNumber = true
        #expect(sent(listing.advance(last))?.hasSuffix(#""search_after":[12]}"#) == true)
        // The same one again: the server does not heed it.
        last.digest = BodyDigest(of: "b")
        #expect(listing.advance(last) == .repetition(.token))
    }

    // Both ask at one address: what tells them apart is what they send.
    @Test func pagesOfOneAddressAreNoCircle() {
        var page = PaginationConfiguration.PageNumber()
        page.place = .body
        var listing = listing(.page(page), Self.json)
        #expect(end(listing.advance(facts(0, body: "same")))?.rules == [.emptyPage])
        var patient = self.listing(.page(page), Self.json) { $0.emptyPage = false }
        #expect(sent(patient.advance(facts(0, body: "same"))) != nil && sent(patient.advance(facts(0, body: "same"))) != nil)
    }

    @Test func aLinkLeadsOnWithTheSameBody() {
        var listing = listing(.bodyLink(path: "$.next"), Self.json)
        guard case .next(let next) = listing.advance(facts(1, body: "a", cursor: Self.origin + "?page=2")) else {
            Issue.record("no next page")
            return
        }
        #expect(next.method == .post && next.address.description == Self.origin + "?page=2" && next.content == listing.request.content)
    }

    // MARK: GraphQL

    private static let query = RequestBody.json(.object([.init("query", .text("query($after: String) { a }"))]))

    private var connection: PaginationConfiguration.Kind { .graphQL(.init(pageInfo: "$.data.a.pageInfo")) }

    @Test func aConnectionGoesOnAfterItsCursor() {
        var listing = listing(connection, Self.query)
        #expect(listing.request.content.description == #"{"query":"query($after: String) { a }"}"#)
        #expect(
            sent(listing.advance(facts(2, body: "a", cursor: "Y3Vyc29y", hasMore: true)))
                == #"{"query":"query($after: String) { a }","variables":{"after":"Y3Vyc29y"}}"#)
        // A page whose records nobody here may see is not the last.
        #expect(sent(listing.advance(facts(0, body: "b", cursor: "Z", hasMore: true))) != nil)
        let end = end(listing.advance(facts(1, body: "c", cursor: "last", hasMore: false)))
        #expect(end?.isComplete == true && end?.rules == [.hasMore])
    }

    @Test func aConnectionThatPromisesMoreWithoutACursorIsIncomplete() {
        var listing = listing(connection, Self.query)
        let end = end(listing.advance(facts(2, body: "a", hasMore: true)))
        #expect(end?.rules == [.noCursor] && end?.doubts == [.moreWasPromised])
    }

    @Test func aConnectionThatRepeatsItsCursorFailsTheRun() {
        var listing = listing(connection, Self.query)
        _ = listing.advance(facts(2, body: "a", cursor: "x", hasMore: true))
        #expect(listing.advance(facts(2, body: "b", cursor: "x", hasMore: true)) == .repetition(.token))
    }
}
