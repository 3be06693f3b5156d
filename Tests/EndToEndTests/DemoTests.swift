import Foundation
import Testing

/// `make run`, as somebody without a terminal sees it.
@Suite struct DemoTests {
    private static let hasData = FileManager.default.fileExists(atPath: "/usr/share/iso-codes/json/iso_3166-1.json")

    @Test(.enabled(if: hasData, "needs Debian's package iso-codes"), .timeLimit(.minutes(60)))
    func theDemoShowsRowsAndEndsByItself() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let binaries = URL(fileURLWithPath: try Workshop.binary("cisternd")).deletingLastPathComponent().path
        let result = try await shop.run(
            "env", ["CISTERN_DEMO_ONCE=1", "CISTERN_DEMO_BINARIES=\(binaries)", "\(TestData.project)/Scripts/run-demo"])
        let text = result.output.joined(separator: "\n")
        #expect(result.status == 0, "\(text)\n\(result.errors.joined(separator: "\n"))")
        #expect(text.contains("iso/countries: 249 inserted"))
        // The rows of the tables it prints: a place in its region in its country, and the record that was changed on the way.
        #expect(text.contains("Azerbaijan") && text.contains("GB-EDH"))
        #expect(text.contains("Ísland"))
    }
}
