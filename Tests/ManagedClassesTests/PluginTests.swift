import Foundation
import Testing

/// The plugins in a package, as SwiftPM runs them.
@Suite(.enabled(if: ScratchPackage.isPossible, "no swift was found, or no opencoredata-classes beside these tests")) struct PluginTests {
    private func model(_ attribute: String) -> String {
        """
        <model><entity name="Book" representedClassName="Book" codeGenerationType="class">
            <attribute name="\(attribute)" attributeType="String"/>
        </entity></model>
        """
    }

    private func package() throws -> ScratchPackage {
        let package = try ScratchPackage()
        try package.write("public enum Genre: Int { case crime }\n", to: "Sources/Common/Shared.swift")
        // No part of the target: what it declares is not meant.
        try package.write("public struct Genre {}\n", to: "Sources/Common/Private.swift")
        try package.write("public enum Colour: Int { case red }\n", to: "Other/Sources/Other.swift")
        try package.write(model("title"), to: "Sources/Built/Library.xcdatamodel/contents")
        try package.write(
            "import CoreData\nimport Other\nimport Shared\nclass Shelf: NSManagedObject { @NSManaged var genre: Genre; @NSManaged var colour: Colour }\n",
            to: "Sources/Built/Shelf.swift")
        try package.write(model("title"), to: "Sources/Committed/Library.xcdatamodel/contents")
        try package.write("import CoreData\nfunc title(of book: Book) -> String? { book.title }\n", to: "Sources/Committed/Title.swift")
        return package
    }

    @Test func whatChangedIsGeneratedAgainAndNothingElse() throws {
        let package = try package()
        try package.run("build", "--target", "Built")
        let first = try package.generated()
        #expect(first.text.contains("var title: String?") && first.text.contains("6Shared5GenreOvg") && first.text.contains("5Other6ColourOvg"))

        try package.run("build", "--target", "Built")
        #expect(try package.generated().written == first.written)

        try package.write(model("subtitle"), to: "Sources/Built/Library.xcdatamodel/contents")
        try package.run("build", "--target", "Built")
        #expect(try package.generated().text.contains("var subtitle: String?"))

        // A dependency of the same package, and one of another.
        try package.write("public struct Genre {}\n", to: "Sources/Common/Shared.swift")
        try package.write("public struct Colour {}\n", to: "Other/Sources/Other.swift")
        try package.run("build", "--target", "Built")
        let last = try package.generated()
        #expect(last.text.contains("6Shared5GenreVvg") && last.text.contains("5Other6ColourVvg"))
    }

    @Test func aRefusalStopsTheBuildAtItsLine() throws {
        let package = try package()
        try package.write("import CoreData\nclass Shelf: NSManagedObject {\n    @NSManaged var a: () -> Void\n}\n", to: "Sources/Built/Shelf.swift")
        let failure = #expect(throws: SwiftCompiler.Failure.self) { try package.run("build", "--target", "Built") }
        #expect(failure?.description.contains("Sources/Built/Shelf.swift:3:20: error: a: no accessor can have the type () -> Void") == true)
    }

    @Test func classesToCommitAreWrittenBesideTheSources() throws {
        let package = try package(), path = "Sources/Committed/ManagedClasses.generated.swift"
        func generate() throws -> String {
            try package.run("package", "--allow-writing-to-package-directory", "generate-managed-classes", "--target", "Committed")
        }
        #expect(try generate().contains(path))
        let first = try package.text(path)
        #expect(first.contains("public class Book: NSManagedObject {}") && first.contains("var title: String?"))
        // What it wrote itself is no class that somebody wrote.
        _ = try generate()
        #expect(try package.text(path) == first)
        try package.run("build", "--target", "Committed")

        try package.write("class Book {}\n", to: "Sources/Committed/Book.swift")
        #expect(throws: SwiftCompiler.Failure.self) { try generate() }
        #expect(try package.text(path) == first)
    }
}
