import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

@Suite struct ChainPropertyTests {
    // N1, N3, N5, N14, N17, N18, N19, N21, N23, N35, N37, L13, L21, M4, M8, P15, R1, R2
    @Test(.longComputation, arguments: 0..<2)
    func chainsAgreeWithAModel(_ part: Int) throws {
        let model = Company.model()
        for seed in part * 2_000..<(part + 1) * 2_000 {
            if let failure = try ChainRun.failure(seed: seed, model: model) {
                Issue.record("\(failure)")
                return
            }
        }
    }

    // N1, N5: a child's save and then its parent's are the same as the same edits made in the parent.
    @Test(.longComputation) func editsThroughAChildEqualTheSameEditsInTheParent() throws {
        let model = Company.model()
        for seed in 0..<300 {
            var worlds: [World] = []
            for usesChild in [true, false] {
                let stack = TestStack(model), numbers = Numbers()
                let context = usesChild ? stack.child(of: stack.root) : stack.root
                var random = SeededRandom(seed: seed + 1), world = World()
                try holding(stack.root, context) { () throws in
                    for number in 1...30 {
                        let edit = world.randomEdit(using: &random, next: number, deletes: true)
                        world.apply(edit)
                        numbers.make(edit, in: context)
                        if random.next(upTo: 6) == 0 { try context.save() }
                    }
                    try context.save()
                    try stack.root.save()
                }
                stack.coordinator.rowCache.removeAll()
                let fresh = stack.independent()
                worlds.append(try fresh.performAndWait { try numbers.world(in: fresh) })
                #expect(worlds.last == world, "seed \(seed), through a child: \(usesChild)")
            }
            #expect(worlds[0] == worlds[1], "seed \(seed)")
        }
    }
}

/// The same, a million times: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct ChainPropertyStress {
    @Test(arguments: 0..<100)
    func aMillionChainsAgreeWithAModel(_ part: Int) throws {
        let model = Company.model()
        for seed in 1_000_000 + part * 10_000..<1_000_000 + (part + 1) * 10_000 {
            if let failure = try ChainRun.failure(seed: seed, model: model) {
                Issue.record("\(failure)")
                return
            }
        }
    }
}
