import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

/// The examples of the guide. Between `// snippet: name` and `// end` stands what the guide shows below `<!-- snippet: name -->`.
struct GuideTests {
    @Test func theExamplesDoWhatTheGuideSays() async throws {
        let library = try Library()
        let container = library.container
        try library.using { context throws in
            try context.importObjects(
                Author.self, from: [["id": 1, "name": "Ada", "age": 36], ["id": 2, "name": "Grace", "age": 85], ["id": 3, "age": 200]])
            try context.save()
            // snippet: finding
            let ada = try Author.findFirst(by: "id", value: 1, in: context)
            let old = try Author.findAll(where: "age > %@", 70, sortedBy: [.descending("age"), "name"], in: context)
            let oldest = try Author.maximum(of: "age", as: Int.self, in: context)
            let isKnown = try Author.exists(where: "name == %@", "Ada", in: context)
            // end
            #expect(ada?.name == "Ada")
            #expect(old.map(\.id) == [3, 2])
            #expect(oldest == 200)
            #expect(isKnown)
            // snippet: creating
            let tag = try Tag.findOrCreate(by: "name", value: "maths", in: context)
            let tags = try Tag.findOrCreate(by: "name", values: ["machines", "maths"], in: context)
            // end
            #expect(tags[1] === tag)
            let json = Data(#"[{"id": 1}, {"id": 2, "address": {"city": true}}]"#.utf8)
            var reports: [String] = []
            func report(_ line: String) { reports.append(line) }
            // snippet: importing
            do {
                try context.importObjects(Author.self, from: json)
            } catch let error as RecordError {
                // $[1].address.city: Author.city: true: is no text; give text or a number
                report(error.description)
            }
            // end
            #expect(reports == ["$[1].address.city: Author.city: true: is no text; give text or a number"])
        }
        // snippet: saving
        let count = try await container.save { context in
            try Author.deleteAll(where: "age > %@", 99, in: context)
        }
        // end
        #expect(count == 1)
    }

    @Test func theGuideShowsTheseExamples() throws {
        let file = URL(fileURLWithPath: #filePath)
        let package = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let guide = package.appendingPathComponent("Sources/OpenCoreDataConvenience/OpenCoreDataConvenience.docc/OpenCoreDataConvenience.md")
        let blocks = try Self.passages(guide, from: "<!-- snippet: ", " -->", to: "```").mapValues { $0.filter { $0 != "```swift" } }
        let examples = try Self.passages(file, from: "// snippet: ", "", to: "// end")
        #expect(!blocks.isEmpty)
        #expect(blocks == examples)
    }

    /// The lines of each named passage, without their common indentation.
    private static func passages(_ file: URL, from prefix: String, _ suffix: String, to end: String) throws -> [String: [String]] {
        var passages: [String: [String]] = [:]
        var open: String?
        for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
            let bare = line.trimmingCharacters(in: .whitespaces)
            if let name = open {
                if bare == end { open = nil } else { passages[name, default: []].append(line) }
            } else if bare.hasPrefix(prefix), bare.hasSuffix(suffix) {
                open = String(bare.dropFirst(prefix.count).dropLast(suffix.count))
            }
        }
        return passages.mapValues { lines in
            let depth = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
            return lines.map { String($0.dropFirst(depth)) }
        }
    }
}
