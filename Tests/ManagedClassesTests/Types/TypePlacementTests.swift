import Foundation
import Testing

@testable import ManagedClasses

/// What a name in a declaration stands for.
@Suite struct TypePlacementTests {
    private static let own = """
        class Person: NSManagedObject {
            enum Kind: Int16 { case a }
            typealias Age = Int16
            typealias Friends = Set<Person>
        }
        final class Child: Person { struct Toy {} }
        class Data {}
        extension Person { enum Mood: String { case good } }
        protocol Named {}
        typealias Category = Person.Kind
        typealias Loop = Loop2
        typealias Loop2 = Loop
        """
    private static let shared = "public enum Colour: Int { case red }\nenum Hidden { case a }\npublic protocol Tagged {}\n"
    private static let others = "public struct Colour {}\n"

    private func placed(_ text: String, in scope: [String] = ["Person"], imports: [String] = ["Foundation", "Shared"]) throws -> String {
        let own = ModuleTypes(module: "App", sources: [ManagedSourceScanner.scan(Self.own, path: "own.swift")])
        let shared = ModuleTypes(module: "Shared", sources: [ManagedSourceScanner.scan(Self.shared, path: "shared.swift")])
        let others = ModuleTypes(module: "Others", sources: [ManagedSourceScanner.scan(Self.others, path: "others.swift")])
        let placement = TypePlacement(
            own: own, dependency: { ["Shared": shared, "Others": others][$0] },
            hints: ["Far": SwiftNominal(module: "Away", path: [.init(name: "Far", kind: .enumeration)])])
        var parser = TypeParser(tokens: SwiftTokens(text).tokens, index: 0)
        let syntax = parser.type()
        let type = try placement.resolved(try #require(syntax), at: .init(scope: scope, imports: imports)).type
        var mangling = SwiftMangling()
        mangling.append(type)
        return String(mangling.symbol.dropFirst(2))
    }

    @Test func typesAreFoundAroundInheritedAndInTheModule() throws {
        #expect(try placed("Kind") == "3App6PersonC4KindO")
        #expect(try placed("Kind?", in: ["Child"]) == "3App6PersonC4KindOSg")
        #expect(try placed("Mood", in: ["Child"]) == "3App6PersonC4MoodO")
        #expect(try placed("Toy", in: ["Child"]) == "3App5ChildC3ToyV")
        #expect(try placed("Person.Kind", in: []) == "3App6PersonC4KindO")
        #expect(try placed("App.Person", in: []) == "3App6PersonC")
        #expect(try placed("Self") == "3App6PersonC")
    }

    @Test func theModulesOwnTypesComeBeforeFoundations() throws {
        #expect(try placed("Data") == "3App4DataC")
        #expect(try placed("Foundation.Data") == _mangledTypeName(Foundation.Data.self))
    }

    @Test func aliasesAreWhatTheyStandFor() throws {
        #expect(try placed("Age") == "s5Int16V")
        #expect(try placed("Friends") == "Shy3App6PersonCG")
        #expect(try placed("Category", in: []) == "3App6PersonC4KindO")
        #expect(try placed("TimeInterval") == "Sd")
        #expect(try placed("Codable") == _mangledTypeName((any Codable).self))
        #expect(throws: TypePlacement.Failure.self) { try placed("Loop") }
    }

    @Test func typesOfImportedModulesAreFoundIfTheyArePublic() throws {
        #expect(try placed("Colour") == "6Shared6ColourO")
        #expect(try placed("Shared.Colour?") == "6Shared6ColourOSg")
        #expect(try placed("(any Tagged)?") == "6Shared6Tagged_pSg")
        #expect(throws: TypePlacement.Failure.self) { try placed("Hidden") }
        #expect(throws: TypePlacement.Failure.self) { try placed("Colour", imports: []) }
        #expect(throws: TypePlacement.Failure.self) { try placed("Colour", imports: ["Shared", "Others"]) }
        #expect(try placed("Others.Colour", imports: ["Shared", "Others"]) == "6Others6ColourV")
    }

    @Test func whatSomebodySaidIsBelieved() throws { #expect(try placed("[Far]") == "Say4Away3FarOG") }

    @Test func theRuntimeKnowsTheLibraries() throws {
        #expect(try placed("Date") == _mangledTypeName(Date.self))
        #expect(try placed("Calendar.Component") == _mangledTypeName(Calendar.Component.self))
        #expect(try placed("[String: NSNumber]?") == _mangledTypeName([String: NSNumber]?.self))
        #expect(try placed("Set<UUID>") == _mangledTypeName(Set<UUID>.self))
        #expect(try placed("Any?") == _mangledTypeName(Any?.self))
        #expect(try placed("NSManagedObject") == "12OpenCoreData15NSManagedObjectC")
    }

    @Test func functionsAndTuplesFitNoAccessor() {
        for text in ["() -> Void", "(Int, Int)", "some Named"] { #expect(throws: TypePlacement.Failure.self) { try placed(text) } }
    }
}
