import Foundation
import OpenCoreDataTestSupport
import TestTraits
import Testing

@testable import OpenCoreData

/// Rows that come in blocks are rows like any other, whoever meets them.
@Suite struct RowImportPropertyTests {
    struct World: CustomStringConvertible {
        let isFile: Bool
        let policy: NSMergePolicyType
        var hasHistory = false

        var description: String { "\(isFile ? "file" : "memory")\(hasHistory ? " with history" : ""), policy \(policy.rawValue)" }
    }

    private static let worlds = [
        World(isFile: false, policy: .errorMergePolicyType), World(isFile: false, policy: .mergeByPropertyObjectTrumpMergePolicyType),
        World(isFile: true, policy: .errorMergePolicyType), World(isFile: true, policy: .mergeByPropertyObjectTrumpMergePolicyType),
        World(isFile: true, policy: .mergeByPropertyStoreTrumpMergePolicyType),
        World(isFile: true, policy: .mergeByPropertyObjectTrumpMergePolicyType, hasHistory: true),
    ]

    // Any script gives the same with blocks as with blocks that are opened at once.
    @Test(.longComputation, arguments: worlds)
    func anyScriptGivesTheSameAsWithBlocksOpenedAtOnce(_ world: World) throws {
        var sealed = 0
        let wanted = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap { Int($0) }
        for seed in wanted.map({ $0...$0 }) ?? 1...(world.isFile ? 40 : 150) {
            guard let failure = try Self.failure(seed, world, &sealed) else { continue }
            Issue.record("seed \(seed), \(world): \(failure)")
            return
        }
        if wanted == nil, world.isFile { #expect(sealed > 20, "\(sealed)") }
    }

    /// The first difference, with the steps that lead to it.
    private static func failure(_ seed: Int, _ world: World, _ sealed: inout Int) throws -> String? {
        func made(_ isDissolving: Bool) throws -> BlockWorld {
            try BlockWorld(isFile: world.isFile, policy: NSMergePolicy(merge: world.policy), isDissolving: isDissolving, hasHistory: world.hasHistory)
        }
        let whole = try made(false), dissolved = try made(true)
        defer {
            sealed += whole.sealedBlocks
            whole.close()
            dissolved.close()
        }
        var random = SeededRandom(seed: seed), steps: [String] = []
        func difference(_ mine: String, _ theirs: String) -> String {
            let (mine, theirs) = (Set(mine.split(separator: "\n")), Set(theirs.split(separator: "\n")))
            let lines = mine.subtracting(theirs).map { "only in blocks: \($0)" } + theirs.subtracting(mine).map { "only if opened: \($0)" }
            return (steps + lines.sorted()).joined(separator: "\n")
        }
        let isQuiet = random.next(upTo: 2) == 0
        for number in 1...30 {
            let step = BlockStep.random(&random, isQuiet: isQuiet)
            let (mine, theirs) = (whole.run(step), dissolved.run(step))
            steps.append("\(step) → \(mine)")
            if mine != theirs { return difference(mine, theirs) }
            // Looking opens the blocks.
            guard number == 30 || random.next(upTo: isQuiet ? 32 : 16) == 0 else { continue }
            let (seen, other) = (try whole.state(), try dissolved.state())
            if seen != other { return difference(seen, other) }
        }
        let damage = try whole.damage()
        return damage.isEmpty ? nil : "\(steps.joined(separator: "\n"))\ndamaged: \(damage)"
    }
}
