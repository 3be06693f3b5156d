import Foundation
import Testing

@testable import SyncConfiguration

/// A configuration with damage in it is refused or read, never a reason to end.
@Suite struct DamagedTextTests {
    private static let whole = """
        version = 1
        [defaults.schedule]
        every = "1h"
        [[source]]
        name = "github"
        base_url = "https://api.example.com"
        auth = { kind = "bearer", token = { credential = "t" } }
          [[source.resource]]
          name = "repos"
          path = "/repos"
          entity = "Repository"
          params = { per_page = 100, a = [1, "x", true] }
          pages = { kind = "cursor", path = "$['a b'].next[0]", stop = { total = "/total" } }

        """ + ModelReadingTests.github

    /// A small generator of its own, so that a failure can be repeated.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) ^ (state << 31)
        }
    }

    /// What is installed, with every default in force, and a source.
    private static let installed: String = {
        let file = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("../../../etc/cistern/cisternd.toml").standardizedFileURL
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: true).compactMap { line in
            line.firstMatch(of: /^# ([A-Za-z0-9_.]+ = |\[)/) != nil ? String(line.dropFirst(2)) : line.hasPrefix("#") ? nil : String(line)
        }.joined(separator: "\n") + "\n" + whole.drop { $0 != "\n" }.replacing("[defaults.schedule]\nevery = \"1h\"", with: "")
    }()

    @Test func whatIsDamagedIsWhole() {
        for text in [Self.whole, Self.installed] { #expect(read(text).errors.map(\.description) == []) }
        #expect(Self.installed.utf8.count > 2 * Self.whole.utf8.count)
    }

    /// CISTERN_SEED has one run alone.
    private static let seeds = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap { Int($0) }.map { $0..<$0 + 1 } ?? 0..<8

    @Test(.timeLimit(.minutes(60)), arguments: seeds, [false, true])
    func damagedTextIsRefusedOrRead(seed: Int, isInstalled: Bool) {
        var generator = Generator(state: UInt64(seed) &* 7919 &+ 1)
        let original = Array((isInstalled ? Self.installed : Self.whole).utf8)
        let pieces = [
            "[", "]", "{", "}", "\"", "'", "=", ".", "\n", "#", "\\", "0", "-", "[[", "\"\"\"", "\u{FEFF}", "é", "1e999", "{}", "[]",
            "99999999999999999999", "-1", "\u{0}", "'\'\'", "\r", "\\u{D800}", "inf", "nan", "1979-05-27T07:32:00Z", "0x", "true", "1h",
            "9223372036854775807d",
            "999999999999GiB", "1e308s", String(repeating: "[", count: 300), String(repeating: "a.", count: 300) + "b = 1\n",
        ]
        for _ in 0..<(isInstalled ? 400 : 1500) {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                if bytes.isEmpty { break }
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 4: replaceValue(in: &bytes, at, pieces.randomElement(using: &generator)!)
                case 5: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + Int.random(in: 1...80, using: &generator))], at: at)
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.insert(contentsOf: Array(pieces.randomElement(using: &generator)!.utf8), at: at)
                case 2: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...12, using: &generator)))
                default: bytes = Array(bytes[..<max(1, at)])
                }
            }
            var files = ConfigurationTexts([:])
            files.files["/c"] = bytes
            let reading = ConfigurationReader(path: "/c", files: files).read()
            #expect((reading.configuration == nil) == !reading.errors.isEmpty)
            let lines = bytes.count { $0 == 0x0A } + 1
            for problem in reading.problems where problem.severity == .error {
                #expect(problem.suggestion?.isEmpty == false, "\(problem)")
                #expect(problem.file == "/c" && !problem.message.isEmpty, "\(problem)")
                #expect(problem.line.map { (1...lines).contains($0) } ?? true, "\(problem)")
            }
        }
    }

    /// Another value where one stands on the line of this place.
    private func replaceValue(in bytes: inout [UInt8], _ at: Int, _ piece: String) {
        guard let equals = bytes[at...].firstIndex(of: 0x3D) else { return }
        bytes.replaceSubrange(equals + 1..<(bytes[equals...].firstIndex(of: 0x0A) ?? bytes.count), with: Array(" \(piece)".utf8))
    }
}
