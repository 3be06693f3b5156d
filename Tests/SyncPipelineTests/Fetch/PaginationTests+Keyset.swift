import SyncConfiguration
import Testing

@testable import SyncPipeline

extension PaginationTests {
    // MARK: Keysets

    private func keyset(_ place: PaginationConfiguration.Place = .query) -> PaginationConfiguration.Kind {
        var keyset = PaginationConfiguration.Keyset(from: "$.id")
        keyset.place = place
        return .keyset(keyset)
    }

    @Test func theNextPageBeginsAfterTheLastRecord() {
        var listing = pagination(keyset())
        #expect(listing.request.address == first)
        #expect(listing.foreseen(facts(5, body: "a", cursor: "x=/&"))?.description == Self.origin + "?state=all&after=x%3D%2F%26")
        #expect(next(listing.advance(facts(5, body: "a", cursor: "x=/&"))) == Self.origin + "?state=all&after=x%3D%2F%26")
        #expect(next(listing.advance(facts(3, body: "b", cursor: "8"))) == Self.origin + "?state=all&after=8")
        let end = end(listing.advance(facts(0, body: "c")))
        #expect(end?.rules == [.emptyPage])
        #expect(end?.isComplete == true)
    }

    @Test func theLastRecordsValueGoesWhereItIsConfigured() {
        var listing = pagination(keyset(.header))
        guard case .next(let request) = listing.advance(facts(5, body: "a", cursor: "x=/&")) else {
            Issue.record("no next page")
            return
        }
        #expect(request.address == first)
        #expect(request.headers == [HeaderField(name: "after", value: "x=/&")])
    }

    @Test func withoutAValueOfTheLastRecordTheListingIsIncomplete() {
        var listing = pagination(keyset())
        _ = listing.advance(facts(5, body: "a", cursor: "5"))
        #expect(listing.foreseen(facts(5, body: "b")) == nil)
        let end = end(listing.advance(facts(5, body: "b")))
        #expect(end?.rules == [.noLastValue])
        #expect(end?.doubts == [.noLastValue(page: 2, path: "$.id")])
        // A page without records that is not to be the end has no last record.
        var patient = pagination(keyset()) { $0.emptyPage = false }
        #expect(self.end(patient.advance(facts(0, body: "a")))?.doubts == [.noLastValue(page: 1, path: "$.id")])
    }

    @Test func whereAnotherRuleEndsAListingItsLastRecordPromisesNothing() {
        var denied = pagination(keyset())
        #expect(end(denied.advance(facts(5, body: "a", hasMore: false)))?.isComplete == true)
        var counted = pagination(keyset())
        #expect(end(counted.advance(facts(5, body: "a", cursor: "5", total: 5)))?.isComplete == true)
        var pages = pagination(keyset())
        #expect(end(pages.advance(facts(5, body: "a", cursor: "5", pages: 1)))?.isComplete == true)
    }

    @Test func theSameLastRecordTwiceFailsTheRun() {
        var listing = pagination(keyset())
        _ = listing.advance(facts(5, body: "a", cursor: "5"))
        #expect(listing.foreseen(facts(5, body: "b", cursor: "5")) == nil)
        #expect(listing.advance(facts(5, body: "b", cursor: "5")) == .repetition(.token))
        var circle = pagination(keyset(.header))
        _ = circle.advance(facts(5, body: "a", cursor: "5"))
        _ = circle.advance(facts(5, body: "b", cursor: "9"))
        #expect(circle.advance(facts(5, body: "c", cursor: "5")) == .repetition(.token))
    }

    @Test func aLastRecordsValueThatCannotBeSentFailsTheRun() {
        var long = pagination(keyset())
        #expect(long.advance(facts(1, body: "a", cursor: String(repeating: "x", count: 9000))) == .repetition(.unusableToken))
        var broken = pagination(keyset(.header))
        #expect(broken.advance(facts(1, body: "a", cursor: "x\r\nY: z")) == .repetition(.unusableToken))
    }
}
