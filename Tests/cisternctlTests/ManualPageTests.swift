import ArgumentParser
import Foundation
import SyncControl
import Testing

@testable import cisternctl

/// The manual page says what the tool can do, no more and no less.
@Suite struct ManualPageTests {
    /// The page without its markup.
    private static let page: String = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs/man/cisternctl.1")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.replacing(/\\f[BIR]/, with: "").replacing("\\-", with: "-")
    }()

    /// The first line of each entry below VERBS: a verb and its arguments.
    private static let entries: [String] = {
        guard let start = page.range(of: ".SH VERBS\n"), let end = page.range(of: ".SH WHO MAY DO WHAT") else { return [] }
        return page[start.upperBound..<end.lowerBound].components(separatedBy: ".TP\n").dropFirst().map {
            String($0.prefix { !$0.isNewline })
        }
    }()

    /// Every verb, by the words that call it.
    private static let verbs: [(words: String, type: any ParsableCommand.Type)] = leaves(of: Cisternctl.self, words: [])

    private static func leaves(of type: any ParsableCommand.Type, words: [String]) -> [(words: String, type: any ParsableCommand.Type)] {
        type.configuration.subcommands.flatMap { sub in
            let words = words + [sub.configuration.commandName ?? ""]
            return sub.configuration.subcommands.isEmpty ? [(words: words.joined(separator: " "), type: sub)] : leaves(of: sub, words: words)
        }
    }

    private static func options(in text: String) -> Set<String> {
        Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
    }

    @Test func thePageNamesEveryVerbOnceAndNoOther() {
        let named = Self.entries.map {
            $0.prefix { $0 != "[" }.split(separator: " ").prefix { $0.first != "-" && $0.allSatisfy { $0.isLowercase || $0 == "-" } }.joined(
                separator: " ")
        }
        #expect(named.sorted() == Self.verbs.map(\.words).sorted())
    }

    @Test func theReadMeNamesEveryVerbOnceAndNoOther() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../README.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let named = try #require(text.firstMatch(of: /the verbs `([^`]*)`/)).1.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(named.sorted() == Set(Self.verbs.compactMap { $0.words.split(separator: " ").first.map(String.init) }).sorted())
    }

    @Test func thePageNamesEveryExitStatusOnceAndNoOther() throws {
        let table = try #require(Self.page.range(of: "r l.\n")).upperBound
        let lines = Self.page[table...].components(separatedBy: "\n.TE").first ?? ""
        let named = lines.split(separator: "\n").compactMap { Int32($0.prefix { $0 != "|" }) }
        #expect(named == ControlExitCode.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: verbs.map(\.words)) func thePageNamesEveryOptionAndNoOther(_ verb: String) throws {
        let type = try #require(Self.verbs.first { $0.words == verb }?.type)
        let common: Set = ["--help", "--version", "--socket", "--config", "--json"]
        let entry = try #require(Self.entries.first { $0 == verb || $0.hasPrefix(verb + " ") })
        #expect(Self.options(in: entry) == Self.options(in: Cisternctl.helpMessage(for: type)).subtracting(common))
    }
}
