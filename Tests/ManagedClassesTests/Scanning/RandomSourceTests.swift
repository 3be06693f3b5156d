import Foundation
import Testing

@testable import ManagedClasses

/// Sources of all shapes: the scanner finds what is in them and nothing else.
@Suite struct RandomSourceTests {
    /// A search is as long as one asks for: `CISTERN_SEEDS=100000`.
    private static let seeds = ProcessInfo.processInfo.environment["CISTERN_SEEDS"].flatMap(UInt64.init) ?? 2000

    @Test func everyManagedMemberIsFound() throws {
        for seed in 0..<Self.seeds {
            let source = RandomSource(seed: seed), found = ManagedSourceScanner.scan(source.text, path: "Random.swift")
            let lines = found.members.map(RandomSource.line)
            guard lines != source.expected || !found.complaints.isEmpty else { continue }
            let difference = zip(lines + [""], source.expected + [""]).first { $0 != $1 }
            Issue.record("seed \(seed): \(difference.map { "\($0)" } ?? ""), \(found.complaints.map(\.description)), in\n\(source.text)")
            return
        }
    }

    @Test(.enabled(if: SwiftCompiler.found != nil, "no swiftc was found"))
    func theCompilerReadsThemToo() throws {
        let compiler = try #require(SwiftCompiler.found), folder = try TemporaryFolder()
        let files = try (0..<UInt64(60)).map { try folder.write(RandomSource(seed: $0).text, to: "Random\($0).swift").path }
        try compiler.compile(["-parse", "-swift-version", "6"] + files, in: folder.url)
    }
}
