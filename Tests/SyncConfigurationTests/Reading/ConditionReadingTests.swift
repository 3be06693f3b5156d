import JSONPaths
import Testing

@testable import SyncConfiguration

/// `rate_limited_if`, `retry_if`, `ignore_if` and `fail_if`.
@Suite struct ConditionReadingTests {
    private func resource(_ lines: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> ResourceConfiguration {
        try configuration(itemSource + lines, sourceLocation: sourceLocation).sources[0].resources[0]
    }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    private func condition(
        _ meaning: AnswerCondition.Meaning, _ subject: AnswerCondition.Subject = .status, _ tests: ValueTest..., statuses: [ClosedRange<Int>] = [],
        message: JSONPath? = nil
    ) -> AnswerCondition {
        var condition = AnswerCondition(meaning)
        (condition.subject, condition.tests, condition.statuses, condition.message) = (subject, tests, statuses, message)
        return condition
    }

    @Test func thereAreNoneUnlessTheFileSaysSo() throws {
        #expect(try resource("").conditions.isEmpty)
        #expect(try resource("fail_if = []").conditions.isEmpty)
    }

    // In the order in which they are asked.
    @Test func aConditionIsWhatTheFileSays() throws {
        let lines = """
            fail_if = [
              { path = "$.ok", equals = false, message = "/error" },
              { path = "$.code", not_equals = 0, exists = true },
            ]
            ignore_if = [{ status = [400, "4xx"], path = "$.e", in = ["a", 2, 2.5] }]
            retry_if = [{ contains = "try again" }]
            rate_limited_if = [{ status = 403, header = "X-Left", equals = 0 }, { status = "4xx" }]
            """
        #expect(
            try resource(lines).conditions == [
                condition(.rateLimited, .header("X-Left"), .equals(.integer(0)), statuses: [403...403]),
                condition(.rateLimited, statuses: [400...499]),
                condition(.retry, .text, .contains("try again")),
                condition(.ignore, .path("$.e"), .isAmong([.text("a"), .integer(2), .number(2.5)]), statuses: [400...400, 400...499]),
                condition(.fail, .path("$.ok"), .equals(.boolean(false)), message: "$.error"),
                condition(.fail, .path("$.code"), .exists(true), .notEquals(.integer(0))),
            ])
    }

    @Test func aTableOfItsOwnIsOneOfTheList() throws {
        let lines = "[[source.fail_if]]\npath = \"$.ok\"\nequals = false\n[[source.fail_if]]\ncontains = \"x\"\n"
        #expect(try resource(lines).conditions.map(\.subject) == [.path("$.ok"), .text])
    }

    @Test func theListOfAResourceTakesThePlaceOfItsSources() throws {
        let text =
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://api.example.com"
                fail_if = [{ path = "$.ok", equals = false }]
                retry_if = [{ path = "$.state", equals = "busy" }]
                [[source.resource]]
                name = "a"
                path = "/a"
                entity = "Item"
                [[source.resource]]
                name = "b"
                path = "/b"
                entity = "Item"
                fail_if = []
                retry_if = [{ contains = "x" }]
                """
        let reading = read(text), resources = try #require(reading.configuration).sources[0].resources
        #expect(resources[0].conditions.map(\.meaning) == [.retry, .fail])
        #expect(resources[1].conditions.map(\.subject) == [.text])
        // Where it comes from is said of what is inherited, too.
        let settings = try #require(reading.resolved).settings.filter { $0.key == "fail_if" || $0.key == "retry_if" }
        #expect(settings.allSatisfy { $0.origin != .builtIn } && settings.count == 3, "\(settings)")
    }

    // What is shown can be read again.
    @Test func whatIsShownIsWhatWasRead() throws {
        let lines = [
            "fail_if = [{ status = [200, \"4xx\"], path = \"$['a b'].c\", exists = true, equals = \"x\\\"y\", not_equals = 1.5, in = [true, 2], contains = \"z\", message = \"$.m\" }]",
            "retry_if = [{ header = \"X-A\", exists = false }, { contains = \"a, b\" }]", "ignore_if = [{ status = 404 }]",
        ]
        let reading = read(itemSource + lines.joined(separator: "\n"))
        let shown = try #require(reading.resolved).settings.filter { $0.key.hasSuffix("_if") }.map { "\($0.key) = \($0.value)" }
        #expect(shown.count == 3)
        let again = try resource(shown.joined(separator: "\n")), first = try #require(reading.configuration).sources[0].resources[0]
        #expect(again.conditions == first.conditions && first.conditions.count == 4)
    }

    // As in empty_statuses.
    @Test func whatSaysSomethingElseCannotBeIgnored() throws {
        for (status, found) in [
            ("401", "401"), ("[404, 429]", "429"), ("[\"4xx\", 407]", "407"), ("408", "408"), ("503", "503"), ("\"5xx\"", "\"5xx\""),
        ] {
            let message = problem("ignore_if = [{ status = \(status), path = \"$.a\", exists = true }]")
            #expect(message.contains("\(found) says something else than that there are no records") && message.contains("remove it"), "\(message)")
            #expect(try resource("retry_if = [{ status = \(status), path = \"$.a\", exists = true }]").conditions.count == 1)
        }
    }

    @Test(arguments: [
        ("{ path = \"$.ok\", equals = false }", "expected a list of conditions", "write it in brackets"),
        ("[{ path = \"$.ok\" }]", "nothing is asked of the path", "write exists = true"),
        ("[{ header = \"X\" }]", "nothing is asked of the header", "write exists = true"),
        ("[{ equals = 1 }]", "equals: nothing says of what", "write path"),
        ("[{ message = \"$.a\" }]", "it does not say what to look at", "write path"),
        ("[{}]", "it does not say what to look at", "write path"),
        ("[{ path = \"$.a\", header = \"X\", equals = 1 }]", "header and path cannot be used together", "write two conditions"),
        ("[{ path = \"$\", exists = true }]", "path: \"$\" is all of it", "write a path such as"),
        ("[{ path = \"$.a\", exists = false, equals = 1 }]", "what is not there has no value", "remove exists = false"),
        ("[{ path = \"$.a\", equal = 1 }]", "unknown key \"equal\"", "did you mean \"equals\"?"),
        ("[{ status = 304 }]", "304 is no status that a condition can be about", "write a status"),
        ("[{ status = 200, contains = \"x\" }, { status = \"3xx\" }]", "condition 2: status: expected a status", "write a status"),
        ("[{ path = \"$.a[*]\", exists = true }]", "is not in this version", ""),
        ("[{ path = \"$.a\", matches = \"x\" }]", "\"matches\" is not in this version", ""),
    ]) func whatMakesNoSenseIsRefusedWithARemedy(value: String, message: String, remedy: String) {
        let found = problem("fail_if = \(value)")
        #expect(found.contains("fail_if") && found.contains(message) && found.contains(remedy), "\(found)")
    }
}
