import Testing

@testable import JSONPaths

struct JSONPathTests {
    @Test(arguments: [
        ("$", "$"), ("", "$"), ("$.a.b", "$.a.b"), ("/a/b", "$.a.b"), ("$['a']['b']", "$.a.b"), (#"$["a"]"#, "$.a"),
        ("$.list[0].x", "$.list[0].x"), ("/list/0/x", "$.list[0].x"), ("$['3166-1']", "$['3166-1']"), ("/3166-1", "$['3166-1']"),
        ("$.3166-1", "$['3166-1']"), ("/a~1b/m~0n", "$['a/b']['m~n']"), ("/", "$['']"), ("/007", "$['007']"), ("/4217", "$[4217]"),
        (#"$['it\'s \\ here']"#, #"$['it\'s \\ here']"#), ("$.größe", "$.größe"), ("$._links.next", "$._links.next"),
        ("/99999999999999999999", "$['99999999999999999999']"), ("$['']", "$['']"), ("$.x-y_z", "$.x-y_z"), ("/x-y_z", "$.x-y_z"),
        ("$['full name']", "$['full name']"), ("$.n\u{303}b", "$.n\u{303}b"),
        ("/a//b", "$.a[''].b"), ("$['.']", "$['.']"),
    ])
    func aPathIsPrintedInItsCanonicalForm(text: String, canonical: String) throws {
        let path = try JSONPath(parsing: text)
        #expect(path.description == canonical)
        #expect(try JSONPath(parsing: path.description) == path)
    }

    @Test(arguments: [
        ("$.*", "$[*]"), ("$[*]", "$[*]"), ("$.groups[*].items", "$.groups[*].items"), ("$.data.*.rows[*]", "$.data[*].rows[*]"),
        ("$[*][*]", "$[*][*]"), ("$['a b'].*[0]", "$['a b'][*][0]"),
    ])
    func wildcardsStandWhereTheyAreAllowed(text: String, canonical: String) throws {
        let path = try JSONPath(parsing: text, allowsWildcards: true)
        #expect(path.hasWildcard && path.description == canonical)
        #expect(try JSONPath(parsing: path.description, allowsWildcards: true) == path)
        #expect(throws: JSONPathError.self) { try JSONPath(parsing: text) }
    }

    @Test func aKeyOfOneAsteriskIsNoWildcard() throws {
        for text in ["$['*']", "/*"] {
            let path = try JSONPath(parsing: text, allowsWildcards: true)
            #expect(!path.hasWildcard && path.segments == [.key("*")] && path.description == "$['*']")
        }
        #expect(try !JSONPath(parsing: "/a/*/b", allowsWildcards: true).hasWildcard)
    }

    @Test(arguments: [
        ("$.*a", 4, "expected \".\" or \"[\""), ("$[*", 2, "not closed"), ("$.a[*x]", 6, "expected \"]\""), ("$.*.", 5, "missing"),
        ("$[*,0]", 4, "a list"), ("$[*:1]", 4, "a slice"), ("$..*", 3, "the search"), ("$..a", 3, "the search"), ("$[?(@.*)]", 3, "a filter"),
    ])
    func whatIsWrongBesideAWildcardIsSaid(text: String, position: Int, part: String) {
        #expect {
            try JSONPath(parsing: text, allowsWildcards: true)
        } throws: { error in
            guard let error = error as? JSONPathError else { return false }
            return error.position == position && error.reason.contains(part)
        }
    }

    @Test func bothSpellingsOfAPathAreEqual() throws {
        #expect(try JSONPath(parsing: "/data/0/id") == JSONPath(parsing: "$.data[0]['id']"))
        #expect(try JSONPath(parsing: "$.a").segments == [.key("a")])
        #expect(JSONPath(keys: ["a"]).appending(.index(3)) == "$.a[3]")
    }

    @Test(arguments: [
        ("a.b", 1, "as in \"$.a.b\""), ("data", 1, "as in \"/data\""), ("two words", 1, "as in \"$.name\""), ("$a", 2, "expected"),
        ("$data", 2, "expected"), ("$.", 3, "missing"), ("$.a.", 5, "missing"), ("$[", 2, "not closed"), ("$[]", 3, "followed by an index"),
        ("$[1", 2, "not closed"), ("$['a", 3, "not closed"), ("$['a'", 2, "not closed"), ("$[01]", 3, "leading zeros"),
        ("$[a]", 3, "quoted key"), ("$['a\u{1}']", 5, "control characters"), ("/a\tb", 3, "control characters"), ("$['a'x]", 6, "expected \"]\""),
        (#"$['\n']"#, 5, "escape"), (#"$['\x']"#, 5, "escape"), ("/a~2", 4, "followed by"),
        ("/a~", 4, "followed by"), ("/-", 2, "never exists"), ("/a/-", 4, "never exists"), ("$.a b", 4, "expected"), ("$[4294967296]", 3, "larger"),
        ("$[9999999999]", 3, "larger"),
        ("$['a\\", 3, "not closed"),
    ])
    func whatIsWrongWithAPathIsSaidWithItsPlace(text: String, position: Int, part: String) {
        #expect {
            try JSONPath(parsing: text)
        } throws: { error in
            guard let error = error as? JSONPathError, case .malformed = error.problem else { return false }
            return error.position == position && error.reason.contains(part) && error.description.contains(text)
        }
    }

    @Test(arguments: [
        ("$.*", 3, "the wildcard \"*\""), ("$[*]", 3, "the wildcard \"*\""), ("$.a[*]", 5, "the wildcard \"*\""), ("$..a", 3, "the search \"..\""),
        ("$[-1]", 3, "counting from the end"), ("$[1:2]", 4, "a slice"), ("$[:2]", 3, "a slice"), ("$[?(@.a)]", 3, "a filter"),
        ("$[(@.a)]", 3, "a filter"), ("$[0,1]", 4, "a list"), ("$['a','b']", 6, "a list"),
    ])
    func theRestOfThePathLanguageIsNotInThisVersion(text: String, position: Int, what: String) {
        #expect(throws: JSONPathError(text: text, position: position, problem: .notInThisVersion("\(what) in a path"))) {
            try JSONPath(parsing: text)
        }
    }

    @Test func aMalformedLiteralTraps() async {
        let ended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let path: JSONPath = "$.*"
            print(path)
        }
        let said = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("Fatal error: JSON path \"$.*\", character 3: "))
    }
}
