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

    @Test(arguments: 0..<8)
    func damagedTextIsRefusedOrRead(seed: Int) {
        var generator = Generator(state: UInt64(seed) &* 7919 &+ 1)
        let original = Array(Self.whole.utf8)
        let pieces = [
            "[", "]", "{", "}", "\"", "'", "=", ".", "\n", "#", "\\", "0", "-", "[[", "\"\"\"", "\u{FEFF}", "é", "1e999", "{}", "[]",
        ]
        for _ in 0..<1500 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                if bytes.isEmpty { break }
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
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
            for problem in reading.problems where problem.severity == .error {
                #expect(problem.suggestion?.isEmpty == false, "\(problem)")
            }
        }
    }
}
