import Foundation
import Testing

@testable import ManagedClasses

/// Imports of generated sources beside those of the target: the compiler has to take both, without a warning.
@Suite struct ImportListTests {
    private static let model = """
        <entity name="Animal" representedClassName="Animal" codeGenerationType="class">
            <attribute name="name" attributeType="String"/>%
        </entity>
        """

    /// Compiles a module of one source, a model's classes and a dependency `Shared`.
    private func check(_ source: String, model: String? = nil, options: [String] = []) throws {
        let compiler = try #require(SwiftCompiler.found)
        let shared = "public enum Colour: Int { case red }\n"
        let fixture = try ClassesFixture(["Source.swift": source], model: model, modules: ["Shared": shared])
        try StubLibrary.build(with: compiler, in: fixture.folder)
        try compiler.build("Shared", ["Shared/Shared.swift"], in: fixture.folder.url)
        try fixture.folder.write(try fixture.generated(module: "Model").get(), to: "Generated.swift")
        try compiler.compile(
            options + [
                "-typecheck", "-I", ".", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-package-name", "p",
                "-enable-upcoming-feature", "MemberImportVisibility", "-module-name", "Model", "Source.swift", "Generated.swift",
            ], in: fixture.folder.url)
    }

    @Test(
        .enabled(if: SwiftCompiler.found != nil, "no swiftc was found"),
        arguments: [[], ["-enable-upcoming-feature", "InternalImportsByDefault"]],
        ["internal import", "import", "package import", "private import", "fileprivate import", "public import", "@preconcurrency import"])
    func modulesAreImportedAsTheTargetImportsThem(options: [String], word: String) throws {
        // The class and its members are as visible as the imports let them be.
        let access = word.hasPrefix("public") ? "public " : word.hasPrefix("package") ? "package " : ""
        let isOfFile = ["private", "fileprivate"].contains { word.hasPrefix($0) }
        let library = isOfFile ? "internal import CoreData\ninternal import Foundation" : "\(word) CoreData\n\(word) Foundation"
        let member = isOfFile ? "private " : access
        try check(
            """
            \(library)
            \(word) Shared
            \(access)class P: NSManagedObject {
                @NSManaged \(member)var colour: Colour
                @NSManaged \(member)var born: Date?
                @NSManaged var name: String
            }
            """, options: options)
    }

    @Test(
        .enabled(if: SwiftCompiler.found != nil, "no swiftc was found"),
        arguments: [[], ["-enable-upcoming-feature", "InternalImportsByDefault"]], ["internal import", "import"])
    func publicClassesAreSeenByWhoeverSeesTheirModule(options: [String], word: String) throws {
        for attribute in ["", "<attribute name=\"born\" attributeType=\"Date\"/>"] {
            try check(
                "\(word) CoreData\n\(word) Foundation\nfunc f() -> Date { Date() }\nclass P: NSManagedObject { @NSManaged var a: Int }\n",
                model: Self.model.replacing("%", with: attribute), options: options)
        }
    }

    @Test(.enabled(if: SwiftCompiler.found != nil, "no swiftc was found"))
    func anImportThatOneFileLimitsIsLimitedInTheGeneratedOne() throws {
        // Not the file with the members says it.
        let fixture = try ClassesFixture([
            "A.swift": "internal import CoreData\n",
            "B.swift": "internal import CoreData\nimport Foundation\nclass P: NSManagedObject { @NSManaged var a: Int }\n",
            "C.swift": "private import Foundation\n",
        ])
        let text = try fixture.generated().get()
        #expect(text.contains("\ninternal import CoreData\ninternal import Foundation\n"))
    }

    @Test func anImportUnderAConditionStaysUnderIt() throws {
        let fixture = try ClassesFixture([
            "A.swift": "import CoreData\n#if A\nimport Probe\n#endif\nclass P: NSManagedObject { @NSManaged var a: Int }\n",
            "B.swift": "import CoreData\n#if B\nimport Probe\n#endif\nclass Q: NSManagedObject { @NSManaged var a: Int }\n",
        ])
        #expect(
            try fixture.generated().get().contains("import Foundation\nimport CoreData\n#if A\nimport Probe\n#endif\n#if B\nimport Probe\n#endif\n"))
    }
}
