import Testing

@testable import SyncControl

@Suite struct ControlRequestTests {
    @Test func aRequestSurvivesTheWayOverTheQuery() throws {
        let request = ControlRequest(.sync, scope: "github/issues", full: true, wait: true)
        #expect(request.target == "/v1/sync?scope=github/issues&full=true&wait=true")
        #expect(request.verb.method == "POST")
        let back = try ControlRequest(.sync, query: [("scope", "github/issues"), ("full", "true"), ("wait", "true")])
        #expect(back == request)
    }

    @Test func aReplayIsNeverFull() throws {
        #expect(try ControlRequest(.replay, query: [("scope", "a"), ("wait", "true")]).target == "/v1/replay?scope=a&wait=true")
        #expect(throws: ControlError.self) { try ControlRequest(.replay, query: [("full", "true")]) }
    }

    @Test func whatStandsInAScopeIsEscapedInTheTarget() {
        #expect(ControlRequest(.pause, scope: "a b/ü&c").target == "/v1/pause?scope=a%20b/%C3%BC%26c")
    }

    @Test func onlyReadingVerbsAreGET() {
        let reading = ControlRequest.Verb.allCases.filter { $0.method == "GET" }
        #expect(reading == [.version, .status, .config, .quarantine])
    }

    @Test func anUnknownParameterIsNamedWithTheKnownOnes() {
        let error = #expect(throws: ControlError.self) { try ControlRequest(.sync, query: [("ful", "true")]) }
        #expect(error?.code == .usage)
        #expect(error?.description == "/v1/sync has no parameter \"ful\"; it takes scope, full, wait")
    }

    @Test(arguments: ["maybe", "2", "TRUE"]) func aFlagIsTrueOrFalse(_ value: String) {
        #expect(throws: ControlError.self) { try ControlRequest(.sync, query: [("wait", value)]) }
    }

    @Test(arguments: ["/", "a/", "/b", "a/b/c", "a//b"]) func aScopeHasOneOrTwoNames(_ value: String) {
        #expect(throws: ControlError.self) { try ControlRequest(.sync, query: [("scope", value)]) }
    }

    @Test func anEmptyScopeIsEverything() throws {
        #expect(try ControlRequest(.sync, query: [("scope", "")]).scope == nil)
    }

    @Test(arguments: ["0", "-1", "1001", "x", ""]) func aLimitIsANumberInItsRange(_ value: String) {
        #expect(throws: ControlError.self) { try ControlRequest(.quarantine, query: [("limit", value)]) }
    }

    @Test(arguments: ["-1", "2147483648", "x", ""]) func whatIsPassedOverIsANumberInItsRange(_ value: String) throws {
        #expect(throws: ControlError.self) { try ControlRequest(.quarantine, query: [("skip", value)]) }
        #expect(try ControlRequest(.quarantine, query: [("skip", "0")]).skip == 0)
    }

    @Test func whatIsForgottenSurvivesTheWayOverTheQuery() throws {
        let request = ControlRequest(.reset, scope: "github/issues", what: [.validators, .cursor])
        #expect(request.target == "/v1/reset?scope=github/issues&what=cursor%2Cvalidators")
        #expect(try ControlRequest(.reset, query: [("scope", "github/issues"), ("what", "cursor,validators")]) == request)
    }

    @Test(arguments: [
        [("scope", "github")], [("what", "cursor")], [("scope", "github"), ("what", "")], [("scope", "github"), ("what", "cursor,rows")],
    ]) func aResetNeedsAScopeAndWhatIsForgotten(_ query: [(String, String)]) {
        let error = #expect(throws: ControlError.self) { try ControlRequest(.reset, query: query.map { (name: $0.0, value: $0.1) }) }
        #expect(error?.code == .usage)
    }

    @Test(arguments: [nil, "github"]) func acceptingDeletionsNeedsAResource(_ scope: String?) {
        #expect(throws: ControlError.self) {
            try ControlRequest(.acceptDeletes, query: scope.map { [("scope", $0)] } ?? [])
        }
    }
}
