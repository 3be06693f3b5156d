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
        #expect(
            found.imports.map(\.text) == ["import CoreData", "@preconcurrency public import Foundation", "import struct Shared.Kind", "import Probe"])
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
