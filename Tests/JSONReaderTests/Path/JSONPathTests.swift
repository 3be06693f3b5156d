import JSONReader
import Testing

struct JSONPathTests {
    @Test(arguments: [
        ("$", "$"), ("", "$"), ("$.a.b", "$.a.b"), ("/a/b", "$.a.b"), ("$['a']['b']", "$.a.b"), (#"$["a"]"#, "$.a"),
        ("$.list[0].x", "$.list[0].x"), ("/list/0/x", "$.list[0].x"), ("$['3166-1']", "$['3166-1']"), ("/3166-1", "$['3166-1']"),
        ("$.3166-1", "$['3166-1']"), ("/a~1b/m~0n", "$['a/b']['m~n']"), ("/", "$['']"), ("/007", "$['007']"), ("/4217", "$[4217]"),
        (#"$['it\'s \\ here']"#, #"$['it\'s \\ here']"#), ("$.größe", "$.größe"), ("$._links.next", "$._links.next"),
        ("/99999999999999999999", "$['99999999999999999999']"), ("$['']", "$['']"), ("/a//b", "$.a[''].b"), ("$['.']", "$['.']"),
    ])
    func aPathIsPrintedInItsCanonicalForm(text: String, canonical: String) throws {
        let path = try JSONPath(parsing: text)
        #expect(path.description == canonical)
        #expect(try JSONPath(parsing: path.description).description == canonical)
    }

    @Test func bothSpellingsOfAPathAreEqual() throws {
        #expect(try JSONPath(parsing: "/data/0/id") == JSONPath(parsing: "$.data[0]['id']"))
        #expect(try JSONPath(parsing: "$.a").segments == [.key("a")])
        #expect(JSONPath(keys: ["a"]).appending(.index(3)) == "$.a[3]")
    }

    @Test(arguments: [
        ("a.b", 1, "starts with"), ("$a", 2, "expected"), ("$.", 3, "missing"), ("$..a", 3, "not supported in this version"),
        ("$.*", 3, "not supported in this version"), ("$.a[*]", 5, "not supported in this version"), ("$[?(@.a)]", 3, "not supported"),
        ("$[-1]", 3, "not supported in this version"), ("$[1:2]", 4, "not supported in this version"), ("$['a','b']", 6, "list of paths"),
        ("$[]", 3, "not supported in this version"), ("$[1", 2, "not closed"), ("$['a", 3, "not closed"), ("$[01]", 3, "leading zeros"),
        ("$[a]", 3, "quoted key"), ("$['a'x]", 6, "expected \"]\""), (#"$['\n']"#, 5, "escape"), ("/a~2", 4, "followed by"),
        ("/a~", 4, "followed by"), ("/-", 2, "never exists"), ("$.a b", 4, "expected"), ("$[4294967296]", 3, "larger"),
        ("$['a\\", 3, "not closed"),
    ])
    func whatIsWrongWithAPathIsSaidWithItsPlace(text: String, position: Int, part: String) {
        #expect {
            try JSONPath(parsing: text)
        } throws: { error in
            guard let error = error as? JSONPathError else { return false }
            return error.position == position && error.reason.contains(part) && error.description.contains(text)
        }
    }

    @Test func aMalformedLiteralTraps() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let path: JSONPath = "$.*"
            print(path)
        }.trap(says: "JSON path \"$.*\", character 3: ")
    }
}
