import Foundation
import SyncDaemon
import Testing

import enum SyncDaemon.ExitStatus

@testable import SyncPipeline
@testable import cisternd

/// The daemon's manual page says what the daemon does, no more and no less.
@Suite struct ManualPageTests {
    /// The page without its markup.
    private static let page: String = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs/man/cisternd.8")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.replacing(/\\f[BIR]/, with: "").replacing("\\-", with: "-")
    }()

    private static func section(_ name: String) -> Substring {
        page.split(separator: ".SH ").first { $0.hasPrefix("\(name)\n") } ?? ""
    }

    private static func options(in text: some StringProtocol) -> [String] { String(text).matches(of: /--[a-z][a-z-]*/).map { String($0.output) } }

    /// With what they take: `--config PATH`.
    private static let helped: Set<String> = {
        guard case .say(let help, _, _) = DaemonLaunch.prepare(arguments: ["--help"]) else { return [] }
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        return Set(lines.compactMap { $0.firstMatch(of: /--[a-z][a-z-]*( <[a-z]+>)?/).map { String($0.0) } }).subtracting(["--help"])
    }()

    @Test func thePageExplainsEveryOptionOnceAndNoOther() {
        #expect(Self.helped.count == 4)
        let explained = Self.section("OPTIONS").components(separatedBy: ".TP\n").dropFirst().compactMap { $0.split(separator: "\n").first }
        #expect(explained.map { $0.prefix { $0 != " " } }.sorted() == Self.helped.map { $0.prefix { $0 != " " } }.sorted())
        // What takes a value does so in both.
        #expect(explained.filter { $0.contains(" ") }.count == Self.helped.filter { $0.contains("<") }.count)
    }

    @Test func theSynopsisIsOfOptionsAlone() {
        let synopsis = Self.section("SYNOPSIS")
        #expect(Set(Self.options(in: synopsis)) == Set(Self.helped.flatMap { Self.options(in: $0) }))
        for line in synopsis.split(separator: "\n").dropFirst() {
            #expect(line.hasPrefix(".B cisternd") || line == ".br" || line.wholeMatch(of: /\[--[a-z-]+( [A-Z]+)?\]/) != nil, "\(line)")
        }
    }

    @Test func thePageNamesEveryExitStatusOnceAndNoOther() {
        let named = Self.section("EXIT STATUS").split(separator: "\n").compactMap { $0.firstMatch(of: /^(\d+)\|/).flatMap { Int32($0.1) } }
        #expect(named == ExitStatus.allCases.map(\.rawValue).sorted())
    }

    @Test func thePageNamesEveryColumnThatARowCarriesBesideItsAttributes() {
        let named = Self.section("SQL VIEWS").matches(of: /\b_[a-z_]+\b/).map { String($0.output) }
        #expect(named.sorted() == ModelBuilder.Bookkeeping.allCases.compactMap(\.column).sorted())
    }
}
