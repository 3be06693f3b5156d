import Testing

@testable import SyncConfiguration

@Suite struct TextTransformTests {
    private func text(_ attribute: String) -> String {
        """
        version = 1
        [[source]]
        name = "a"
        url = "https://a.example/items"
        entity = "Item"
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64", optional = false }
        value = \(attribute)
        """
    }

    private func problems(_ attribute: String) -> [String] {
        let files = ConfigurationTexts(["/cisternd.toml": text(attribute)])
        do {
            _ = try ConfigurationReader(path: "/cisternd.toml", files: files).configuration()
            return []
        } catch {
            return "\(error)".split(separator: "\n").map(String.init)
        }
    }

    @Test func textsBecomeWhatTheWordsSay() {
        let cases: [(String, String, String?)] = [
            ("trim", " \t\u{A0}a b\r\n", "a b"), ("trim", " \n", ""), ("lower", "ÀÉİ", "ÀÉİ".lowercased()), ("upper", "straße", "STRASSE"),
            ("empty-to-null", "", nil), ("empty-to-null", " ", " "), ("truncate:2", "abc", "ab"), ("truncate:2", "e\u{301}👩‍👩‍👧x", "e\u{301}👩‍👩‍👧"),
            ("truncate:5", "abc", "abc"),
        ]
        for (word, before, after) in cases { #expect(TextTransform(word)?(before) == after, "\(word) of \(before)") }
        for word in ["trim", "lower", "upper", "empty-to-null", "truncate:255"] { #expect(TextTransform(word)?.description == word) }
        for word in ["", "Trim", "truncate", "truncate:", "truncate:0", "truncate:-1", "truncate:1000001", "unix-ms"] {
            #expect(TextTransform(word) == nil, "\(word)")
        }
    }

    @Test func oneWordOrSeveralAreTaken() throws {
        #expect(problems("{ type = \"string\", transform = \"trim\", max = \"64KiB\" }") == [])
        #expect(problems("{ type = \"int32\", transform = [\"trim\", \"empty-to-null\"] }") == [])
        #expect(problems("{ type = \"uri\", transform = [\"lower\", \"truncate:10\"], max = \"1B\" }") == [])
    }

    @Test(arguments: [
        ("{ type = \"json\", transform = \"trim\" }", "JSON is kept as it is"),
        ("{ type = \"int32\", transform = [\"trim\", \"lower\"] }", "\"lower\" is for texts, and the type is int32"),
        ("{ type = \"date\", transform = \"unix-ms\" }", "times are read by the format of a date"),
        ("{ type = \"string\", transform = \"truncate\" }", "write truncate: and how many characters stay"),
        ("{ type = \"string\", transform = \"trimm\" }", "did you mean \"trim\"?"),
        ("{ type = \"int64\", max = \"8B\" }", "values of the type int64 have no length"),
        ("{ type = \"string\", max = \"0B\" }", "out of range"),
    ])
    func whatMakesNoSenseIsRefusedWithARemedy(attribute: String, words: String) {
        let problems = problems(attribute)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }
}
