import JSONPaths
import Testing

@testable import SyncConfiguration

/// Secrets in the body of a POST.
@Suite struct BodySecretReadingTests {
    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    private static let key = "auth = { kind = \"api-key\", in = \"body\", name = \"/auth/key\", value = { credential = \"k\" } }"

    @Test func aKeyMayStandInABody() throws {
        let resource = try configuration(itemSource + "method = \"POST\"\njson = { q = \"a\" }\n" + Self.key).sources[0].resources[0]
        #expect(resource.authentication == .apiKey(.init(name: "/auth/key", in: .body, value: .credential("k"))))
        // An empty text keeps the place.
        _ = try configuration(itemSource + "method = \"POST\"\njson = { auth = { key = \"\" } }\n" + Self.key)
        _ = try configuration(itemSource + "method = \"POST\"\njson = {}\n" + Self.key)
        _ = try configuration(itemSource + "method = \"POST\"\nform = { token = \"\" }\n" + Self.key.replacing("/auth/key", with: "token"))
        let form = try configuration(
            itemSource + "method = \"POST\"\nform = { \"auth[token]\" = \"\", q = [1, 2] }\n" + Self.key.replacing("/auth/key", with: "auth[token]"))
        #expect(
            form.sources[0].resources[0].body
                == .form([.init(name: "auth[token]", value: ""), .init(name: "q", value: "1"), .init(name: "q", value: "2")]))
    }

    @Test func aSessionsTokenMayStandInABody() throws {
        let lines = """
            method = "POST"
            json = { method = "item.get" }
            auth = { kind = "session", login = { path = "/login", form = { p = { credential = "p" } } }, token_path = "$.t", send_as = { in = "body", name = "/auth" } }
            """
        guard case .session(let session) = try configuration(itemSource + lines).sources[0].resources[0].authentication else {
            Issue.record("no session")
            return
        }
        #expect(session.sendAs.place == .body && session.sendAs.name == "/auth" && session.sendAs.prefix.isEmpty)
    }

    @Test func fieldsAreMergedByTheirPlaces() throws {
        let text =
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://api.example.com"
                method = "POST"
                json = { q = 1 }
                secret_fields = { "/a" = { credential = "a" }, "/b" = { credential = "b" } }
                [[source.resource]]
                name = "r"
                path = "/items"
                entity = "Item"
                secret_fields = { "/b" = { credential = "own" } }
                [[source.resource]]
                name = "plain"
                path = "/plain"
                entity = "Item"
                method = "GET"
                """
        let resources = try configuration(text).sources[0].resources
        #expect(
            resources[0].secretFields == [
                SecretField(name: "/a", value: .secret(.credential("a"))), SecretField(name: "/b", value: .secret(.credential("own"))),
            ])
        #expect(resources[0].secrets == [.credential("a"), .credential("own")])
        // What sends nothing has no place for them.
        #expect(resources[1].secretFields.isEmpty && resources[1].body == nil)
    }

    private static let refused: [(lines: String, message: String)] = [
        (key, "a secret in the body needs a request that has one"),
        ("method = \"POST\"\n\(key)", "a secret in the body needs a request that has one"),
        ("secret_fields = { a = { credential = \"x\" } }", "a secret in the body needs a request that has one"),
        ("method = \"POST\"\njson = { auth = { key = \"x\" } }\n\(key)", "\"/auth/key\" has a value in the body as well"),
        ("method = \"POST\"\njson = { auth = 1 }\n\(key)", "the body has no place \"/auth/key\""),
        ("method = \"POST\"\nform = { a = 1 }\n\(key)", "a form has no places such as \"/auth/key\""),
        (
            "method = \"POST\"\njson = {}\npages = { kind = \"cursor\", path = \"$.next\", in = \"body\", param = \"/auth\" }\n\(key)",
            "which says what page is meant, are one place"
        ),
        (
            "method = \"POST\"\njson = {}\nsecret_fields = { \"/auth\" = { credential = \"x\" } }\n\(key)",
            "are one place, or one is inside of the other"
        ),
        ("method = \"POST\"\njson = {}\nsecret_fields = { \"/a~2\" = { credential = \"x\" } }", "is not a path"),
        (
            "method = \"POST\"\njson = {}\nauth = { kind = \"api-key\", in = \"body\", value = { credential = \"k\" } }",
            "\"name\" is missing; in = \"body\""
        ),
        (key.replacing("in = \"body\"", with: "in = \"header\""), "\"/auth/key\" is not the name of a header"),
        (
            "auth = { kind = \"api-key\", name = \"auth[token]\", value = { credential = \"k\" } }",
            "\"auth[token]\" is not the name of a header"
        ),
        ("method = \"POST\"\nform = { token = \"hunter2\" }", "write secret_fields = { \"token\" = { credential = \"ID\" } }"),
        ("method = \"POST\"\nform = { token = [\"\", \"hunter2\"] }", "write secret_fields = { \"token\" = { credential = \"ID\" } }"),
        ("method = \"POST\"\njson = { token = \"hunter2\" }", "write secret_fields = { \"/token\" = { credential = \"ID\" } }"),
        ("query = \"{ a }\"\nrecords = \"$.data\"\nvariables = { token = \"hunter2\" }", "write secret_fields = { \"/variables/token\" ="),
    ]

    @Test(arguments: refused) func whatHasNoPlaceIsRefused(lines: String, message: String) {
        let found = problem(lines)
        #expect(found.contains(message) && !found.contains("hunter2"), "\(found)")
    }

    @Test func aSecretItselfIsRefused() {
        let found = problem("method = \"POST\"\njson = {}\nsecret_fields = { \"/a\" = \"hunter2\" }")
        #expect(found.contains("may not contain a secret") && !found.contains("hunter2"))
    }
}
