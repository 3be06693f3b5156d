import Foundation
import SyncControl
import SyncTestSupport
import Testing

@testable import cisternctl

/// The standard tests of `check --online`, each on a service that stands it and on one that does not.
@Suite struct OnlineCheckTests {
    private typealias Answer = OnlineCheckTrial.Answer

    private func check(
        _ resource: String = "", model: String = OnlineCheckTrial.model, arguments: [String] = [], environment: [String: String] = [:],
        answer: @escaping @Sendable (RawHTTPServer.Request, Int) -> OnlineCheckTrial.Answer
    ) async throws -> OnlineCheckTrial.Result {
        try await OnlineCheckTrial.check(resource, model: model, arguments: arguments, environment: environment, answer: answer)
    }

    // MARK: answers

    @Test func anAnswerThatIsASuccessPasses() async throws {
        let result = try await check { _, _ in Answer(body: OnlineCheckTrial.items([1, 2])) }
        #expect(try result.told.test("answers").outcome == "passed")
        #expect(result.code == .success && result.targets == ["/items"])
        #expect(result.told.resources.map(\.requests) == [1] && result.told.resources.first?.tests.count == 11)
    }

    @Test func credentialsThatAreNotAcceptedFailWith77AndAreNotShown() async throws {
        let auth = "auth = { kind = \"bearer\", token = { env = \"TOKEN\" } }"
        let isKnown: @Sendable (RawHTTPServer.Request) -> Bool = { $0.headers["authorization"] == "Bearer hunter2secret" }
        let good = try await check(auth, environment: ["TOKEN": "hunter2secret"]) { request, _ in
            isKnown(request) ? Answer(body: OnlineCheckTrial.items([1])) : Answer(status: "401 Unauthorized", body: "{}")
        }
        #expect(try good.told.test("answers").detail.contains("credentials accepted") && good.code == .success)
        let bad = try await check(auth, environment: ["TOKEN": "hunter3secret"]) { request, _ in
            Answer(status: "401 Unauthorized", body: "{\"error\": \"no \(request.headers["authorization"] ?? "")\"}")
        }
        let test = try bad.told.test("answers")
        #expect(test.outcome == "failed" && test.change?.key == "auth" && bad.code == .noPermission)
        #expect(!bad.output.contains("hunter3secret"))
        #expect(try bad.told.test("keys-unique").outcome == "not tried")
    }

    @Test func anAddressThatIsNotThereFailsWith76AndNamesThePath() async throws {
        let result = try await check { _, _ in Answer(status: "404 Not Found", body: "{}") }
        let test = try result.told.test("answers")
        #expect(test.outcome == "failed" && test.change?.key == "path" && result.code == .protocolError)
    }

    @Test func aServerThatIsNotThereIs69() async throws {
        let outcome = Outcome()
        let configuration = """
            version = 1
            [defaults.retry]
            attempts = 1
            [[source]]
            name = "shop"
            url = "http://127.0.0.1:1/items"
            entity = "Item"
            \(OnlineCheckTrial.model)
            """
        let code = await Cisternctl.run(
            arguments: ["check", "--online", "--config", "/c.toml"], surroundings: outcome.surroundings(["/c.toml": configuration]))
        #expect(code == .unavailable)
        #expect(outcome.out.contains("change base_url") && outcome.out.contains("failed"))
    }

    // MARK: Records

    @Test func anEmptyListIsAWarningAndAMissingOneAFailure() async throws {
        let good = try await check("records = \"$.data\"") { _, _ in Answer(body: "{\"data\": \(OnlineCheckTrial.items([1]))}") }
        #expect(try good.told.test("gives-a-record").outcome == "passed")
        let empty = try await check("records = \"$.data\"") { _, _ in Answer(body: "{\"data\": []}") }
        #expect(try empty.told.test("gives-a-record").outcome == "warned" && empty.code == .success)
        let missing = try await check("records = \"$.data\"") { _, _ in Answer(body: "{\"items\": \(OnlineCheckTrial.items([1]))}") }
        let test = try missing.told.test("gives-a-record")
        #expect(test.outcome == "failed" && test.change?.key == "records" && missing.code == .protocolError)
        let quiet = try await check("records = \"$.data\"\nparse = { records_absent = \"no-records\" }") { _, _ in
            Answer(body: "{\"items\": []}")
        }
        #expect(try quiet.told.test("gives-a-record").outcome == "failed")
        let object = try await check { _, _ in Answer(body: "{\"items\": []}") }
        #expect(try object.told.test("gives-a-record").outcome == "failed")
    }

    @Test func aKeyThatIsMissingOrNullFails() async throws {
        let good = try await check { _, _ in Answer(body: OnlineCheckTrial.items([1, 2])) }
        #expect(try good.told.test("keys-present").outcome == "passed")
        for body in [#"[{"id": 1}, {"id": null}]"#, #"[{"id": 1}, {"number": 2}]"#, #"[{"id": 1}, {"id": "two"}]"#] {
            let bad = try await check { _, _ in Answer(body: body) }
            let test = try bad.told.test("keys-present")
            #expect(test.outcome == "failed" && test.detail.hasPrefix("1 of 2 records"), "\(test)")
            #expect(test.change?.key == "entity.Item.key" && bad.code == .protocolError)
        }
    }

    @Test func aKeyThatComesTwiceFails() async throws {
        let good = try await check { _, _ in Answer(body: OnlineCheckTrial.items([1, 2])) }
        #expect(try good.told.test("keys-unique").outcome == "passed")
        let bad = try await check { _, _ in Answer(body: OnlineCheckTrial.items([1, 2, 1])) }
        let test = try bad.told.test("keys-unique")
        #expect(test.outcome == "failed" && test.detail.contains("records 0 and 2"), "\(test)")
        #expect(test.change?.key == "entity.Item.key" && bad.code == .protocolError)
    }

    @Test func thePartsShareOfTheKeyCountsWithIt() async throws {
        let resource = "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nset = { part = \"{part}\" }\nparams = { of = \"{part}\" }"
        let model = OnlineCheckTrial.model.replacing("key = [\"id\"]", with: "key = [\"part\", \"id\"]") + "\npart = { type = \"string\" }"
        let result = try await check(resource, model: model) { _, _ in Answer(body: OnlineCheckTrial.items([1, 2])) }
        #expect(try result.told.test("keys-present").outcome == "passed" && result.told.test("keys-unique").outcome == "passed")
        #expect(result.told.resources.first?.part == "a" && result.targets == ["/items?of=a"])
    }

    @Test func aDateOfAnotherFormatFailsAndTheFormatIsNamed() async throws {
        let good = try await check { _, _ in Answer(body: #"[{"id": 1, "at": "2026-01-01T00:00:00Z"}]"#) }
        #expect(try good.told.test("dates-parse").outcome == "passed")
        let bad = try await check { _, _ in Answer(body: #"[{"id": 1, "at": 1767225600}, {"id": 2}]"#) }
        let test = try bad.told.test("dates-parse")
        #expect(test.outcome == "failed" && test.detail.contains("at $.at is 1767225600"), "\(test)")
        #expect(test.change?.key == "entity.Item.attributes.at.format" && test.change?.value == "\"unix\"" && bad.code == .protocolError)
        let number = try await check(model: OnlineCheckTrial.model + "\nsize = { type = \"int16\" }") { _, _ in
            Answer(body: #"[{"id": 1, "size": 70000}]"#)
        }
        #expect(try number.told.test("dates-parse").change?.value == "\"int64\"")
    }

    @Test func aSecretThatTheServerSendsBackIsNotShownNotEvenInPart() async throws {
        let secret = String(repeating: "hunter2", count: 20)
        let result = try await check(
            "auth = { kind = \"bearer\", token = { env = \"TOKEN\" } }", environment: ["TOKEN": secret]
        ) { _, _ in Answer(body: "[{\"id\": 1, \"at\": \"\(secret)\"}]") }
        #expect(try result.told.test("dates-parse").outcome == "failed")
        #expect(!result.output.contains("hunter"))
    }

    // MARK: Listings

    /// A listing of five records in pages of two.
    private static func page(_ request: RawHTTPServer.Request) -> String {
        let first = ((OnlineCheckTrial.parameter("page", in: request).flatMap { Int($0) } ?? 1) - 1) * 2
        return OnlineCheckTrial.items((1...5).dropFirst(first).prefix(2))
    }

    @Test func aSecondPageThatIsTheFirstFailsAndNamesTheParameter() async throws {
        let pages = "pages = { kind = \"page\", size_param = \"\" }"
        let good = try await check(pages) { request, _ in Answer(body: Self.page(request)) }
        #expect(try good.told.test("second-page-differs").outcome == "passed" && good.targets == ["/items?page=1", "/items?page=2"])
        let bad = try await check(pages) { _, _ in Answer(body: OnlineCheckTrial.items([1, 2])) }
        let test = try bad.told.test("second-page-differs")
        #expect(test.outcome == "failed" && test.change?.key == "pages.param" && bad.code == .protocolError, "\(test)")
        let other = try await check(pages) { request, number in Answer(body: "[{\"id\": 1, \"n\": \(number)}]") }
        #expect(try other.told.test("second-page-differs").outcome == "failed")
        let overlapping = try await check(pages) { request, _ in
            Answer(body: OnlineCheckTrial.items(OnlineCheckTrial.parameter("page", in: request) == "1" ? 1...3 : 3...5))
        }
        #expect(try overlapping.told.test("second-page-differs").outcome == "warned" && overlapping.code == .success)
    }

    @Test func aNextPageThatNobodyAsksForFails() async throws {
        let result = try await check { _, _ in Answer(headers: ["Link: </items?page=2>; rel=\"next\""], body: OnlineCheckTrial.items([1, 2])) }
        let test = try result.told.test("second-page-differs")
        #expect(test.outcome == "failed" && test.change?.value == "{ kind = \"link-header\" }" && result.targets.count == 1)
    }

    @Test func aTotalThatContradictsThePagesFails() async throws {
        let pages = "records = \"$.data\"\npages = { kind = \"page\", size_param = \"\", stop = { total = \"$.total\" } }"
        let good = try await check(pages) { request, _ in Answer(body: "{\"total\": 5, \"data\": \(Self.page(request))}") }
        #expect(try good.told.test("total-agrees").outcome == "passed")
        let small = try await check(pages) { request, _ in Answer(body: "{\"total\": 1, \"data\": \(Self.page(request))}") }
        #expect(try small.told.test("total-agrees").outcome == "failed" && small.code == .protocolError)
        let absent = try await check(pages) { request, _ in Answer(body: "{\"count\": 5, \"data\": \(Self.page(request))}") }
        let test = try absent.told.test("total-agrees")
        #expect(test.outcome == "failed" && test.change?.key == "pages.stop.total")
        let odd = try await check(pages) { request, _ in Answer(body: "{\"total\": {}, \"data\": \(Self.page(request))}") }
        #expect(try odd.told.test("total-agrees").detail == "what is at $.total cannot be read")
    }

    @Test func aTotalOfThePageOnlyFailsWhereTheAnswerLeadsOn() async throws {
        let pages = "records = \"$.data\"\npages = { kind = \"body-link\", path = \"$.next\", stop = { total = \"$.count\" } }"
        let result = try await check(pages) { _, _ in
            Answer(body: "{\"count\": 2, \"next\": \"/items?page=2\", \"data\": \(OnlineCheckTrial.items([1, 2]))}")
        }
        #expect(try result.told.test("total-agrees").outcome == "failed")
    }

    @Test func aListingWhoseEndCannotBeKnownIsAWarning() async throws {
        let deletion = "deletion = { detect = \"snapshot\" }"
        let good = try await check(deletion) { _, _ in Answer(body: OnlineCheckTrial.items(1...7)) }
        #expect(try good.told.test("deletion-safe").outcome == "passed")
        let round = try await check(deletion) { _, _ in Answer(body: OnlineCheckTrial.items(1...50)) }
        let test = try round.told.test("deletion-safe")
        #expect(test.outcome == "warned" && test.change?.key == "pages" && round.code == .success)
        let endless = try await check("\(deletion)\npages = { kind = \"page\", stop = { empty_page = false } }") { request, _ in
            Answer(body: Self.page(request))
        }
        #expect(try endless.told.test("deletion-safe").outcome == "warned")
        let other = try await check { _, _ in Answer(body: OnlineCheckTrial.items(1...50)) }
        #expect(try other.told.test("deletion-safe").outcome == "not tried")
    }

    // MARK: Conditional and incremental requests

    @Test func anETagIsSentBackAndAnsweredWith304() async throws {
        let tag = "ETag: \"1\""
        let good = try await check { request, _ in
            let isKnown = request.headers["if-none-match"] == "\"1\""
            return Answer(status: isKnown ? "304 Not Modified" : "200 OK", headers: [tag], body: isKnown ? "" : OnlineCheckTrial.items([1]))
        }
        #expect(try good.told.test("etag-honoured").outcome == "passed" && good.targets.count == 2)
        let deaf = try await check { _, _ in Answer(headers: [tag], body: OnlineCheckTrial.items([1])) }
        #expect(try deaf.told.test("etag-honoured").outcome == "warned" && deaf.code == .success)
        let bad = try await check { request, _ in
            request.headers["if-none-match"] == nil
                ? Answer(headers: [tag], body: OnlineCheckTrial.items([1])) : Answer(status: "400 Bad Request", body: "{}")
        }
        let test = try bad.told.test("etag-honoured")
        #expect(test.outcome == "failed" && test.change?.key == "http.conditional" && bad.code == .protocolError)
        let none = try await check { _, _ in Answer(body: OnlineCheckTrial.items([1])) }
        #expect(try none.told.test("etag-honoured").outcome == "not tried" && none.targets.count == 1)
    }

    private static func changes(since text: String?, isExclusive: Bool = false) -> String {
        let all = (1...5).map { "2026-01-0\($0)T00:00:00Z" }
        func isWanted(_ time: String) -> Bool { text.map { isExclusive ? time > $0 : time >= $0 } ?? true }
        let wanted = all.enumerated().filter { isWanted($0.element) }
        return "[" + wanted.map { "{\"id\": \($0), \"at\": \"\($1)\"}" }.joined(separator: ", ") + "]"
    }

    @Test func aServerThatIgnoresSinceFails() async throws {
        let incremental = "incremental = { field = \"$.at\", since = \"since\" }"
        let good = try await check(incremental) { request, _ in Answer(body: Self.changes(since: OnlineCheckTrial.parameter("since", in: request))) }
        #expect(try good.told.test("since-filters").outcome == "passed")
        #expect(
            good.targets == ["/items", "/items?since=2026-01-05T00:00:00Z"] || good.targets.last?.contains("since=2026-01-05T00%3A00%3A00Z") == true)
        let deaf = try await check(incremental) { _, _ in Answer(body: Self.changes(since: nil)) }
        let test = try deaf.told.test("since-filters")
        #expect(test.outcome == "failed" && test.change?.key == "incremental.since" && deaf.code == .protocolError)
        let late = try await check(incremental) { request, _ in
            Answer(body: Self.changes(since: OnlineCheckTrial.parameter("since", in: request).map { _ in "2026-01-02T00:00:00Z" }))
        }
        #expect(try late.told.test("since-filters").outcome == "failed")
        let refusing = try await check(incremental) { request, _ in
            OnlineCheckTrial.parameter("since", in: request) == nil
                ? Answer(body: Self.changes(since: nil)) : Answer(status: "422 Unprocessable", body: "{}")
        }
        #expect(try refusing.told.test("since-filters").outcome == "failed")
        let exclusive = try await check(incremental) { request, _ in
            Answer(body: Self.changes(since: OnlineCheckTrial.parameter("since", in: request), isExclusive: true))
        }
        let warning = try exclusive.told.test("since-filters")
        #expect(warning.outcome == "warned" && warning.change?.key == "incremental.lookback")
    }

    // No record says the key: that is another test's matter.
    @Test func whatIsNewIsJudgedByItsTimeWhereNoRecordHasAKey() async throws {
        let incremental = "incremental = { field = \"$.at\", since = \"since\" }"
        @Sendable func keyless(_ text: String?) -> String { Self.changes(since: text).replacing("\"id\"", with: "\"nr\"") }
        let good = try await check(incremental) { request, _ in Answer(body: keyless(OnlineCheckTrial.parameter("since", in: request))) }
        #expect(try good.told.test("since-filters").outcome == "passed" && good.told.test("keys-present").outcome == "failed")
        let deaf = try await check(incremental) { _, _ in Answer(body: keyless(nil)) }
        #expect(try deaf.told.test("since-filters").outcome == "failed")
    }

    // MARK: Parents

    private static let parts = """
        [[source.resource]]
        name = "notes"
        entity = "Note"
        path = "/items/{item.id}/notes"
        for_each = { resource = "items", as = "item" }
        """
    private static let partsModel = OnlineCheckTrial.model + "\n[entity.Note]\nkey = [\"id\"]\n[entity.Note.attributes]\nid = { type = \"int64\" }"

    @Test func aPartIsTriedWithAParentOfTheServer() async throws {
        let good = try await check(Self.parts, model: Self.partsModel) { request, _ in
            Answer(body: OnlineCheckTrial.items(request.target == "/items" ? [7, 8] : [1]))
        }
        #expect(try good.told.test("parents-known", of: "shop/notes").outcome == "passed" && good.code == .success)
        #expect(good.targets == ["/items", "/items/7/notes"] && good.told.resources.map(\.part) == [nil, "7"])
        // The parents' page counts for who lists them.
        let alone = try await check(Self.parts, model: Self.partsModel, arguments: ["shop/notes"]) { request, _ in
            Answer(body: OnlineCheckTrial.items(request.target == "/items" ? [7, 8] : [1]))
        }
        #expect(alone.told.resources.map(\.scope) == ["shop/notes"] && alone.told.resources.map(\.requests) == [1])
        #expect(alone.targets == ["/items", "/items/7/notes"])
    }

    @Test func aPartThatIsNotThereFailsForTheParent() async throws {
        let bad = try await check(Self.parts, model: Self.partsModel) { request, _ in
            request.target == "/items" ? Answer(body: OnlineCheckTrial.items([7])) : Answer(status: "404 Not Found", body: "{}")
        }
        let test = try bad.told.test("parents-known", of: "shop/notes")
        #expect(test.outcome == "failed" && test.change?.key == "path" && bad.code == .protocolError)
        let none = try await check(Self.parts, model: Self.partsModel) { _, _ in Answer(body: "[]") }
        #expect(try none.told.test("parents-known", of: "shop/notes").outcome == "warned")
        #expect(try none.told.test("answers", of: "shop/notes").outcome == "not tried" && none.targets == ["/items"])
    }

    // MARK: Manners

    @Test func aServerThatAsksForAWaitIsLeftAloneByAllOfItsResources() async throws {
        let others = "[[source.resource]]\nname = \"others\"\nentity = \"Item\"\npath = \"/others\""
        let result = try await check(others) { _, _ in
            Answer(status: "429 Too Many Requests", headers: ["Retry-After: 120"], body: "{}")
        }
        #expect(result.targets == ["/items"] && result.code == .temporaryFailure)
        for scope in ["shop/items", "shop/others"] {
            let test = try result.told.test("answers", of: scope)
            #expect(test.outcome == "not tried" && test.detail.hasPrefix("the server asked to be left alone until"), "\(test)")
        }
    }

    @Test func whatWasFoundBeforeAServerAsksForAWaitIsTold() async throws {
        let result = try await check("pages = { kind = \"page\", size_param = \"\" }") { request, _ in
            OnlineCheckTrial.parameter("page", in: request) == "1"
                ? Answer(headers: ["ETag: \"1\""], body: OnlineCheckTrial.items([1, 2]))
                : Answer(status: "503 Service Unavailable", headers: ["Retry-After: 60"], body: "{}")
        }
        #expect(try result.told.test("keys-unique").outcome == "passed")
        #expect(try result.told.test("second-page-differs").outcome == "not tried" && result.told.test("etag-honoured").outcome == "not tried")
        #expect(result.targets.count == 2 && result.code == .temporaryFailure)
    }

    @Test func noResourceIsAskedMoreThanFourTimes() async throws {
        let resource = "pages = { kind = \"page\", size_param = \"\" }\nincremental = { field = \"$.at\", since = \"since\" }"
        let result = try await check(resource) { request, _ in
            let isFirst = OnlineCheckTrial.parameter("page", in: request) == "1"
            return Answer(headers: ["ETag: \"1\""], body: isFirst ? Self.changes(since: OnlineCheckTrial.parameter("since", in: request)) : "[]")
        }
        #expect(result.told.resources.map(\.requests) == [4] && result.targets.count == 4)
        let retried = try await check("retry = { attempts = 9, base = \"1ms\" }") { _, _ in Answer(status: "500 Oh", body: "{}") }
        #expect(retried.targets.count == 4 && retried.code == .unavailable)
    }

    @Test func whereARedirectLeadsToIsARequestAsWell() async throws {
        let result = try await check("pages = { kind = \"page\", size_param = \"\" }") { request, _ in
            let page = OnlineCheckTrial.parameter("page", in: request) ?? ""
            if request.target.hasPrefix("/items") {
                return Answer(status: "302 Found", headers: ["Location: /elsewhere?page=\(page)"], body: "")
            }
            return Answer(headers: ["ETag: \"1\""], body: OnlineCheckTrial.items(page == "1" ? [1, 2] : [3]))
        }
        #expect(result.told.resources.map(\.requests) == [4] && result.targets.count == 4, "\(result.targets)")
        #expect(try result.told.test("second-page-differs").outcome == "passed")
        let etag = try result.told.test("etag-honoured")
        #expect(etag.outcome == "not tried" && etag.detail.contains("4 requests"), "\(etag)")
        // One that leads on and on.
        let endless = try await check("http = { max_redirects = 9 }") { _, number in
            Answer(status: "302 Found", headers: ["Location: /items/\(number)"], body: "")
        }
        #expect(endless.targets.count == 4 && endless.code == .protocolError, "\(endless.targets)")
        #expect(try endless.told.test("answers").outcome == "failed")
    }

    // MARK: The command line

    @Test func onlyTheNamedResourceIsTried() async throws {
        let others = "[[source.resource]]\nname = \"others\"\nentity = \"Item\"\npath = \"/others\""
        let one = try await check(others, arguments: ["shop/others"]) { _, _ in Answer(body: OnlineCheckTrial.items([1])) }
        #expect(one.targets == ["/others"])
        let source = try await check(others, arguments: ["shop"]) { _, _ in Answer(body: OnlineCheckTrial.items([1])) }
        #expect(source.targets == ["/items", "/others"])
    }

    @Test func aBadConfigurationIs78AndAScopeThatIsNotThere64AndNothingIsAsked() async throws {
        let server = try await RawHTTPServer { _, _ in [.send(Answer(body: "[]").bytes), .close] }
        let good = "version = 1\n[[source]]\nname = \"shop\"\nurl = \"\(server.url("/items"))\"\nentity = \"Item\"\n\(OnlineCheckTrial.model)"
        func run(_ text: String, _ arguments: String...) async -> ControlExitCode {
            await Cisternctl.run(
                arguments: ["check", "--config", "/c.toml"] + arguments, surroundings: Outcome().surroundings(["/c.toml": text]))
        }
        #expect(await run(good.replacing("entity = \"Item\"", with: "entity = \"Itm\""), "--online") == .configuration)
        #expect(await run(good, "--online", "store") == .usage)
        #expect(await run(good, "shop") == .usage)
        #expect(server.requests.isEmpty)
        await server.shutdown()
    }

    @Test func aTableSaysHowManyRequestsWereMadeAndWhatToChange() async throws {
        let server = try await RawHTTPServer { _, _ in [.send(Answer(body: OnlineCheckTrial.items([1, 1])).bytes), .close] }
        let outcome = Outcome()
        let text = "version = 1\n[[source]]\nname = \"shop\"\nurl = \"\(server.url("/items"))\"\nentity = \"Item\"\n\(OnlineCheckTrial.model)"
        let code = await Cisternctl.run(
            arguments: ["check", "--online", "--config", "/c.toml"], surroundings: outcome.surroundings(["/c.toml": text]))
        #expect(code == .protocolError)
        #expect(outcome.out.contains("shop/shop: 1 request\n") && outcome.out.contains("keys-unique: change entity.Item.key: "), "\(outcome.out)")
        #expect(outcome.out.contains("1 resource tried"))
        await server.shutdown()
    }
}
