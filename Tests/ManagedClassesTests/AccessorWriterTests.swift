import Foundation
import Testing

@testable import ManagedClasses

/// Accessors behind `@NSManaged`: the compiler and the linker have to take them.
@Suite struct AccessorWriterTests {
    /// What generated code calls, over a dictionary.
    private static let library = """
        import Foundation
        open class NSManagedObject: NSObject {
            public var values: [String: Any] = [:]
            public final func managedValue<V>(forProperty name: StaticString) -> V { values[name.description] as! V }
            public final func setManagedValue<V>(_ value: V, forProperty name: StaticString) { values[name.description] = value }
            public final func managedPrimitiveValue<V>(forProperty name: StaticString) -> V { values[name.description] as! V }
            public final func setManagedPrimitiveValue<V>(_ value: V, forProperty name: StaticString) { values[name.description] = value }
            public final func addManagedMembers(_ m: Any, toProperty n: StaticString) { values["call"] = "add \\(n)" }
            public final func removeManagedMembers(_ m: Any, fromProperty n: StaticString) { values["call"] = "remove \\(n)" }
            public final func removeManagedMember(fromProperty n: StaticString, at i: Int) { values["call"] = "remove \\(n) at \\(i)" }
            public final func insertManagedMember(_ m: NSManagedObject, intoProperty n: StaticString, at i: Int) { values["call"] = "insert \\(n)" }
            public final func insertManagedMembers(_ m: Any, intoProperty n: StaticString, at i: NSIndexSet) { values["call"] = "insert \\(n)s" }
            public final func removeManagedMembers(fromProperty n: StaticString, at i: NSIndexSet) { values["call"] = "remove \\(n)s" }
            public final func replaceManagedMember(ofProperty n: StaticString, at i: Int, with m: NSManagedObject) { values["call"] = "replace" }
            public final func replaceManagedMembers(ofProperty n: StaticString, at i: NSIndexSet, with m: Any) { values["call"] = "replace \\(n)s" }
        }
        """

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
            @NSManaged var age: Age, weight: Double
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
                (info, primitiveName) = (["a": [1]], "p")
                insertIntoList(self, at: 0)
                removeFromList(at: IndexSet(integer: 1))
                hidden += 1
                return "\\(hidden) \\(kind) \\(maybe as Any) \\(age) \\(weight) \\(self.default) \\(note!) \\(info!.count) \\(primitiveName!)"
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
        try fixture.folder.write(Self.library, to: "Library.swift")
        try fixture.folder.write("@_exported import OpenCoreData\n", to: "CoreData.swift")
        try fixture.folder.write(Self.program, to: "main.swift")
        try fixture.folder.write(try fixture.generated(module: "Model").get(), to: "Accessors.swift")
        func build(_ module: String, _ files: [String]) throws {
            try compiler.compile(
                options + [
                    "-I", ".", "-parse-as-library", "-emit-module", "-emit-library", "-static", "-package-name", "p", "-module-name", module, "-o",
                    "lib\(module).a",
                ]
                    + files, in: folder)
        }
        try build("OpenCoreData", ["Library.swift"])
        try build("CoreData", ["CoreData.swift"])
        try build("Model", ["Person.swift", "Accessors.swift"])
        try compiler.compile(options + ["-I", ".", "main.swift", "-L", ".", "-lModel", "-lCoreData", "-lOpenCoreData", "-o", "program"], in: folder)
        let output = try SwiftCompiler.run(folder.appending(path: "program"), [], in: folder)
        #expect(output == "Ada!? boss B boss B 1 add Friends 0.0\n8 foe nil 40 2.5 true n 1 p\n")
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
    }

    @Test func aPrivateClassIsOutOfReach() throws {
        let fixture = try ClassesFixture(["P.swift": "import CoreData\nprivate class P: NSManagedObject { @NSManaged var a: Int }"])
        #expect(fixture.complaints.first?.hasPrefix("P.swift:2: the class P is private") == true)
    }

    @Test func aModuleWithoutAnythingStillCompiles() throws {
        #expect(try ClassesFixture(["A.swift": "let a = 1\n"]).generated().get().hasSuffix("import Foundation\nimport CoreData\n"))
    }
}
