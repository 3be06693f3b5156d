import Foundation
import Testing

@testable import SyncConfiguration

/// cisternd.toml(5) names what may be written, no more and no less.
@Suite struct ConfigurationPageTests {
    /// The page without its markup.
    private static let page: String = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../docs/man/cisternd.toml.5")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.replacing("\\-", with: "-").replacing("\\(dq", with: "\"")
    }()

    /// The entries of a section: the words in bold of the first line, and those of what follows it.
    private static func entries(of section: String) throws -> [(names: [String], text: String)] {
        let start = try #require(page.range(of: ".SH \(section)\n")).upperBound
        let end = page[start...].range(of: "\n.SH ")?.lowerBound ?? page.endIndex
        return page[start..<end].components(separatedBy: ".TP\n").dropFirst().map { entry in
            let (first, rest) = (entry.prefix { $0 != "\n" }, entry.drop { $0 != "\n" })
            let names = first.drop { $0 != " " }.split { $0 == " " || $0 == "," || $0 == "\"" }.map(String.init)
            return (names, String(rest.components(separatedBy: "\n.PP\n")[0]))
        }
    }

    private static func bold(in text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix(".B") || $0.hasPrefix(".RB") }.flatMap { line in
                line.drop { $0 != " " }.matches(of: /[a-z_]{2,}/).map { String($0.output) }
            })
    }

    private static func check<Kind: TableKind & CaseIterable & RawRepresentable<String>>(_ kind: Kind.Type, _ section: String) throws {
        let entries = try entries(of: section)
        #expect(entries.flatMap(\.names).sorted() == Kind.allCases.map(\.rawValue).sorted())
        for entry in entries {
            let kind = try #require(Kind(rawValue: entry.names[0])), bold = bold(in: entry.text)
            let missing = Set(kind.keys).subtracting(bold), foreign = Set(Kind.allCases.flatMap(\.keys)).subtracting(kind.keys).intersection(bold)
            // "in the header" is a place of its own, and not the key of another kind.
            #expect(missing.isEmpty && foreign.subtracting(["header"]).isEmpty, "\(entry.names[0])")
        }
    }

    @Test func everyKindOfPagesIsThereWithItsKeys() throws { try Self.check(PaginationTable.Kind.self, "PAGES") }

    @Test func everyKindOfAuthenticationIsThereWithItsKeys() throws { try Self.check(AuthenticationTable.Kind.self, "AUTHENTICATION") }

    @Test func everyKeyOfTheScheduleIsThere() throws {
        let names = try Self.entries(of: "SCHEDULE").flatMap(\.names)
        #expect(names.sorted() == ScheduleConfiguration.keys.map(\.name).sorted())
    }

    @Test func everyTypeIsThere() throws {
        #expect(try Self.entries(of: "TYPES").flatMap(\.names).sorted() == AttributeType.all.map(\.description).sorted())
    }

    @Test func everyRuleThatEndsAListingIsThere() throws {
        let text = Self.page.components(separatedBy: ".SH PAGES\n").last?.components(separatedBy: "\n.SH ")[0] ?? ""
        let rules = text.components(separatedBy: "\n.PP\n").last ?? ""
        let named = Self.bold(in: rules)
        for key in PaginationConfiguration.StopRules.keys { #expect(named.contains(key.name), "\(key.name)") }
    }
}
