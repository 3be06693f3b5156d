@testable import ManagedClasses

/// A Swift source of many shapes, and the members with `@NSManaged` that are in it.
struct RandomSource {
    private struct Scope {
        var path: [String] = []
        var conditions: [String] = []
        var isExcluded = false
        /// The keyword of the type around it.
        var kind = "class"
        /// What an extension says for its members.
        var access: String?
        var depth = 0
    }

    private static let names = [
        "name", "open", "actor", "package", "final", "title", "`class`", "`default`", "größe", "type", "some", "a", "b2", "_x", "nonisolated", "lazy",
        "`extension`", "`operator`", "prefix", "async",
    ]
    private static let types = [
        "Int", "String?", "Date!", "Set<Book>", "[String: [Int]]?", "Outer.Inner", "Dictionary<String, Set<Outer.Inner>>", "(any NSCoding)?",
        "NSCoding & NSCopying", "Optional<Int>", "[Book]", "any P<Int>", "InlineArray<3, Int>", "[3 of Int]", "() -> Void", "(Int, String)",
        "(a: Int, b: @Sendable () async throws(E) -> Void)", "Any", "[any P.Type]",
    ]
    private static let inherited = [
        "NSManagedObject", "NSManagedObject, nonisolated Named", "NSManagedObject, ~Copyable", "Base<Int, [String]>", "Outer.Base",
        "@unchecked Sendable",
        "NSManagedObject, Named & Other", "Base<3, (Int) -> Int>", "@MainActor Named, @retroactive Other", "Base where T: Named, T.E == [Int]",
    ]
    /// Of conditions: what they are known to be.
    private static let conditions: [(text: String, value: Bool?)] = [
        ("DEBUG", nil), ("os(Linux)", true), ("os(macOS) || canImport(UIKit)", false), ("canImport(Probe) && !X", nil), ("!os(Linux)", false),
        ("compiler(>=6.0)", nil), ("(A || B) && canImport(ObjectiveC)", false), ("canImport(Foundation) || C", true),
    ]

    private var make: RandomExpressions
    private var number = 0
    private(set) var text = ""
    /// `Owner.name: type access [conditions]`
    private(set) var expected: [String] = []

    init(seed: UInt64) {
        make = RandomExpressions(random: SeededNumbers(state: seed))
        text = "import CoreData\n@preconcurrency internal import struct Foundation.Date\ninfix operator +/+ : Some\nprefix operator -/-\n"
        for _ in 0..<Int.random(in: 2...6, using: &make.random) { declaration(in: Scope()) }
        if make.happens(25) { text = text.replacing("\n", with: "\r\n") }
    }

    static func line(of member: ScannedSource.Member) -> String {
        let type: String
        switch member.form {
        case .property(_, let text): type = text
        case .method(let parameters, _, let result):
            type = "(" + parameters.map { "\($0.label ?? "_"): \($0.typeText)" }.joined(separator: ", ") + ")" + result
        }
        return "\((member.owner + [member.name]).joined(separator: ".")): \(type) \(member.access) \(member.conditions)"
    }

    private mutating func declaration(in scope: Scope) {
        switch Int.random(in: 0..<8, using: &make.random) {
        case 0, 1, 2: nominal(in: scope)
        case 3, 4: extending(scope)
        case 5: add("func free(`class`: Int = \(make.expression())) -> Int \(make.body())")
        case 6: add("let global\(next()): Int = \(make.expression())")
        default: branches(of: scope) { $0.declaration(in: $1) }
        }
    }

    private mutating func next() -> Int {
        number += 1
        return number
    }

    private mutating func add(_ lines: String) { text += lines + make.pick(["\n", "\n\n", "\n  " + make.comment() + "\n", " // }\n"]) }

    /// What may stand between two words.
    private mutating func gap() -> String { make.pick([" ", " ", " ", "\n  ", "  ", " /* { \" */ ", " // }\n  "]) }

    // MARK: Types

    private mutating func nominal(in scope: Scope) {
        let kind = make.pick(["class", "class", "class", "struct", "enum", "actor", "final class", "indirect enum", "nonisolated final class"])
        let access = make.pick(["", "public ", "private ", "open ", "@MainActor ", "@objc(Name) public "])
        let name = "T\(next())"
        let generics = make.pick(["", "", "<T>", "<T: Named & ~Copyable, let N: Int>", "<each T: Some<Int>>"])
        text += "\(access)\(kind) \(name)\(generics): \(make.pick(Self.inherited)) {\n"
        var inner = scope
        inner.path.append(name)
        inner.kind = String(kind.split(separator: " ").last ?? "")
        inner.access = nil
        members(of: inner)
        add("}")
    }

    private mutating func extending(_ scope: Scope) {
        var inner = scope
        inner.path = make.pick([["Away"], ["Away", "Inner"], ["T1"]])
        inner.access = make.pick([nil, nil, "public", "private", "internal"])
        let list = make.pick(["", ": nonisolated Named", ": @retroactive Named, Other", " where T: Named"])
        text += "\(inner.access.map { $0 + " " } ?? "")extension \(inner.path.joined(separator: "."))\(list) {\n"
        members(of: inner)
        add("}")
    }

    private mutating func members(of scope: Scope) {
        var scope = scope
        scope.depth += 1
        for _ in 0..<Int.random(in: 0...6, using: &make.random) { member(of: scope) }
    }

    private mutating func member(of scope: Scope) {
        switch Int.random(in: 0..<24, using: &make.random) {
        case 0, 1, 2, 3: managedProperties(of: scope)
        case 4: managedMethod(of: scope)
        case 5 where scope.depth < 4: nominal(in: scope)
        case 6 where scope.depth < 4: branches(of: scope) { $0.members(of: $1) }
        case 7: add("\(make.pick(["", "private ", "static ", "lazy "]))var v\(next()): [Int]? = \(make.expression())")
        case 8: add("let \(make.pick(["open", "actor", "v"]))\(next()) = \(make.pick(["open", "actor", "package", "final", "1...", "x!"]))")
        case 9:
            add(
                "\(make.pick(["", scope.kind == "class" ? "class " : "static ", "override open ", "@objc "]))func f\(next())<T>(_ a: Int = \(make.expression())) async throws -> T where T: Named \(make.body())"
            )
        case 10: add("var v\(next()): Int {\n  get \(make.body())\n  set \(make.body())\n  }")
        case 11: add("subscript(class index: Int) -> Int \(make.body())")
        case 12: add("\(make.pick(["init()", "convenience init?(import: Int)"])) \(make.body())")
        case 13: add("static func \(make.pick(["/", "+/+", "==", "-/-", "<"])) (l: Int, r: Int) -> Int \(make.body())")
        case 14:
            add(
                scope.kind == "enum"
                    ? make.pick(["case open, final", "case actor(Int = 1), `class`", "case a = \"}\"", "case package"])
                    : "typealias A\(next()) = [Int: (Int) -> Void]")
        case 15: add("let c\(next()): (Int, Int) -> Int = \(make.pick(["(/)", "{ a, b in a / b }", "(+)"]))")
        case 16:
            text += "#if canImport(ObjectiveC)\n@objc(name)\n#endif\n"
            managedProperties(of: scope)
        case 17: add("var v\(next()): [Int] = \(make.expression()) {\n  willSet \(make.body())\n  didSet(open) \(make.body())\n  }")
        case 18: add("let v\(next()) = {\n  class Local: Base { @NSManaged var fake: Int }\n  return \(make.expression())\n  }()")
        case 19: add("let v\(next()) = x\n    / y / z\n    + (\(make.expression()))\n    .class.f()")
        case 20: add("#Some(class: \(make.expression())) { class Fake { @NSManaged var fake: Int } }")
        case 21: add("protocol P\(next()): AnyObject { associatedtype A: Named; var x: Int { get set }; func f(class: Int) }")
        case 22: add("var `a } b\(next())`: Set<Int>? = x as? Set<Int> // \"")
        default: add(make.comment())
        }
    }

    // MARK: Members

    private mutating func modifiers(_ scope: Scope) -> (text: String, access: String) {
        let access: String? = make.pick([nil, nil, "public", "private", "fileprivate", "internal", "open", "package"])
        var attributes = ["@NSManaged"], words = access.map { [$0] } ?? []
        if make.happens(20) { attributes.append(make.pick(["@objc(some)", "@available(macOS 10, *)", "@MainActor", "@Some.Other<Int>(of: \"}\")"])) }
        if make.happens(20) { words.append(make.pick(["final", "dynamic", "override", "nonisolated(unsafe)", "private(set)", "weak"])) }
        let list = (attributes.shuffled(using: &make.random) + words.shuffled(using: &make.random)).map { $0 + gap() }.joined()
        return (list, access ?? scope.access ?? "internal")
    }

    private mutating func name() -> (written: String, said: String) {
        let base = make.pick(Self.names)
        // A keyword in backticks is a name as it is; others are told apart by a number.
        let written = base.hasPrefix("`") || make.happens(50) ? base : "\(base)\(next())"
        return (written, written.replacing("`", with: ""))
    }

    private mutating func managedProperties(of scope: Scope) {
        let (list, access) = modifiers(scope)
        var parts: [String] = []
        for _ in 0..<make.pick([1, 1, 1, 2, 3]) {
            let names = (0..<make.pick([1, 1, 1, 2])).map { _ in name() }, type = make.pick(Self.types)
            parts.append(names.map(\.written).joined(separator: "," + gap()) + make.pick([":", " :"]) + gap() + type)
            for name in names { expect(name.said, type, access, scope) }
        }
        add("\(list)var\(gap())\(parts.joined(separator: "," + gap()))\(make.pick(["", ";", "; func g() { }"]))")
    }

    private mutating func managedMethod(of scope: Scope) {
        let (list, access) = modifiers(scope), name = name()
        let parameters = (0..<make.pick([0, 1, 2])).map { _ in (label: make.pick(["_", "at", "in", "with"]), type: make.pick(Self.types)) }
        let written = parameters.map { "\($0.label)\(gap())p\(next()):\(gap())\($0.type)" }.joined(separator: ", ")
        let result = make.pick(["", "", "Bool", "[Int]?"])
        add("\(list)func\(gap())\(name.written)(\(written))\(result.isEmpty ? "" : " -> \(result)")")
        expect(name.said, "(" + parameters.map { "\($0.label): \($0.type)" }.joined(separator: ", ") + ")" + result, access, scope)
    }

    private mutating func expect(_ name: String, _ type: String, _ access: String, _ scope: Scope) {
        guard !scope.isExcluded else { return }
        expected.append("\((scope.path + [name]).joined(separator: ".")): \(type) \(access) \(scope.conditions)")
    }

    // MARK: Conditions

    private mutating func branches(of scope: Scope, _ content: (inout RandomSource, Scope) -> Void) {
        var earlier: [String] = [], wasTaken = false
        for index in 0..<Int.random(in: 1...3, using: &make.random) {
            let isElse = index > 0 && make.happens(50), condition = make.pick(Self.conditions)
            text += isElse ? "#else\n" : "\(index == 0 ? "#if" : "#elseif") \(condition.text)\(make.pick(["", " // }", "  "]))\n"
            var inner = scope
            inner.depth += 1
            inner.conditions += earlier.map { "!(\($0))" } + (isElse ? [] : [condition.text])
            inner.isExcluded = scope.isExcluded || wasTaken || (!isElse && condition.value == false)
            content(&self, inner)
            if isElse { break }
            earlier.append(condition.text)
            wasTaken = wasTaken || condition.value == true
        }
        text += "#endif\n"
    }
}
