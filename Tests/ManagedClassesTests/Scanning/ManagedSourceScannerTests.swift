import Testing

@testable import ManagedClasses

/// Which declarations are found in a source, and which aren't.
@Suite struct ManagedSourceScannerTests {
    private func scan(_ text: String) -> ScannedSource { ManagedSourceScanner.scan(text, path: "Sources/App/Person.swift") }

    /// `Owner.name` of what is declared with `@NSManaged`.
    private func members(_ text: String) -> [String] { scan(text).members.map { ($0.owner + [$0.name]).joined(separator: ".") } }

    private func typeText(_ text: String) -> String? {
        guard case .property(_, let type)? = scan("class P { @NSManaged var a: \(text)\n}").members.first?.form else { return nil }
        return type
    }

    @Test func classesExtensionsAndNestedTypesHaveMembers() {
        let text = """
            import CoreData
            public class Person: NSManagedObject {
                @NSManaged public var name: String?
                enum Kind: Int16 { case a, b
                    final class Inner: NSManagedObject { @NSManaged var x: Int } }
                @NSManaged var kind: Kind; @NSManaged var other: Kind
            }
            extension Person { @NSManaged public func addToBooks(_ value: Book) }
            extension Person.Kind.Inner {
                @NSManaged
                public
                var y: Date?
            }
            """
        #expect(members(text) == ["Person.name", "Person.Kind.Inner.x", "Person.kind", "Person.other", "Person.addToBooks", "Person.Kind.Inner.y"])
        #expect(scan(text).types.map { $0.path.joined(separator: ".") } == ["Person", "Person.Kind", "Person.Kind.Inner"])
    }

    @Test func commentsStringsAndBodiesDeclareNothing() {
        let text = ##"""
            #!/usr/bin/swift
            // class A: B { @NSManaged var a: Int }
            /* class A { /* nested */ @NSManaged var b: Int } */
            class P: NSManagedObject {
                let text = "class A { @NSManaged var c: Int } \(f("}", { "{" })) \""
                let long = """
                    } @NSManaged var d: Int "" \(x + """
                    } inner {
                    """)
                    """
                let raw = #"\" @NSManaged var e: Int } \#(g("}"))"#
                let pattern = #/ } " /#
                let bare = /"}/
                let ratio = a / b / c; func f() { class Local { @NSManaged var g: Int } }
                var computed: Int { get { 1 } set { } }
                subscript(class: Int) -> Int { 0 }
                class func make() -> P { P() }
                static var shared: P = { P() }()
                func use(import: Int, extension: Int) { self.class.extension }
                @NSManaged var real: Int
            }
            """##
        #expect(members(text) == ["P.real"])
        #expect(scan(text).types.map(\.path) == [["P"]])
        #expect(scan(text).complaints.isEmpty)
    }

    @Test func attributesAndModifiersMayStandInAnyOrder() {
        let text = """
            class P: NSManagedObject {
                @available(macOS 10, *) @NSManaged @objc(bar) public private(set) dynamic var a: Int
                public @NSManaged var b: Int
                @MainActor
                // a comment
                @NSManaged /* another */ nonisolated(unsafe) final var c: Int, d: [String: Int]
                @NSManaged var `default`: Bool
                open @NSManaged func addToBooks(_ value: Book)
                @NSManaged private var e: Int
            }
            private extension P { @NSManaged var f: Int; @NSManaged public var g: Int }
            """
        #expect(members(text) == ["P.a", "P.b", "P.c", "P.d", "P.default", "P.addToBooks", "P.e", "P.f", "P.g"])
        #expect(scan(text).members.map(\.access) == [.public, .public, .internal, .internal, .internal, .open, .private, .private, .public])
    }

    @Test func typesAreReadToTheirEnd() {
        let texts = [
            "String", "String?", "Set<Book>", "[String: [Int]]?", "Outer.Inner", "Dictionary<String, Set<Outer.Inner>>", "(any NSCoding)?",
            "NSCoding & NSCopying", "Foundation.Date!", "Optional<Int>", "() -> Void", "(Int, String)", "[Book]",
        ]
        for text in texts { #expect(typeText(text) == text) }
    }

    @Test(arguments: [
        "nonisolated Named", "~Copyable", "@unchecked Sendable", "@retroactive Named", "@MainActor Named", "@preconcurrency Named", "any Named",
        "Base<Int>", "Base<[String: Set<Int>]>.Inner", "Base<3, -1>", "Base<[3 of Int]>", "Named & Other", "@isolated(any) Named",
        "Base<(Int) -> Void>",
        "Named where T: ~Copyable, T.Element == [Int]", "Base<each T>", "nonisolated(unsafe) Named", "+++ Named", "[Int]", "(Named)", "some Named",
    ])
    func whatAClassInheritsHidesNoClass(text: String) {
        for list in [text, "NSManagedObject, \(text)", "\(text), NSManagedObject"] {
            let found = scan("class P: \(list) {\n @NSManaged var a: Int }\nextension P: \(list) { @NSManaged var b: Int\n }\nclass Q: P {}")
            #expect(found.members.map(\.name) == ["a", "b"], "\(list)")
            #expect(found.types.map(\.path) == [["P"], ["Q"]], "\(list)")
        }
        let superclasses = scan("class P: \(text), Last {}").types.first?.inherited ?? []
        #expect(text.contains("where") || superclasses.last == ["Last"])
    }

    @Test func severalPropertiesMayStandBehindOneVar() {
        let text = """
            class P: NSManagedObject {
                @NSManaged var a, b: Int
                @NSManaged public var c: Int, d: String
                @NSManaged private var e, f: [Int: Int], g: Date?, h,
                    `i`: Set<P>
            }
            """
        #expect(members(text) == ["P.a", "P.b", "P.c", "P.d", "P.e", "P.f", "P.g", "P.h", "P.i"])
        let types = scan(text).members.map { if case .property(_, let type) = $0.form { type } else { "" } }
        #expect(types == ["Int", "Int", "Int", "String", "[Int: Int]", "[Int: Int]", "Date?", "Set<P>", "Set<P>"])
        #expect(scan("class P { @NSManaged var a, b }").complaints.count == 2)
        #expect(scan("class P { @NSManaged var (a, b): (Int, Int) }").complaints.count == 1)
    }

    @Test func wordsThatAreKeywordsSometimesMayBeNames() {
        let text = """
            class P: NSManagedObject {
                static let range = 1...
                @NSManaged var a: Int
                let value = open
                @NSManaged var b: Int
                let other: Thing = actor
                var package = package
                @NSManaged var c: Int
                enum Kind { case open, final
                    case actor
                    class Inner: NSManagedObject { @NSManaged var d: Int } }
                let sum: (Int, Int) -> Int = +
                open class Last: NSManagedObject { @NSManaged open var e: Int }
                @unsafe @Some.Other<Int>(of: 1) @NSManaged var f: Int
            }
            infix operator +-+
            prefix operator -
            public class Q: P { @NSManaged var g: Int }
            """
        #expect(members(text) == ["P.a", "P.b", "P.c", "P.Kind.Inner.d", "P.Last.e", "P.f", "Q.g"])
        #expect(scan(text).types.map(\.access) == [.internal, .internal, .internal, .open, .public])
        #expect(scan(text).members.map(\.access) == [.internal, .internal, .internal, .internal, .open, .internal, .internal])
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func linesMayEndInAnyWay(end: String) {
        let text = [
            "// managed-type: struct Away.Missing", "class P: NSManagedObject {", "  let a = \"\"\"", "   } \"\" \\", "   \"\"\" // x",
            "  @NSManaged var a: Missing",
            "#if X // y", "  @NSManaged var b: Int", "#endif", "}",
        ].joined(separator: end)
        let found = scan(text)
        #expect(found.hints.map(\.text) == [" struct Away.Missing"] && found.hints.map(\.place.line) == [1])
        #expect(found.members.map(\.place.line) == [6, 8] && found.members.map(\.conditions) == [[], ["X"]])
    }

    @Test func conditionsAreKeptOrKnown() {
        let text = """
            class P: NSManagedObject {
            #if canImport(UIKit)
                @NSManaged var image: UIImage?
            #elseif DEBUG && !RELEASE
                @NSManaged var probe: Int
            #else
                @NSManaged var plain: Int
            #endif
            #if os(macOS) || os(iOS)
                @NSManaged var apple: Int
            #else
                @NSManaged var linux: Int
            #endif
            #if os(Linux)
                @NSManaged var here: Int
            #else
                @NSManaged var there: Int
            #endif
            #if canImport(ObjectiveC)
                @objc(Inner)
            #endif
                @NSManaged var last: Int
            }
            """
        let found = scan(text)
        #expect(found.members.map(\.name) == ["probe", "plain", "linux", "here", "last"])
        #expect(found.members[0].conditions == ["!(canImport(UIKit))", "DEBUG && !RELEASE"])
        #expect(found.members[1].conditions == ["!(canImport(UIKit))", "!(DEBUG && !RELEASE)"])
        #expect(found.members.last?.conditions == [])
    }

    @Test func placesAreThoseOfTheNames() {
        let found = scan("/* a\nb */ class P: NSManagedObject {\n\n    @NSManaged public var name: Int\n}")
        #expect(found.members.first?.place == .init(file: "Sources/App/Person.swift", line: 4, column: 27))
    }

    @Test func importsAreAsTheyAreWritten() {
        let found = scan("import CoreData\n@preconcurrency public import Foundation\nimport struct Shared.Kind\n#if DEBUG\nimport Probe\n#endif\n")
        #expect(found.imports.map(\.what) == ["CoreData", "Foundation", "struct Shared.Kind", "Probe"])
        #expect(found.imports.map(\.attributes) == [[], ["@preconcurrency"], [], []] && found.imports.map(\.access) == [nil, .public, nil, nil])
        #expect(found.imports.map(\.module) == ["CoreData", "Foundation", "Shared", "Probe"])
        #expect(found.imports.last?.conditions == ["DEBUG"])
    }

    @Test(arguments: [
        "class P { @NSManaged var a }", "class P { @NSManaged func f<T>(_ t: T) }", "class P { @NSManaged func addToA(_ a: A) throws }",
        "@NSManaged var a: Int", "class P { @NSManaged init() }",
    ])
    func whatNoAccessorCanBeIsComplainedOf(text: String) {
        #expect(scan(text).complaints.count == 1)
        #expect(scan(text).complaints.first?.description.hasPrefix("Sources/App/Person.swift:1:") == true)
    }

    @Test func noSourceIsTooBrokenToBeRead() {
        let text = """
            class P: NSManagedObject { @NSManaged public var name: Set<Book>?; let s = "a\\(b)c"; #if X\n @NSManaged func addToX(_ v: [Int], at i: Int) \n#endif }
            extension P.Q { typealias A = B }
            import struct Foo.Bar
            """
        let bytes = Array(text.utf8)
        for count in 0...bytes.count { _ = scan(String(decoding: bytes[..<count], as: UTF8.self)) }
        for index in bytes.indices {
            for byte in "\"{}()<>#/*@:\\`\n".utf8 {
                var broken = bytes
                broken[index] = byte
                _ = scan(String(decoding: broken, as: UTF8.self))
            }
        }
    }
}
