import SyncConfiguration
import Testing

@testable import SyncPipeline

// R8, N9
@Suite struct PaginationTests {
    let first: HTTPAddress
    static let origin = "https://a.example/items"

    init() throws {
        first = try HTTPAddress(Self.origin + "?state=all")
    }

    func pagination(
        _ kind: PaginationConfiguration.Kind, _ change: (inout PaginationConfiguration.StopRules) -> Void = { _ in }
    ) -> Pagination {
        var configuration = PaginationConfiguration(kind)
        change(&configuration.stop)
        return Pagination(configuration, limits: LimitsConfiguration(), first: first)
    }

    func facts(
        _ records: Int, body: String, link: String? = nil, cursor: String? = nil, hasMore: Bool? = nil, total: Int? = nil, pages: Int? = nil
    ) -> PageFacts {
        PageFacts(
            records: records, digest: BodyDigest(of: body), nextLink: link.map { Self.origin + $0 }, cursor: cursor, hasMore: hasMore,
            total: total, totalPages: pages)
    }

    func end(_ step: Pagination.Step) -> PaginationEnd? {
        if case .end(let end) = step { end } else { nil }
    }

    func next(_ step: Pagination.Step) -> String? {
        if case .next(let request) = step { request.description } else { nil }
    }

    private var numbers: PaginationConfiguration.Kind { .page(.init()) }
    private var links: PaginationConfiguration.Kind { .linkHeader(relation: "next") }
    private func cursor(_ place: PaginationConfiguration.Place = .query) -> PaginationConfiguration.Kind {
        var cursor = PaginationConfiguration.Cursor(from: .header("X-Next"))
        cursor.place = place
        return .cursor(cursor)
    }

    // MARK: One page

    @Test func withoutPaginationThereIsOnePage() {
        var listing = pagination(.none)
        #expect(listing.request.address == first)
        let end = end(listing.advance(facts(5, body: "a")))
        #expect(end?.rules == [.singlePage])
        #expect(end?.isComplete == true)
    }

    @Test func aNextLinkNobodyAskedForMakesTheRunIncomplete() {
        var listing = pagination(.none)
        let end = end(listing.advance(facts(5, body: "a", link: "?page=2")))
        #expect(end?.doubts == [.linkNotFollowed])
    }

    // MARK: Numbered pages

    @Test func pagesAreNumberedUntilOneIsEmpty() {
        var listing = pagination(numbers)
        #expect(listing.request.description == Self.origin + "?state=all&page=1&per_page=100")
        #expect(next(listing.advance(facts(100, body: "a"))) == Self.origin + "?state=all&page=2&per_page=100")
        #expect(next(listing.advance(facts(3, body: "b"))) == Self.origin + "?state=all&page=3&per_page=100")
        let end = end(listing.advance(facts(0, body: "c")))
        #expect(end?.rules == [.emptyPage])
        #expect(end?.isComplete == true)
        #expect((listing.pages, listing.records) == (3, 103))
    }

    @Test func aShortPageEndsWhereThatIsTheRule() {
        var listing = pagination(numbers) { $0.shortPage = true }
        #expect(next(listing.advance(facts(100, body: "a"))) != nil)
        #expect(end(listing.advance(facts(99, body: "b")))?.rules == [.shortPage])
    }

    @Test func aShortPageWithALinkToMoreIsNotBelieved() {
        var listing = pagination(numbers) { $0.shortPage = true }
        #expect(end(listing.advance(facts(50, body: "a", link: "?page=2")))?.doubts == [.linkNotFollowed])
    }

    @Test func totalsEndAListing() {
        var listing = pagination(numbers)
        #expect(next(listing.advance(facts(100, body: "a", total: 150))) != nil)
        let end = end(listing.advance(facts(50, body: "b", total: 150)))
        #expect(end?.rules == [.total])
        #expect(end?.isComplete == true)
        var pages = pagination(numbers)
        #expect(next(pages.advance(facts(100, body: "a", pages: 2))) != nil)
        #expect(self.end(pages.advance(facts(100, body: "b", pages: 2)))?.isComplete == true)
    }

    @Test func rulesThatDisagreeMakeTheRunIncomplete() {
        var early = pagination(numbers)
        #expect(end(early.advance(facts(0, body: "a", total: 10)))?.doubts == [.recordsMissing(seen: 0, total: 10)])
        var more = pagination(numbers)
        #expect(end(more.advance(facts(0, body: "a", hasMore: true)))?.doubts == [.moreWasPromised])
        var pages = pagination(numbers)
        #expect(end(pages.advance(facts(0, body: "a", pages: 4)))?.doubts == [.pagesMissing(seen: 1, total: 4)])
        var many = pagination(numbers)
        #expect(end(many.advance(facts(20, body: "a", total: 10)))?.doubts == [.recordsTooMany(seen: 20, total: 10)])
        var denied = pagination(numbers)
        let end = end(denied.advance(facts(5, body: "a", hasMore: false, total: 10)))
        #expect(end?.rules == [.hasMore])
        #expect(end?.doubts == [.recordsMissing(seen: 5, total: 10)])
    }

    @Test func aTotalThatChangesIsADoubt() {
        var listing = pagination(numbers)
        _ = listing.advance(facts(10, body: "a", total: 30))
        _ = listing.advance(facts(10, body: "b", total: 29))
        let end = end(listing.advance(facts(9, body: "c", total: 29)))
        #expect(end?.rules == [.total])
        #expect(end?.doubts == [.totalChanged(from: 30, to: 29)])
    }

    @Test func aListingThatNeverEndsIsCut() {
        var listing = pagination(numbers)
        var last = Pagination.Step.next(listing.request)
        var count = 0
        while case .next = last {
            count += 1
            last = listing.advance(facts(1, body: "\(count)"))
        }
        #expect(count == 10_000)
        #expect(end(last)?.rules == [.maxPages])
        #expect(end(last)?.doubts == [.cut(pages: 10_000)])
    }

    @Test func theSmallerPageLimitHolds() {
        var limits = LimitsConfiguration()
        limits.maxPages = 2
        var listing = Pagination(PaginationConfiguration(numbers), limits: limits, first: first)
        _ = listing.advance(facts(1, body: "a"))
        #expect(end(listing.advance(facts(1, body: "b")))?.rules == [.maxPages])
    }

    @Test func theSameBodyTwiceFailsTheRun() {
        var listing = pagination(numbers)
        _ = listing.advance(facts(10, body: "a"))
        _ = listing.advance(facts(10, body: "b"))
        #expect(listing.advance(facts(10, body: "a")) == .repetition(.body))
    }

    // MARK: Offsets

    @Test func anOffsetCountsTheRecordsThatCame() {
        var listing = pagination(.offset(.init()))
        #expect(listing.request.description == Self.origin + "?state=all&offset=0&limit=100")
        // The server sends fewer than it is asked for.
        #expect(listing.foreseen(facts(30, body: "a"))?.description == Self.origin + "?state=all&offset=30&limit=100")
        #expect(next(listing.advance(facts(30, body: "a"))) == Self.origin + "?state=all&offset=30&limit=100")
        #expect(next(listing.advance(facts(25, body: "b"))) == Self.origin + "?state=all&offset=55&limit=100")
        let end = end(listing.advance(facts(0, body: "c")))
        #expect(end?.rules == [.emptyPage])
        #expect(end?.isComplete == true)
        #expect((listing.pages, listing.records) == (3, 55))
    }

    @Test func anOffsetBeginsWhereItsServerBegins() {
        var offset = PaginationConfiguration.Offset()
        (offset.parameter, offset.start, offset.limitParameter) = ("from", 1, nil)
        var listing = pagination(.offset(offset))
        #expect(listing.request.description == Self.origin + "?state=all&from=1")
        #expect(next(listing.advance(facts(10, body: "a"))) == Self.origin + "?state=all&from=11")
    }

    @Test func recordsThatWereSetAsideMoveAnOffset() {
        var listing = pagination(.offset(.init())), page = facts(10, body: "a")
        page.rejected = 4
        #expect(next(listing.advance(page)) == Self.origin + "?state=all&offset=10&limit=100")
    }

    @Test func aShortPageEndsOffsetsWhereTheirSizeIsAskedFor() {
        var listing = pagination(.offset(.init())) { $0.shortPage = true }
        #expect(next(listing.advance(facts(100, body: "a"))) != nil)
        #expect(end(listing.advance(facts(99, body: "b")))?.rules == [.shortPage])
        var offset = PaginationConfiguration.Offset()
        offset.limitParameter = nil
        var unasked = pagination(.offset(offset)) { $0.shortPage = true }
        #expect(next(unasked.advance(facts(99, body: "a"))) == Self.origin + "?state=all&offset=99")
    }

    @Test func totalsEndOffsets() {
        var listing = pagination(.offset(.init()))
        #expect(next(listing.advance(facts(40, body: "a", total: 50))) == Self.origin + "?state=all&offset=40&limit=100")
        let end = end(listing.advance(facts(10, body: "b", total: 50)))
        #expect(end?.rules == [.total])
        #expect(end?.isComplete == true)
        var missing = pagination(.offset(.init()))
        #expect(self.end(missing.advance(facts(0, body: "a", total: 50)))?.doubts == [.recordsMissing(seen: 0, total: 50)])
    }

    @Test func anOffsetThatStaysWhereItIsFailsTheRun() {
        var listing = pagination(.offset(.init())) { $0.emptyPage = false }
        _ = listing.advance(facts(10, body: "a"))
        #expect(listing.foreseen(facts(0, body: "b")) == nil)
        #expect(listing.advance(facts(0, body: "b")) == .repetition(.token))
    }

    // MARK: Links

    @Test func linksAreFollowedUntilThereIsNone() {
        var listing = pagination(links)
        #expect(listing.request.address == first)
        #expect(next(listing.advance(facts(5, body: "a", link: "?page=2"))) == Self.origin + "?page=2")
        let end = end(listing.advance(facts(5, body: "b")))
        #expect(end?.rules == [.noNextLink])
        #expect(end?.isComplete == true)
    }

    @Test func anEmptyPageInTheMiddleMakesTheRunIncomplete() {
        var listing = pagination(links)
        _ = listing.advance(facts(5, body: "a", link: "?page=2"))
        let end = end(listing.advance(facts(0, body: "b", link: "?page=3")))
        #expect(end?.rules == [.emptyPage])
        #expect(end?.doubts == [.linkNotFollowed])
        var patient = pagination(links) { $0.emptyPage = false }
        #expect(next(patient.advance(facts(0, body: "b", link: "?page=3"))) != nil)
    }

    @Test func theEndOfLinksBeforeTheTotalIsADoubt() {
        var listing = pagination(links)
        let end = end(listing.advance(facts(5, body: "a", total: 10)))
        #expect(end?.rules == [.noNextLink])
        #expect(end?.doubts == [.recordsMissing(seen: 5, total: 10)])
    }

    @Test func circlesOfLinksFailTheRun() {
        var itself = pagination(links)
        #expect(itself.advance(facts(1, body: "a", link: "?state=all")) == .repetition(.token))
        var three = pagination(links)
        _ = three.advance(facts(1, body: "a", link: "?page=2"))
        _ = three.advance(facts(1, body: "b", link: "?page=3"))
        #expect(three.advance(facts(1, body: "c", link: "?page=2")) == .repetition(.token))
    }

    @Test func aRefusedLinkEndsTheListingIncomplete() {
        var listing = pagination(links)
        var page = facts(5, body: "a")
        page.refusedLink = "elsewhere"
        let end = end(listing.advance(page))
        #expect(end?.rules == [.noNextLink])
        #expect(end?.doubts == [.linkRefused("elsewhere")])
    }

    @Test func severalNextLinksAreADoubt() {
        var listing = pagination(links)
        var page = facts(5, body: "a", link: "?page=2")
        page.hasConflictingLinks = true
        #expect(next(listing.advance(page)) != nil)
        #expect(end(listing.advance(facts(5, body: "b")))?.doubts == [.conflictingLinks])
    }

    // MARK: Links in the body

    private func linked(_ records: Int, body: String, link: String? = nil, hasMore: Bool? = nil, total: Int? = nil) -> PageFacts {
        facts(records, body: body, cursor: link.map { Self.origin + $0 }, hasMore: hasMore, total: total)
    }

    @Test func linksInTheBodyAreFollowedUntilThereIsNone() {
        var listing = pagination(.bodyLink(path: "$.next"))
        #expect(listing.request.address == first)
        #expect(listing.foreseen(linked(5, body: "a", link: "?page=2"))?.description == Self.origin + "?page=2")
        #expect(next(listing.advance(linked(5, body: "a", link: "?page=2"))) == Self.origin + "?page=2")
        let end = end(listing.advance(linked(5, body: "b")))
        #expect(end?.rules == [.noNextLink])
        #expect(end?.isComplete == true)
    }

    @Test func circlesOfLinksInTheBodyFailTheRun() {
        var itself = pagination(.bodyLink(path: "$.next"))
        #expect(itself.foreseen(linked(1, body: "a", link: "?state=all")) == nil)
        #expect(itself.advance(linked(1, body: "a", link: "?state=all")) == .repetition(.token))
        var three = pagination(.bodyLink(path: "$.next"))
        _ = three.advance(linked(1, body: "a", link: "?page=2"))
        _ = three.advance(linked(1, body: "b", link: "?page=3"))
        #expect(three.advance(linked(1, body: "c", link: "?page=2")) == .repetition(.token))
    }

    @Test func aRefusedLinkInTheBodyEndsTheListingIncomplete() {
        var listing = pagination(.bodyLink(path: "$.next")), page = linked(5, body: "a")
        page.refusedLink = "elsewhere"
        let end = end(listing.advance(page))
        #expect(end?.rules == [.noNextLink])
        #expect(end?.doubts == [.linkRefused("elsewhere")])
    }

    @Test func aLinkInTheBodyThatWasNotFollowedIsADoubt() {
        var empty = pagination(.bodyLink(path: "$.next"))
        #expect(end(empty.advance(linked(0, body: "a", link: "?page=2")))?.doubts == [.bodyLinkNotFollowed])
        // A page that is empty and leads to itself may be an error.
        var itself = pagination(.bodyLink(path: "$.next"))
        _ = itself.advance(linked(5, body: "a", link: "?page=2"))
        #expect(end(itself.advance(linked(0, body: "b", link: "?page=2")))?.doubts == [.bodyLinkNotFollowed])
        var counted = pagination(.bodyLink(path: "$.next"))
        #expect(end(counted.advance(linked(5, body: "a", link: "?page=2", total: 5)))?.doubts == [.bodyLinkNotFollowed])
        var denied = pagination(.bodyLink(path: "$.next"))
        #expect(end(denied.advance(linked(5, body: "a", link: "?page=2", hasMore: false)))?.isComplete == true)
    }

    @Test func aHeaderThatLeadsOnAfterTheLastLinkInTheBodyIsADoubt() {
        var listing = pagination(.bodyLink(path: "$.next"))
        #expect(end(listing.advance(facts(5, body: "a", link: "?page=2")))?.doubts == [.linkNotFollowed])
    }

    // MARK: Cursors

    @Test func aCursorGoesWhereItIsConfigured() {
        var query = pagination(cursor())
        #expect(next(query.advance(facts(5, body: "a", cursor: "x=/&"))) == Self.origin + "?state=all&cursor=x%3D%2F%26")
        #expect(end(query.advance(facts(5, body: "b")))?.rules == [.noCursor])
        var header = pagination(cursor(.header))
        guard case .next(let request) = header.advance(facts(5, body: "a", cursor: "x=/&")) else {
            Issue.record("no next page")
            return
        }
        #expect(request.address == first)
        #expect(request.headers == [HeaderField(name: "cursor", value: "x=/&")])
        #expect(request.key != PageRequest(address: first).key)
    }

    @Test func theSameCursorWithAnotherBodyIsNoRepetition() {
        var listing = pagination(cursor(.header))
        #expect(next(listing.advance(facts(5, body: "a", cursor: "x"))) != nil)
        #expect(next(listing.advance(facts(5, body: "b", cursor: "x"))) != nil)
        #expect(listing.advance(facts(5, body: "b", cursor: "x")) == .repetition(.body))
    }

    @Test func aPageIsForeseenIfItIsTheNextAndNew() {
        var listing = pagination(cursor())
        // Who foresees a page takes nothing in.
        for _ in 0..<2 { #expect(listing.foreseen(facts(5, body: "a", cursor: "x"))?.description == Self.origin + "?state=all&cursor=x") }
        _ = listing.advance(facts(5, body: "a", cursor: "x"))
        // The token is the one that led here.
        #expect(listing.foreseen(facts(5, body: "b", cursor: "x")) == nil)
        #expect(listing.foreseen(facts(5, body: "a", cursor: "y")) == nil)
        #expect(listing.foreseen(facts(0, body: "b", cursor: "y")) == nil)
        #expect(listing.foreseen(facts(5, body: "b", cursor: "y", hasMore: false)) == nil)
        #expect(listing.foreseen(facts(5, body: "b")) == nil)
        #expect(listing.foreseen(facts(5, body: "b", cursor: "y"))?.description == Self.origin + "?state=all&cursor=y")
        #expect(listing.pages == 1 && listing.records == 5)
    }

    @Test func anEmptyPageThatRepeatsItsCursorIsTheEnd() {
        var listing = pagination(cursor())
        _ = listing.advance(facts(5, body: "a", cursor: "x"))
        _ = listing.advance(facts(5, body: "b", cursor: "x"))
        let last = end(listing.advance(facts(0, body: "c", cursor: "x")))
        #expect(last?.rules == [.emptyPage])
        #expect(last?.isComplete == true)
        // Another cursor leads on, whatever the page before it holds.
        var gap = pagination(cursor())
        _ = gap.advance(facts(5, body: "a", cursor: "x"))
        #expect(end(gap.advance(facts(0, body: "b", cursor: "y")))?.doubts == [.cursorNotFollowed])
    }

    @Test func anExplicitEndIsBelievedAgainstACursorThatIsAlwaysThere() {
        var listing = pagination(cursor())
        let end = end(listing.advance(facts(5, body: "a", cursor: "x", hasMore: false)))
        #expect(end?.rules == [.hasMore])
        #expect(end?.isComplete == true)
    }

    @Test func anEmptyPageWithACursorIsNotBelieved() {
        var listing = pagination(cursor())
        #expect(end(listing.advance(facts(0, body: "a", cursor: "x")))?.doubts == [.cursorNotFollowed])
    }

    @Test func anUnusableCursorFailsTheRun() {
        var long = pagination(cursor())
        #expect(long.advance(facts(1, body: "a", cursor: String(repeating: "x", count: 9000))) == .repetition(.unusableToken))
        var broken = pagination(cursor(.header))
        #expect(broken.advance(facts(1, body: "a", cursor: "x\r\nY: z")) == .repetition(.unusableToken))
    }
}
