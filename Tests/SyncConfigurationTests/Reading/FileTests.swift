import Foundation
import Testing

@testable import SyncConfiguration

@Suite struct FileTests {
    private func read(bytes: [UInt8]) -> [ConfigurationProblem] {
        var files = ConfigurationTexts([:])
        files.files["/c/cisternd.toml"] = bytes
        let reading = ConfigurationReader(path: "/c/cisternd.toml", files: files).read()
        #expect((reading.configuration == nil) == !reading.errors.isEmpty)
        return reading.problems
    }

    @Test func aSyntaxErrorHasALineAndAColumn() throws {
        let problem = try #require(read(bytes: Array("version = 1\n[daemon]\nname = oops\n".utf8)).first)
        #expect(problem.line == 3)
        #expect(problem.column != nil)
        #expect(problem.description.hasPrefix("/c/cisternd.toml:3:"))
        #expect(problem.suggestion != nil)
    }

    @Test func theSameKeyTwiceIsASyntaxError() {
        #expect(read(bytes: Array("[daemon]\nname = \"a\"\nname = \"b\"\n".utf8)).first?.line == 3)
    }

    // K4
    @Test func aHugeFileIsRefusedUnread() {
        let problems = read(bytes: Array(repeating: UInt8(ascii: "#"), count: 10 << 20))
        #expect(problems.map(\.message) == ["the file is larger than 4MiB"])
    }

    // K4
    @Test func invalidUTF8IsRefusedWithItsLine() {
        let problems = read(bytes: Array("version = 1\n# ".utf8) + [0xFF, 0xFE] + Array("\n".utf8))
        #expect(problems.map(\.message) == ["the file is not valid UTF-8"])
        #expect(problems.first?.line == 2)
    }

    @Test func aNULByteDoesNotHideWhatFollows() {
        #expect(read(bytes: Array("version = 1\n".utf8) + [0] + Array("nonsense".utf8)).map(\.message) == ["the file contains a NUL byte"])
        #expect(read(bytes: Array("\"a\\u0000b\" = 1\n".utf8)).count == 1)
        #expect(read(bytes: Array("[daemon]\nname = \"a\\U00000000b\"\n".utf8)).first?.line == 2)
    }

    @Test func deepNestingIsRefused() {
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(read(bytes: Array("x = \(deep)\n".utf8)).count == 1)
        let dotted = Array(repeating: "a", count: 5000).joined(separator: ".")
        #expect(!read(bytes: Array("\(dotted) = 1\n".utf8)).isEmpty)
        let brackets = String(repeating: "[", count: 100_000)
        #expect(!read(bytes: Array("x = \(brackets)\n".utf8)).isEmpty)
    }

    @Test func aByteOrderMarkIsSkipped() {
        #expect(read(bytes: [0xEF, 0xBB, 0xBF] + Array("version = 1\n".utf8)) == [])
        #expect(read(bytes: [0xEF, 0xBB, 0xBF] + Array("verion = 1\n".utf8)).first?.line == 1)
    }

    @Test func linesMayEndInCRLF() {
        let problems = read(bytes: Array("version = 1\r\n\r\n[daemon]\r\nnaem = \"x\"\r\n".utf8))
        #expect(problems.map(\.line) == [4])
    }

    // K4
    @Test func anUnreadableFileIsNamed() throws {
        let reading = ConfigurationReader(path: "/nowhere/cisternd.toml").read()
        let problem = try #require(reading.problems.first)
        #expect(problem.file == "/nowhere/cisternd.toml")
        #expect(problem.message.contains("cannot be read: No such file"))
        #expect(reading.configuration == nil)
        #expect(ConfigurationReader(path: "/tmp").read().problems.first?.message.contains("directory") == true)
    }

    @Test func aBrokenDropInIsNamedAndNothingIsUsed() {
        let reading = SyncConfigurationTests.read("version = 1\n", dropIns: ["10-a.toml": "x ="])
        #expect(reading.configuration == nil)
        #expect(reading.errors.map(\.file) == ["/c/conf.d/10-a.toml"])
    }

    @Test func filesOnDiskAreReadWithTheirDropIns() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("configuration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory.appendingPathComponent("conf.d"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try "[daemon]\nname = \"a\"\n".write(to: directory.appendingPathComponent("cisternd.toml"), atomically: true, encoding: .utf8)
        try "[daemon]\nname = \"b\"\n".write(to: directory.appendingPathComponent("conf.d/20.toml"), atomically: true, encoding: .utf8)
        try "[daemon]\nname = \"c\"\n".write(to: directory.appendingPathComponent("conf.d/10.toml"), atomically: true, encoding: .utf8)
        try "nonsense".write(to: directory.appendingPathComponent("conf.d/30.toml.bak"), atomically: true, encoding: .utf8)
        let configuration = try ConfigurationReader(path: directory.path + "/cisternd.toml").configuration()
        #expect(configuration.daemon.name == "b")
    }

    @Test func severalProblemsAreReportedTogetherInTheOrderOfTheLines() {
        let text = """
            verison = 1
            [daemon]
            start = "later"
            max_parallel_requests = 0
            [defaults.schedule]
            evry = "1h"
            """
        #expect(
            errors(text) == [
                "/c/cisternd.toml:1: unknown key \"verison\"; did you mean \"version\"?",
                "/c/cisternd.toml:3: daemon.start: expected one of \"stagger\", \"now\", \"wait\", found the text \"later\"; known words: stagger, now, wait",
                "/c/cisternd.toml:4: daemon.max_parallel_requests: 0 is out of range; it must be an integer from 1 to 1024",
                "/c/cisternd.toml:6: defaults.schedule: unknown key \"evry\"; did you mean \"every\"?",
            ])
    }

    @Test func aThrownErrorHoldsAllProblems() {
        let reader = ConfigurationReader(path: "/c", files: ConfigurationTexts(["/c": "a = 1\nb = 2\n"]))
        #expect { try reader.configuration() } throws: { ($0 as? ConfigurationError)?.problems.count == 2 }
    }

    @Test func anInstanceHasDropInsOfItsOwn() {
        #expect(ConfigurationReader(path: "/etc/cistern/cisternd.toml").dropInDirectory == "/etc/cistern/conf.d")
        #expect(ConfigurationReader(path: "/etc/cistern/shop.toml").dropInDirectory == "/etc/cistern/shop.conf.d")
        #expect(ConfigurationReader(path: "cisternd.toml").dropInDirectory == "conf.d")
        #expect(ConfigurationReader(path: "/x/plain").dropInDirectory == "/x/plain.conf.d")
    }
}
