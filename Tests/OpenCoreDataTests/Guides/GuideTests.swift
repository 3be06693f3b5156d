import Foundation
import Testing

/// The guides' examples are the tests' own lines: what is printed there compiles, runs and is checked.
///
/// In a test file an example stands between `// snippet: name` and `// end`. In a guide, the line `<!-- snippet: name -->` stands above the
/// fence of the block that shows it.
@Suite struct GuideTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalogue = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/OpenCoreData/OpenCoreData.docc", isDirectory: true)

    struct Passage: Equatable {
        let name: String
        let text: String
        let place: String
    }

    private static func files(in folder: URL, _ suffix: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == suffix }.sorted { $0.path < $1.path }
    }

    /// What stands between a line that `begin` names and the line `end`, without its common indentation.
    private static func passages(_ file: URL, begin: (String) -> String?, end: String) throws -> [Passage] {
        var result: [Passage] = []
        var open: (name: String, lines: [String], number: Int)?
        for (number, line) in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").enumerated() {
            let bare = line.trimmingCharacters(in: .whitespaces)
            if let passage = open {
                if bare == end {
                    result.append(
                        Passage(name: passage.name, text: unindented(passage.lines), place: "\(file.lastPathComponent):\(passage.number)"))
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if let name = begin(bare) {
                open = (name, [], number + 1)
            }
        }
        #expect(open == nil, "\(file.lastPathComponent):\(open?.number ?? 0) is not closed")
        return result
    }

    private static func unindented(_ lines: [String]) -> String {
        let depth = lines.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n")
    }

    private static func snippets() throws -> [Passage] {
        try files(in: tests, "swift").filter { $0.lastPathComponent != "GuideTests.swift" }.flatMap { file in
            try passages(file, begin: { $0.hasPrefix("// snippet: ") ? String($0.dropFirst(12)) : nil }, end: "// end")
        }
    }

    private static func blocks() throws -> [Passage] {
        try files(in: catalogue, "md").flatMap { file in
            var name = ""
            return try passages(
                file,
                begin: { line in
                    if line.hasPrefix("<!-- snippet: "), line.hasSuffix(" -->") { name = String(line.dropFirst(14).dropLast(4)) }
                    guard line.hasPrefix("```"), line != "```" else { return nil }
                    defer { name = "" }
                    return name
                }, end: "```")
        }
    }

    @Test func everyBlockOfAGuideIsAnExampleOfATest() throws {
        let snippets = try Self.snippets(), blocks = try Self.blocks()
        #expect(!blocks.isEmpty)
        #expect(Set(snippets.map(\.name)).count == snippets.count, "a name stands twice among the tests")
        for block in blocks {
            guard let snippet = snippets.first(where: { $0.name == block.name }) else {
                Issue.record("\(block.place): no test has the snippet \"\(block.name)\"")
                continue
            }
            #expect(block.text == snippet.text, "\(block.place) differs from \(snippet.place)")
        }
    }

    @Test func everyExampleOfATestIsShownOnce() throws {
        let shown = try Self.blocks().map(\.name)
        for snippet in try Self.snippets() {
            #expect(shown.filter { $0 == snippet.name }.count == 1, "\(snippet.place): \"\(snippet.name)\" is shown in no guide, or in two")
        }
    }

    @Test func everyFenceSaysItsLanguage() throws {
        for file in try Self.files(in: Self.catalogue, "md") {
            let fences = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").filter { $0.hasPrefix("```") }
            for (number, fence) in fences.enumerated() {
                #expect(fence == (number % 2 == 0 ? "```swift" : "```"), "\(file.lastPathComponent): a block that no snippet could be")
            }
        }
    }
}
