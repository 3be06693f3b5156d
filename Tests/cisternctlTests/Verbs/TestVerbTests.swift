import Foundation
import SyncConfiguration
import SyncControl
import Testing

@testable import cisternctl

@Suite struct TestVerbTests {
    private let outcome = Outcome()
    private static let configuration = """
        version = 1
        [[source]]
        name = "iso"
        url = "https://iso.example/countries"
        entity = "Country"
        [entity.Country]
        key = ["code"]
        [entity.Country.attributes]
        code = { type = "string", optional = false }

        """
    private static let good = """
        [[test]]
        name = "one country"
        [[test.exchange]]
        request = "GET https://iso.example/countries"
        body = '[{"code": "fr"}]'
        [test.expect]
        rows.Country = [{ code = "fr" }]

        """
    private static let bad = good.replacing("rows.Country = [{ code = \"fr\" }]", with: "counts = { inserted = 2 }").replacing("one", with: "two")

    private func run(_ arguments: String..., files: [String: String] = [:], existing: Set<String> = []) async -> ControlExitCode {
        var files = files
        files["/c/iso.toml"] = files["/c/iso.toml"] ?? Self.configuration
        return await Cisternctl.run(arguments: ["test"] + arguments, surroundings: outcome.surroundings(files, existing: existing))
    }

    @Test func aTestThatPassesIsALineAndZero() async {
        #expect(await run("/c/iso.test.toml", files: ["/c/iso.test.toml": Self.good]) == .success)
        #expect(outcome.out == "ok  one country\n1 test, all ok\n")
    }

    @Test func aDifferenceIsOneAndSaysWhereAndWhat() async {
        #expect(await run("/c/iso.test.toml", files: ["/c/iso.test.toml": Self.bad + Self.good]) == .failure)
        #expect(
            outcome.out == """
                FAILED  two country
                  /c/iso.test.toml:6: counts.inserted: wanted 2, got 1
                ok  one country
                2 tests, 1 failed

                """)
    }

    @Test func theFileIsTheOneBesideTheConfigurationAndADirectoryIsAllOfThem() async {
        let files = ["/c/iso.test.toml": Self.good, "/c/b.test.toml": "configuration = \"iso.toml\"\n" + Self.bad]
        #expect(await run("--config", "/c/iso.toml", files: files) == .success)
        #expect(await run("/c/", files: files) == .failure)
        #expect(outcome.out.hasSuffix("ok  one country\n2 tests, 1 failed\n"))
    }

    @Test func asJSONThereIsAnEntryForEachTest() async throws {
        #expect(await run("--json", "/c/iso.test.toml", files: ["/c/iso.test.toml": Self.bad]) == .failure)
        let entries = try #require(try JSONSerialization.jsonObject(with: Data(outcome.out.utf8)) as? [[String: Any]])
        #expect(entries.count == 1 && entries[0]["ok"] as? Bool == false && entries[0]["test"] as? String == "two country")
        let differences = try #require(entries[0]["differences"] as? [[String: Any]])
        #expect(differences.first?["wanted"] as? String == "2" && differences.first?["got"] as? String == "1")
    }

    @Test func aRequestWithoutAnAnswerIsShownToPaste() async {
        #expect(await run("/c/iso.test.toml", files: ["/c/iso.test.toml": "[[test]]\nname = \"a\"\n"]) == .failure)
        #expect(outcome.out.contains("\n[[test.exchange]]\nrequest = \"GET https://iso.example/countries\"\n"))
    }

    @Test func whatCannotBeUsedIs78AndNothingIsRun() async {
        let broken = Self.configuration.replacing("url", with: "ur")
        #expect(await run("/c/iso.test.toml", files: ["/c/iso.test.toml": Self.good, "/c/iso.toml": broken]) == .configuration)
        #expect(outcome.error.contains("/c/iso.toml:4: "))
        #expect(await run("/c/iso.test.toml", "/c/b.test.toml", files: ["/c/iso.test.toml": Self.good]) == .configuration)
        #expect(outcome.error.contains("/c/b.test.toml: the file cannot be read"))
        #expect(await run("/c/iso.test.toml", files: ["/c/iso.test.toml": Self.good + "more = 1"]) == .configuration)
        #expect(outcome.error.contains("/c/iso.test.toml:8: unknown key \"more\""))
        #expect(outcome.out.isEmpty)
    }

    @Test func aBadCommandLineIs64() async {
        #expect(await run("/nowhere") == .usage)
        #expect(await run("--pages", "0") == .usage)
        #expect(await run("--generate", "iso/iso", "a", "b") == .usage)
        #expect(await run("--config", "/c/iso.toml", "--generate", "iso/nothing") == .usage)
        #expect(outcome.error.contains("there is no resource \"iso/nothing\"; there are iso/iso"))
    }

    @Test func aFileThatIsThereIsNotWrittenOver() async {
        let code = await run("--config", "/c/iso.toml", "--generate", "iso/iso", existing: ["/c/iso.test.toml"])
        #expect(code == .usage)
        #expect(outcome.error.contains("/c/iso.test.toml is there already, and stays as it is"))
    }
}
