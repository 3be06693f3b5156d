import SyncConfiguration
import Testing

@testable import SyncPipeline

// N4
@Suite struct RedirectPolicyTests {
    private func follow(
        _ location: String..., from: String = "https://a.example/start", reach: HTTPConfiguration.Reach = .any, status: Int = 302,
        method: RequestMethod = .get, sendsContent: Bool = false
    ) throws -> String {
        let address = try HTTPAddress(from)
        var policy = RedirectPolicy(reach: reach, limit: 3, first: address)
        return try policy.follow(locations: location, from: address, status: status, method: method, sendsContent: sendsContent).description
    }

    @Test func redirectsWithinTheOriginAreFollowed() throws {
        #expect(try follow("/next", reach: .sameOrigin) == "https://a.example/next")
        #expect(try follow("https://a.example:443/next", reach: .sameOrigin) == "https://a.example:443/next")
        #expect(try follow("https://b.example/next") == "https://b.example/next")
    }

    @Test func theReachIsObeyed() throws {
        #expect(throws: Refusal.redirectNotAllowed) { try follow("/next", reach: .none) }
        let other = try HTTPAddress("https://b.example/").origin
        #expect(throws: Refusal.otherOrigin(other)) { try follow("https://b.example/", reach: .sameOrigin) }
    }

    @Test func encryptionIsNotGivenUp() {
        #expect(throws: Refusal.downgrade) { try follow("http://a.example/next") }
    }

    @Test func onlyHTTPIsFollowed() {
        #expect(throws: Refusal.scheme("file")) { try follow("file:///etc/passwd") }
        #expect(throws: Refusal.scheme("gopher")) { try follow("gopher://a.example/") }
        #expect(throws: Refusal.userInformation) { try follow("https://user@a.example/") }
        #expect(throws: Refusal.self) { try follow("http://[fe80::1%25lo]/") }
    }

    @Test func aLocationMustBeThere() {
        #expect(throws: Refusal.missingLocation) { try follow() }
        #expect(throws: Refusal.emptyAddress) { try follow("") }
        #expect(throws: Refusal.self) { try follow("/a", "/b") }
    }

    @Test(arguments: [301, 302, 303]) func aPOSTIsNeverMadeAGET(status: Int) throws {
        #expect(throws: Refusal.redirectOfPOST(status)) { try follow("/a", status: status, method: .post) }
        #expect(
            "\(Refusal.redirectOfPOST(status))".contains("status \(status) would make a GET of a POST; if the service has moved, write the address"))
        #expect(throws: Refusal.redirectNotAllowed) { try follow("/a", reach: .none, status: status, method: .post) }
    }

    @Test(arguments: [307, 308]) func aPOSTIsSentAgainWhereItsRedirectSaysSo(status: Int) throws {
        #expect(try follow("/a", status: status, method: .post) == "https://a.example/a")
        #expect(throws: Refusal.downgrade) { try follow("http://a.example/a", status: status, method: .post) }
    }

    @Test func whatIsSentGoesToNoOtherOrigin() throws {
        let other = try HTTPAddress("https://b.example/").origin
        for reach in [HTTPConfiguration.Reach.any, .sameOrigin] {
            #expect(throws: Refusal.contentForOtherOrigin(other)) {
                try follow("https://b.example/", reach: reach, status: 307, method: .post, sendsContent: true)
            }
        }
        #expect(throws: Refusal.redirectNotAllowed) {
            try follow("https://b.example/", reach: .none, status: 307, method: .post, sendsContent: true)
        }
        #expect(try follow("/a", status: 308, method: .post, sendsContent: true) == "https://a.example/a")
    }

    @Test func theNumberOfHopsIsLimited() throws {
        var address = try HTTPAddress("https://a.example/0")
        var policy = RedirectPolicy(reach: .any, limit: 3, first: address)
        for hop in 1...3 { address = try policy.follow(locations: ["/\(hop)"], from: address, status: 302) }
        #expect(throws: Refusal.tooManyRedirects(3)) { try policy.follow(locations: ["/4"], from: address, status: 302) }
    }

    @Test func circlesAreNoticed() throws {
        let first = try HTTPAddress("https://a.example/0")
        var policy = RedirectPolicy(reach: .any, limit: 10, first: first)
        let second = try policy.follow(locations: ["/1"], from: first, status: 302)
        #expect(throws: Refusal.redirectLoop) { try policy.follow(locations: ["/0"], from: second, status: 302) }
        #expect(throws: Refusal.redirectLoop) { try policy.follow(locations: ["/1#x"], from: second, status: 302) }
    }

    @Test func onlyFiveStatusesAreRedirects() {
        #expect((300...399).filter(RedirectPolicy.isRedirect) == [301, 302, 303, 307, 308])
    }
}
