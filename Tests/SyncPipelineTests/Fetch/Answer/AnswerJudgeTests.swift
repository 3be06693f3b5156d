import JSONReader
import NIOHTTP1
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What conditions say of statuses, headers and bodies.
@Suite struct AnswerJudgeTests {
    /// What is made of an answer by a resource with these lines; nil: what its status says.
    private func verdict(
        _ lines: String, _ body: String, status: Int = 200, headers: HTTPHeaders = [:]
    ) throws -> AnswerVerdict? {
        let resource = try #require(try PipelineFixture.configuration(ScriptedAPI.people(lines)).resource(scope: "api/people"))
        let judge = AnswerJudge(resource), bytes = Array(body.utf8)
        return judge.verdict(status: status, headers: headers, values: judge.values(of: bytes), text: bytes)
    }

    private func holds(_ condition: String, _ body: String, status: Int = 200, headers: HTTPHeaders = [:]) throws -> Bool {
        try verdict("fail_if = [{ \(condition) }]", body, status: status, headers: headers) != nil
    }

    private static let comparisons: [(test: String, body: String, isMet: Bool)] = [
        ("equals = false", #"{"v": false}"#, true), ("equals = false", #"{"v": true}"#, false), ("equals = false", #"{"v": "false"}"#, false),
        ("equals = false", "{}", false), ("equals = 0", #"{"v": 0}"#, true), ("equals = 0", #"{"v": 0.0}"#, true),
        ("equals = 0", #"{"v": "0"}"#, false),
        ("equals = 0", #"{"v": false}"#, false), ("equals = 1.5", #"{"v": 15e-1}"#, true), ("equals = 2.0", #"{"v": 2}"#, true),
        ("equals = 9223372036854775807", #"{"v": 9223372036854775808}"#, false), ("equals = 1e30", #"{"v": 1000000000000000000000000000000}"#, true),
        ("equals = \"a\"", #"{"v": "a"}"#, true), ("equals = \"a\"", #"{"v": "A"}"#, false), ("equals = \"a\"", #"{"v": ["a"]}"#, false),
        ("not_equals = \"ok\"", #"{"v": "ok"}"#, false), ("not_equals = \"ok\"", #"{"v": "no"}"#, true), ("not_equals = \"ok\"", "{}", true),
        ("exists = true", #"{"v": 0}"#, true), ("exists = true", #"{"v": null}"#, false), ("exists = true", "{}", false),
        ("exists = true", #"{"v": ""}"#, true), ("exists = false", #"{"v": null}"#, true), ("exists = false", "{}", true),
        ("exists = false", #"{"v": {}}"#, false), ("in = [\"a\", 2, true]", #"{"v": 2}"#, true), ("in = [\"a\", 2, true]", #"{"v": true}"#, true),
        ("in = [\"a\", 2, true]", #"{"v": "2"}"#, false), ("contains = \"lim\"", #"{"v": "rate limit"}"#, true),
        ("contains = \"lim\"", #"{"v": [{"type": "limit"}]}"#, true), ("contains = \"1\"", #"{"v": 11}"#, false), ("contains = \"lim\"", "{}", false),
        ("exists = true, not_equals = 0", #"{"v": 0}"#, false), ("exists = true, not_equals = 0", "{}", false),
        ("exists = true, not_equals = 0", #"{"v": 7}"#, true),
    ]

    @Test(arguments: comparisons) func aValueIsComparedAsWhatItIs(test: String, body: String, isMet: Bool) throws {
        #expect(try holds("path = \"$.v\", \(test)", body) == isMet)
    }

    // Nothing is true of what is not there to be read, that it is missing least of all.
    @Test(arguments: ["", " ", "no", "[1, 2", #"{"v": 1"#, "<html>", "\"v\""]) func noPathLeadsIntoWhatIsNotJSON(body: String) throws {
        for test in ["exists = false", "not_equals = 1", "exists = true"] { #expect(try !holds("path = \"$.v\", \(test)", body)) }
    }

    // It is an object or a list whatever the records are in.
    @Test func aListHasNoMembers() throws {
        #expect(try holds("path = \"$.error\", exists = false", "[1, 2]"))
        #expect(try holds("path = \"$[0].error\", equals = \"x\"", #"[{"error": "x"}]"#))
    }

    @Test func allOfATableHoldsOrAnotherTable() throws {
        let lines = "fail_if = [{ path = \"$.a\", equals = 1, contains = \"x\" }, { status = 200, path = \"$.b\", equals = 2 }]"
        #expect(try verdict(lines, #"{"a": 1}"#) == nil)
        #expect(try verdict(lines, #"{"b": 2}"#)?.meaning == .fail)
        #expect(try verdict(lines, #"{"b": 2}"#, status: 500) == nil)
    }

    @Test func aStatusIsOneOfAListOrOfAClass() throws {
        for (statuses, met) in [("400", [400]), ("[400, 403]", [400, 403]), ("\"4xx\"", [400, 403, 499]), ("[\"5xx\", 403]", [403, 500, 503])] {
            for status in [200, 400, 403, 499, 500, 503] {
                #expect(try holds("status = \(statuses)", "", status: status) == met.contains(status), "\(statuses) \(status)")
            }
        }
    }

    // Any other answer is a failure by itself, and one that may pass is not to be made one that does not.
    @Test func failIfIsAboutSuccessesUnlessItSaysOtherwise() throws {
        let body = #"{"error": "x"}"#, test = "path = \"$.error\", exists = true"
        #expect(try holds(test, body))
        #expect(try !holds(test, body, status: 503))
        #expect(try holds("status = 503, \(test)", body, status: 503))
        #expect(try verdict("retry_if = [{ \(test) }]", body, status: 400)?.meaning == .retry)
    }

    @Test func ignoreIfIsAboutSuccessesUnlessItSaysOtherwise() throws {
        let body = #"{"error": "x"}"#, test = "path = \"$.error\", exists = true"
        for (status, plain, named) in [
            (200, true, true), (400, false, true), (401, false, false), (407, false, false), (408, false, false), (409, false, true),
            (429, false, false), (500, false, false),
        ] {
            #expect(try (verdict("ignore_if = [{ \(test) }]", body, status: status) != nil) == plain, "\(status)")
            #expect(try (verdict("ignore_if = [{ status = [200, \"4xx\"], \(test) }]", body, status: status) != nil) == named, "\(status)")
        }
    }

    @Test func aHeaderHasTexts() throws {
        let headers: HTTPHeaders = ["X-Left": "0", "x-tag": "a", "X-Tag": "b c"]
        for (test, isMet) in [
            ("header = \"x-left\", equals = 0", true), ("header = \"X-Left\", equals = \"0\"", true), ("header = \"X-Left\", equals = 1", false),
            ("header = \"X-Tag\", equals = \"a\"", true), ("header = \"X-Tag\", contains = \"c\"", true),
            ("header = \"X-Tag\", in = [\"c\", \"a\"]", true),
            ("header = \"X-Tag\", not_equals = \"a\"", false), ("header = \"X-None\", not_equals = \"a\"", true),
            ("header = \"X-None\", exists = false", true), ("header = \"X-Left\", exists = true", true),
            ("header = \"X-None\", exists = true", false),
        ] {
            #expect(try holds(test, "", headers: headers) == isMet, "\(test)")
        }
    }

    @Test func aTextIsLookedForInTheWholeBody() throws {
        #expect(try holds("contains = \"Rate limit\"", "Rate limit exceeded"))
        #expect(try holds("contains = \"Rate limit\"", #"{"a": {"b": "Rate limit"}}"#))
        #expect(try !holds("contains = \"Rate limit\"", "rate limit"))
        #expect(try !holds("contains = \"x\"", ""))
    }

    // In the order in which the manual has them, whatever the order of the file.
    @Test func whatSaysMoreOfAnAnswerComesFirst() throws {
        let keys = ["rate_limited_if", "retry_if", "ignore_if", "fail_if"]
        for first in keys.indices {
            let lines = keys[first...].reversed().map { "\($0) = [{ path = \"$.e\", exists = true }]" }.joined(separator: "\n")
            #expect(try verdict(lines, #"{"e": 1}"#)?.meaning.rawValue == keys[first])
        }
    }

    private static let messages: [(body: String, message: String?)] = [
        (#"{"e": 1, "m": "no light"}"#, "no light"), (#"{"e": 1, "m": 7}"#, "7"),
        (#"{"e": 1, "m": {"a": 1}}"#, #"{"a": 1}"#), (#"{"e": 1}"#, nil),
        (#"{"e": 1, "m": ""}"#, nil), (#"{"e": 1, "m": null}"#, nil),
    ]

    @Test(arguments: messages) func theMessageIsWhateverTheBodySays(body: String, message: String?) throws {
        let found = try #require(try verdict("fail_if = [{ path = \"$.e\", exists = true, message = \"$.m\" }]", body))
        #expect(found.message == message)
    }

    @Test func aMessageIsShownWithoutSecretsAndInOneLine() {
        let redactor = Redactor(secrets: ["hunter2-secret"])
        let long = AnswerVerdict(meaning: .fail, message: "\(String(repeating: "x", count: 290)) hunter2-secret \u{1B}[31m\n" + "y")
        let words = long.words(redactor)
        #expect(!words.contains("hunter") && !words.contains("\u{1B}") && words.unicodeScalars.count <= 301, "\(words)")
        #expect(AnswerVerdict(meaning: .fail).words(redactor).isEmpty)
    }

    @Test func nothingIsReadWhereNothingIsAsked() throws {
        let plain = AnswerJudge(Fixture.resource("https://a.example"))
        #expect(plain.isEmpty && !plain.readsBodies && plain.fields.isEmpty)
        #expect(plain.verdict(status: 500, headers: [:], values: nil, text: []) == nil)
    }
}
