/// Expressions and statements in which much looks like what it isn't: braces, quotes and declarations in literals, slashes, keywords as names.
struct RandomExpressions {
    var random: SeededNumbers

    private static let fakes = ["@NSManaged var fake: Int", "}", "{", "class Fake {", ")", "(", "#if X", "#endif", "/*", "*/", "//", "extension A {"]

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }
    mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// What stands in a literal or a comment, and declares nothing. Without a quote.
    mutating func fake() -> String { (0...Int.random(in: 0...2, using: &random)).map { _ in pick(Self.fakes) }.joined(separator: " ") }

    mutating func comment() -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: "// \(pick(["}", "{", "\"", "/*", "@NSManaged var fake: Int", "#if X"])) \n"
        case 1: "/* \(pick(["}", "{", "\"", "// ", "class Fake {", "\n@NSManaged var fake: Int\n"])) */"
        default: "/* /* { */ \" \n */"
        }
    }

    private mutating func string(_ depth: Int) -> String {
        // Swift ends an interpolation without a look at regular expressions.
        var inner = depth > 0 ? expression(depth - 1) : "x"
        if inner.contains("/") || inner.contains("\n") { inner = "(x / y) / z" }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return "\"\(fake())\""
        case 1: return "\"\\\" \(fake()) \\\\\""
        case 2: return "\"a\\(\(inner))b \(fake())\""
        case 3: return "#\"\" \\( \(fake()) \\#(\(inner)) \"#"
        case 4: return "\"\"\"\n\(fake()) \"\" \" \\\"\"\" \\(\(inner)) \\\n  \(fake())\n\"\"\""
        case 5: return "##\"\"\"\n\(fake()) \"\"\" \"\"\"# \\#(\n\"\"\"##"
        default: return pick(["#\"\"\"#", "\"\"", "#\"\\\"#", "##\"\"#\"##"])
        }
    }

    private mutating func pattern() -> String {
        pick([
            "/a\"b/", "/[{}\"]+/", "/(a|\"b\\/)/", "#/ } \" / /#", "/\\{/", "/a[)(]\"/", "##/ \"/# {/##", "/x{2}/", "/\\)\"/", "#/\n  } \" { \n/#",
        ])
    }

    /// One that begins in this line, with a value at its end.
    mutating func expression(_ depth: Int = 2) -> String {
        guard depth > 0 else { return pick(["x", "1", "open", "actor", "package", "0x1F", "1_0.5e3", "`class`", "self", "nil"]) }
        let one = expression(depth - 1), other = expression(depth - 1)
        switch Int.random(in: 0..<22, using: &random) {
        case 0, 1, 2: return string(depth)
        case 3: return "f(\(pattern()), \(other))"
        case 4: return "(\(one) / \(other) / x)"
        case 5: return "x.reduce(8, /)"
        case 6: return "f(/, y) / x"
        case 7: return "f((+), (/), *, /).count / 2"
        case 8: return "(x! / y / z)"
        case 9: return "(x!/y/z)"
        case 10: return "(x ? \(pattern()) : \(pattern()))"
        case 11: return "try? \(pattern()).f()"
        case 12: return "\\Some.class.extension"
        case 13: return ".class(\(one))"
        case 14: return "x.import.struct[\(one)]"
        case 15: return "{ (class: Int) in \(one) }(\(other))"
        case 16: return "f(class: \(one), extension: \(other)) { \(one) } struct: { \(other) }"
        case 17: return "[\(one): \(other)]"
        case 18: return "(\(one), in: \(other))"
        case 19: return "(x < y && z > \(pattern()).w)"
        case 20: return "x as! [Set<Int>]"
        default: return "(1...)"
        }
    }

    mutating func statement() -> String {
        let value = expression()
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return "let a = \(value)"
        case 1: return "if x < y { _ = \(value) } else { \(pattern()).f() }"
        case 2: return "switch x { case \(pattern()): f() default: break }"
        case 3: return "class Local: Base { @NSManaged var fake: Int; func g() { _ = \(value) } }"
        case 4: return "#if X\n  f(\(value))\n  #else\n  g()\n  #endif"
        case 5: return "_ = Regex {\n  \(pattern())\n  \(pattern()).f()\n  x\n  /end\"/\n  }"
        case 6: return "for x in [\(value)] where x > 1 { f() }"
        case 7: return "guard let x else { return }"
        case 8: return comment() + "\n  f()"
        default: return "_ = \(value)"
        }
    }

    mutating func body() -> String {
        "{\n" + (0...Int.random(in: 0...2, using: &random)).map { _ in "  \(statement())\n" }.joined() + "  }"
    }
}
