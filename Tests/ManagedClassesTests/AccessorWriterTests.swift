import Foundation
import Testing

@testable import ManagedClasses

/// Accessors behind `@NSManaged`: the compiler and the linker have to take them.
@Suite struct AccessorWriterTests {
    private static let person = """
        import CoreData
        import Foundation

        public protocol Named { var name: String { get set } }

        open class Person: NSManagedObject, Named {
            public enum Kind: Int16, Sendable { case friend, foe }
            public typealias Age = Int32

            @NSManaged public var name: String
            @NSManaged open var nick: String?
            @NSManaged public internal(set) var born: Date?
            @NSManaged private var hidden: Int16
            @NSManaged var kind: Kind
            @NSManaged package var maybe: Kind?
            @NSManaged public var age: Age, weight, height: Double
            @NSManaged var `default`: Bool
            @NSManaged var note: String!
            @NSManaged public var friends: Set<Person>?
            @NSManaged var info: [String: [Any]]?
            @NSManaged fileprivate var primitiveName: String?
            @NSManaged public func addToFriends(_ value: Person)
            @NSManaged public func addToFriends(_ values: NSSet)
            @NSManaged func insertIntoList(_ value: Person, at idx: Int)
            @NSManaged func insertIntoList(_ values: [Person], at indexes: NSIndexSet)
            @NSManaged func removeFromList(at idx: Int)
            @NSManaged func removeFromList(at indexes: IndexSet)
            @NSManaged func replaceList(at idx: Int, with value: Person)
            @NSManaged public func addFriendsObject(_ value: Person)
        #if PROBE
            // managed-type: struct Away.Missing
            @NSManaged var probe: Missing
        #endif

            public func everything() -> String {
                (hidden, kind, maybe, age, weight, self.default, note) = (7, .foe, nil, 40, 2.5, true, "n")
                height = 1.5
                (info, primitiveName) = (["a": [1]], "p")
                insertIntoList(self, at: 0)
                removeFromList(at: IndexSet(integer: 1))
                hidden += 1
                return "\\(hidden) \\(kind) \\(maybe as Any) \\(age) \\(weight + height) \\(self.default) \\(note!) \\(info!.count) \\(primitiveName!)"
            }
        }
        final class Größe: Person { @NSManaged var Maß: Decimal; @NSManaged public var inner: Größe? }
        """

    private static let program = """
        import Foundation
        import Model
        import OpenCoreData

        final class Boss: Person { override var nick: String? { get { "boss " + (super.nick ?? "") } set { super.nick = newValue } } }
        func call<T: Named>(_ one: inout T) { one.name += "!" }

        var person = Person()
        person.name = "Ada"
        call(&person)
        person[keyPath: \\Person.name] += "?"
        let boss: Person = Boss()
        boss.nick = "B"
        person.friends = [boss]
        person.addToFriends(boss)
        person.values["born"] = Date(timeIntervalSince1970: 0) as Date?
        print(person.name, boss.nick!, boss[keyPath: \\Person.nick]!, person.friends!.count, person.values["call"]!, person.born!.timeIntervalSince1970)
        print(person.everything())
        """

    @Test(
        .enabled(if: SwiftCompiler.found != nil, "no swiftc was found"),
        arguments: [["-Onone"], ["-O", "-wmo", "-enable-default-cmo"], ["-Onone", "-sanitize=address", "-swift-version", "6"]])
    func everyAccessorLinksThatAHandWrittenClassNeeds(options: [String]) throws {
        let compiler = try #require(SwiftCompiler.found)
        let fixture = try ClassesFixture(["Person.swift": Self.person]), folder = fixture.folder.url
        try fixture.folder.write(Self.program, to: "main.swift")
        try fixture.folder.write(try fixture.generated(module: "Model").get(), to: "Accessors.swift")
        try StubLibrary.build(with: compiler, options: options, in: fixture.folder)
        try compiler.build("Model", ["Person.swift", "Accessors.swift"], options: options, in: folder)
        try compiler.compile(options + ["-I", ".", "main.swift", "-L", ".", "-lModel", "-lCoreData", "-lOpenCoreData", "-o", "program"], in: folder)
        let output = try SwiftCompiler.run(folder.appending(path: "program"), [], in: folder)
        #expect(output == "Ada!? boss B boss B 1 add Friends 0.0\n8 foe nil 40 4.0 true n 1 p\n")
    }

    /// Builds a module of one source against the library, and what is generated for it.
    private func build(_ source: String, options: [String] = []) throws {
        let compiler = try #require(SwiftCompiler.found), fixture = try ClassesFixture(["Source.swift": source])
        try StubLibrary.build(with: compiler, in: fixture.folder)
        try fixture.folder.write(try fixture.generated(module: "Model").get(), to: "Accessors.swift")
        let options =
            options + ["-I", ".", "-L", ".", "-lCoreData", "-lOpenCoreData", "-swift-version", "6", "-warnings-as-errors", "-package-name", "p"]
        try compiler.compile(options + ["-module-name", "Model", "Source.swift", "Accessors.swift", "-o", "program"], in: fixture.folder.url)
    }

    private static let branches = """
        import CoreData
        import Foundation
        #if PROBE
        typealias Code = Int
        #else
        typealias Code = String
        #endif
        final class `Type`: NSManagedObject {
        #if PROBE
            @NSManaged var a, b: Int
            @NSManaged var code: Code
        #else
            @NSManaged var a, b: Int
            @NSManaged var code: Code
        #endif
        #if DEBUG
            @NSManaged var c: Int
        #elseif PROBE
            @NSManaged var c: String
        #else
            @NSManaged var c: Int
        #endif
        }
        @main struct Program {
            static func main() {
                let one = `Type`()
                (one.a, one.b, one.c, one.code) = (one.a, one.b, one.c, one.code)
            }
        }
        """

    @Test(.enabled(if: SwiftCompiler.found != nil, "no swiftc was found"), arguments: [[], ["-DPROBE"], ["-DDEBUG"], ["-DDEBUG", "-DPROBE"]])
    func aPropertyInSeveralBranchesHasItsAccessorInEach(options: [String]) throws {
        try build(Self.branches, options: options + ["-parse-as-library"])
    }

    @Test func aTypeThatIsAnotherInEachBranchIsRefusedOutsideOfThem() throws {
        let types = "#if PROBE\ntypealias Code = Int\n#else\ntypealias Code = String\n#endif"
        let complaint = try #require(try complaint("@NSManaged var a: Code", types: types))
        #expect(complaint.hasPrefix("P.swift:8: a: Code is another in each branch of an #if"))
        #expect(complaint.hasSuffix("declare a in the same branches as Code"))
        let same = "#if PROBE\nenum Kind: Int { case a }\n#else\nenum Kind: Int { case b }\n#endif"
        #expect(try self.complaint("@NSManaged var a: Kind", types: same) == nil)
    }

    @Test(arguments: [
        ("private enum Kind: Int { case a }", "Kind", "Kind is private"),
        ("fileprivate enum Kind: Int { case a }", "[String: Set<Kind>]", "Kind is fileprivate"),
        ("private struct Outer { enum Kind: Int { case a } }", "Outer.Kind?", "Outer.Kind is private"),
        ("private extension P { enum Kind: Int { case a } }", "Kind", "P.Kind is private"),
        ("private typealias Kind = Int", "Kind", "Kind is private"),
    ])
    func aPrivateTypeIsOutOfReach(type: String, text: String, what: String) throws {
        #expect(
            try complaint("@NSManaged private var kind: \(text)", types: type)
                == "P.swift:4: kind: the type \(what), and accessors are in another file; make it internal")
    }

    @Test func aPrivateTypeOfAnotherFileIsNotMeant() throws {
        let fixture = try ClassesFixture([
            "A.swift": "private enum Data { case a }\n", "P.swift": "import CoreData\nclass P: NSManagedObject { @NSManaged var a: Data }\n",
        ])
        #expect(fixture.complaints.isEmpty)
        #expect(try !fixture.generated().get().contains("3App4Data"))
    }

    @Test func anExtensionMayNameItsClassInAnyWay() throws {
        let fixture = try ClassesFixture([
            "P.swift": """
            import CoreData
            class P: NSManagedObject {}
            typealias Q = P
            extension App.P { enum Kind: Int { case a }; @NSManaged var a: Kind }
            extension Q { @NSManaged var b: Int }
            """
        ])
        #expect(fixture.complaints.isEmpty)
        let text = try fixture.generated().get()
        #expect(text.contains("\"$s3App1PC1aAC4KindOvg\"") && text.contains("\"$s3App1PC1bSivg\""))
    }

    private func complaint(_ members: String, types: String = "") throws -> String? {
        let fixture = try ClassesFixture(["P.swift": "import CoreData\n\(types)\nclass P: NSManagedObject {\n    \(members)\n}\n"])
        return fixture.complaints.first
    }

    @Test func aTypeThatCantBePlacedIsAnErrorAtItsLine() throws {
        let complaint = try #require(try complaint("@NSManaged var a: Unheard?"))
        #expect(complaint.hasPrefix("P.swift:4: a: what Unheard is can't be seen in the sources of App"))
        #expect(complaint.hasSuffix("// managed-type: enum SomeModule.Unheard"))
        #expect(try self.complaint("@NSManaged var a: Unheard?", types: "// managed-type: enum Away.Unheard") == nil)
        #expect(try self.complaint("@NSManaged var a: Int", types: "// managed-type: Unheard")?.hasPrefix("P.swift:2: managed-type says") == true)
    }

    @Test func aMethodThatCoreDataDoesntMakeIsRefused() throws {
        #expect(try complaint("@NSManaged func frobnicate(_ value: P)")?.contains("frobnicate(_:) is no accessor that Core Data makes") == true)
        #expect(try complaint("@NSManaged func address(_ value: P)")?.contains("is no accessor") == true)
        #expect(try complaint("@NSManaged func addToX(_ value: P) -> Bool")?.contains("no accessor returns Bool") == true)
        #expect(try complaint("@NSManaged var a: () -> Void")?.contains("no accessor can have the type () -> Void") == true)
        #expect(try complaint("@NSManaged var a: (Int, String)")?.contains("give it one that a property of a model has") == true)
        #expect(try complaint("@NSManaged var (a, b): (Int, Int)")?.contains("write \"@NSManaged var name: Type\" for each") == true)
    }

    @Test func aPrivateClassIsOutOfReach() throws {
        let fixture = try ClassesFixture(["P.swift": "import CoreData\nprivate class P: NSManagedObject { @NSManaged var a: Int }"])
        #expect(fixture.complaints.first?.hasPrefix("P.swift:2: the class P is private") == true)
    }

    @Test func aModuleWithoutAnythingStillCompiles() throws {
        #expect(try ClassesFixture(["A.swift": "let a = 1\n"]).generated().get().hasSuffix("import Foundation\nimport CoreData\n"))
    }
}
