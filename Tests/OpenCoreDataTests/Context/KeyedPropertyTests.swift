import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

@Suite struct KeyedPropertyTests {
    // N24, P11, P13, P15, R1, R2, R5, L11, L13, L21, N23, N35
    @Test(.longComputation, arguments: 0..<4)
    func objectsThatTurnOutToBeOneLoseNothingAndRelationshipsHaveOneTruth(_ part: Int) throws {
        try search(part * 600..<(part + 1) * 600, .memory)
    }

    // The same, with rows in one file, or in two.
    @Test(.longComputation, arguments: [KeyedStack.World.file, .twoFiles])
    func theSameHoldsOfRowsInAFile(_ world: KeyedStack.World) throws { try search(100_000..<100_025, world) }

    // The same, where the process dies now and then and another one applies the push journal.
    @Test(.longComputation, arguments: [(KeyedStack.World.journal, 80), (.journalAndFile, 15)])
    func theSameHoldsOfWhatAPushJournalBringsBack(_ world: KeyedStack.World, _ count: Int) throws {
        try search(200_000..<200_000 + count, world)
    }
}

/// The same, a million times: `make stress`. `CISTERN_PARTS=83,85` has only those parts of the million run.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct KeyedPropertyStress {
    private static let parts =
        ProcessInfo.processInfo.environment["CISTERN_PARTS"].map { $0.split(separator: ",").compactMap { Int($0) } } ?? Array(0..<100)

    @Test(arguments: parts)
    func aMillionSequencesOfKeysLoseNothing(_ part: Int) throws {
        try search(1_000_000 + part * 10_000..<1_000_000 + (part + 1) * 10_000, .memory)
    }

    @Test(arguments: [(KeyedStack.World.file, 2_500), (.twoFiles, 2_500), (.journal, 50_000), (.journalAndFile, 5_000)])
    func norDoThoseInFilesAndThroughCrashes(_ world: KeyedStack.World, _ count: Int) throws {
        try search(3_000_000..<3_000_000 + count, world)
    }
}

/// Records the first seed whose sequence goes wrong. `CISTERN_SEED` has one sequence run alone.
private func search(_ seeds: Range<Int>, _ world: KeyedStack.World) throws {
    let model = Keyed.model(isCounted: true)
    let wanted = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap { Int($0) }
    for seed in wanted.map({ $0...$0 }) ?? seeds.lowerBound...seeds.upperBound - 1 {
        if let failure = try KeyedRun.failure(seed: seed, model: model, world: world) {
            Issue.record("\(failure)")
            return
        }
    }
}
