import Testing

@testable import SyncConfiguration

@Suite struct TOMLReaderTests {
    private func parse(_ text: String) throws -> DocumentNode {
        var reader = TOMLReader(Array(text.utf8), file: "f", rank: 0)
        return try reader.read()
    }

    private func node(_ text: String, _ path: String...) throws -> DocumentNode {
        var node = try parse(text)
        for key in path {
            if let index = Int(key), let array = node.array {
                node = try #require(array.indices.contains(index) ? array[index] : nil)
            } else {
                node = try #require(node.table?[key])
            }
        }
        return node
    }

    @Test func linesAreKnownInEveryShapeOfTOML() throws {
        let text = """
            # comment with [brackets] = "x"
            a.b = 1
            long = \"\"\"
            [not.a.table]
            key = 1
            \"\"\"
            raw = '''
            x = 1'''
            list = [
              { n = 1 }, # comment ]
              { n = 2, m = 3 },
            ]
            ["quoted key".x]
            y = "a # b" # c
            [[t]]
            k = 1
            [[t]]
            k = 2
            [t.sub]
            z = 1
            [[t.inner]]
            w = 1
            """
        #expect(try node(text, "a", "b").place.line == 2)
        #expect(try node(text, "long").string == "[not.a.table]\nkey = 1\n")
        #expect(try node(text, "raw").string == "x = 1")
        #expect(try node(text, "list").place.line == 9)
        #expect(try node(text, "list", "1", "m").place.line == 11)
        #expect(try node(text, "quoted key", "x", "y").place.line == 14)
        #expect(try node(text, "t", "1").place.line == 17)
        #expect(try node(text, "t", "1", "k").place.line == 18)
        #expect(try node(text, "t", "1", "sub", "z").place.line == 20)
        #expect(try node(text, "t", "1", "inner", "0", "w").place.line == 22)
        #expect(try node(text, "t", "1", "inner", "0", "w").place.column == 1)
    }

    @Test(arguments: [
        ("0", 0), ("+7", 7), ("-17", -17), ("1_000", 1000), ("0xDEAD_beef", 0xDEAD_BEEF), ("0o755", 493), ("0b1010", 10),
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("-0", 0),
    ])
    func integersAreRead(text: String, value: Int64) throws {
        guard case .integer(value) = try node("x = \(text)", "x").value else { Issue.record("\(text)"); return }
    }

    @Test(arguments: [("1.0", 1.0), ("-0.01", -0.01), ("5e+22", 5e22), ("6.626e-34", 6.626e-34), ("1_0.0_1", 10.01), ("inf", .infinity)])
    func numbersAreRead(text: String, value: Double) throws {
        guard case .number(value) = try node("x = \(text)", "x").value else { Issue.record("\(text)"); return }
    }

    @Test(arguments: ["1979-05-27T07:32:00Z", "1979-05-27T00:32:00.999-07:00", "1979-05-27 07:32:00", "1979-05-27", "07:32:00.5"])
    func momentsAreRecognised(text: String) throws {
        guard case .moment(text) = try node("x = \(text)", "x").value else { Issue.record("\(text)"); return }
    }

    @Test func textsOfAllFourKindsAreRead() throws {
        #expect(try node(#"x = "a\tb\"\\\u00e9\U0001F600""#, "x").string == "a\tb\"\\é😀")
        #expect(try node(#"x = 'C:\dir'"#, "x").string == #"C:\dir"#)
        #expect(try node("x = \"\"\"\na\\\n   b\"\"\"", "x").string == "ab")
        #expect(try node("x = \"\"\"\"two\"\" and \"\"\"\"\"", "x").string == "\"two\"\" and \"\"")
        #expect(try node("x = ''''a''''", "x").string == "'a'")
        #expect(try node("x = \"\"", "x").string == "")
        #expect(try node("x = \"\"\"\"\"\"", "x").string == "")
        #expect(try node("x = \"\"\"\r\na\r\nb\"\"\"", "x").string == "a\r\nb")
        #expect(try node("\"ä b\".'c.d' = 1", "ä b", "c.d").place.line == 1)
    }

    @Test(arguments: [
        "x", "x =", "x = 01", "x = +0x1", "x = 1__0", "x = _1", "x = 1_", "x = 0x_1", "x = 1.", "x = .1", "x = 1.e1",
        "x = 9223372036854775808",
        "x = oops", "x = True", "x = \"a", "x = \"a\nb\"", "x = \"\\q\"", "x = \"\\uD800\"", "x = \"\\u12\"", "x = \"\\U00110000\"",
        "x = '''a",
        "x = \"\u{01}\"", "# \u{01}", "x = 1 y = 2", "x = [1 2]", "x = [1", "x = { a = 1", "x = { a = 1, }", "x = { a = 1\n }",
        "x = 1\nx = 2",
        "[a]\n[a]", "[a", "[[a]", "[]", "[a.]", "a. = 1", "= 1", "[a]\nb = 1\n[a.b]", "a = []\n[[a]]", "a = {}\n[a.b]", "[[a]]\n[a]",
        "[a]\n[[a]]",
        "[a.b]\n[[a]]", "a.b = 1\na.b.c = 2", "a = 1\na.b = 2", "[a.b.c]\n[a]\nb.c.d = 1", "[a]\nb.c = 1\n[a.b]", "x = { a.b = 1, a = 2 }",
        "x = {}\nx.a = 1",
        "x = 2001-02-30", "x = 25:00:00", "x = 2001-01-01T", "x = 07:32", "\"\"\"a\"\"\" = 1", "x = 1\ry = 2", "x = \"\"\"a\"\"\"\"\"\"",
        "é = 1",
        "x = 0b2", "x = 1e", "x = - 1", "x = 1979-05-27T07:32:00+7:00", "[a] b = 1", "x = \"\\ a\"", "x = \"\"\"\\ a\"\"\"",
        "a.\"b\n\" = 1", "x = inf1",
    ])
    func whatIsNotTOMLIsRefusedWithALineAndAColumn(text: String) throws {
        #expect {
            _ = try parse(text)
        } throws: { error in
            guard let error = error as? TOMLReader.SyntaxError else { return false }
            return error.line >= 1 && error.column >= 1 && !error.message.isEmpty && !error.suggestion.isEmpty
        }
    }

    @Test(arguments: [
        "", "\n\n", "# x", "a.b = 1\na.c = 2", "[a.b.c]\n[a]\nx = 1", "[a]\nb.c = 1\n[a.b.d]\nx = 1", "[[a]]\n[a.b]\n[[a]]\n[a.b]",
        "x = [\n 1, # c\n 2,\n]",
        "x = [[1], [\"a\"], {}]", "\"\" = 1", "1 = 2", "[ a . b ]", "x={a=1,b={c=[]}}", "x = 1 # é", "[[a.b]]\n[[a.b]]", "3.14 = 1",
        "a . b = 1",
    ])
    func whatIsTOMLIsTaken(text: String) throws {
        _ = try parse(text)
    }

    @Test func anUnquotedTextIsToldToBeQuoted() {
        #expect(errors("[daemon]\nname = me\n") == ["/c/cisternd.toml:2:8: syntax: \"me\" is not a value; write a text in quotes: \"me\""])
    }
}
