import Testing

@testable import ManagedClasses

/// Words and literals, where one is easily taken for the other.
@Suite struct SwiftTokensTests {
    private func literals(_ text: String) -> [String] {
        let words = SwiftTokens(text)
        return words.tokens.filter { $0.kind == .literal }.map { words.text($0.range) }
    }

    @Test(arguments: [
        "x.reduce(8, /) // \"", "x.reduce(8, /) + y(z) / w // \"", "x.reduce(8, /)+y/w", "foo(/, /)", "f(x: /Foo.a, y: /Foo.b)",
        "[*, /].map { $0 / x }", "a! / b / c",
        "a!/b/c", "a?/b/c", "a/b/c", "f(x)/y/z", "`in`/b/c", "func /(a: A, b: A) -> A { a / b }", "func /+/(a: A) {}", "infix operator /-/",
        "a +/ b +/ c",
        "let r = / a/", "(/)", "try?/a", "a\n    / b / c",
    ])
    func aSlashIsAnOperatorWhereSwiftTakesItForOne(text: String) {
        // A number is a literal, too, and a mark of a string would begin one.
        #expect(literals(text).filter { $0.contains("/") } == [], "\(text)")
    }

    @Test(arguments: [
        ("foo(/,/)", "/,/"), ("a ? /x\"/ : b", "/x\"/"), ("let r = !/x\"/.f()", "/x\"/"), ("try /x\"/", "/x\"/"), ("try? /x\"/", "/x\"/"),
        ("throw /x\"/", "/x\"/"), ("if /x\"/.f() {}", "/x\"/"), ("[/x\"/: y]", "/x\"/"), ("a ?? /x\"/", "/x\"/"), ("a ~= /x\"/", "/x\"/"),
        ("f { /x\"/ }", "/x\"/"), ("f()\n/x\"/\n", "/x\"/"), ("g {}\n  /x\"/", "/x\"/"), ("= /a[(]b/", "/a[(]b/"), ("= /a\\)b/", "/a\\)b/"),
        ("= /a\\ /", "/a\\ /"), ("= /(a b)\\//", "/(a b)\\//"), ("case /a\"/:", "/a\"/"), ("= #/a\"/b/#", "#/a\"/b/#"), ("= #\"\"\"#", "#\"\"\"#"),
    ])
    func aSlashBeginsARegularExpressionWhereSwiftTakesItForOne(text: String, literal: String) {
        #expect(literals(text) == [literal], "\(text)")
    }

    @Test func expressionsOfABuilderStandInLinesOfTheirOwn() {
        #expect(literals("Regex {\n  /a\"b/\n  /c\"d/.f()\n  x\n  /e\"f/\n}") == ["/a\"b/", "/c\"d/", "/e\"f/"])
    }
}
