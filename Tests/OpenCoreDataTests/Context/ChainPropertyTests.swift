import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ChainPropertyTests {
    /// Three levels, root first; what each has not saved yet; and what the store holds.
    private final class Chain {
        let stack: TestStack
        let contexts: [NSManagedObjectContext]
        let numbers = Numbers()
        var logs: [[Edit]] = [[], [], []]
        var stored: [Edit] = []
        var next = 1
        var history: [String] = []

        init(_ model: NSManagedObjectModel) {
            stack = TestStack(model)
            let main = stack.child(of: stack.root, name: "main")
            contexts = [stack.root, main, stack.child(of: main, name: "worker")]
        }

        func expected(at level: Int) -> World {
            var world = World()
            for edit in stored + logs[0...level].flatMap({ $0 }) { world.apply(edit) }
            return world
        }

        /// Whether nothing is unsaved in the contexts above this one.
        func isTop(_ level: Int) -> Bool { logs[(level + 1)...].allSatisfy(\.isEmpty) }

        func step(_ random: inout SeededRandom) throws {
            let level = random.next(upTo: 3), context = contexts[level]
            refresh(upTo: level)
            switch random.next(upTo: 12) {
            case 0, 1, 2:
                history.append("save \(level)")
                try context.save()
                if level == 0 { stored += logs[0] } else { logs[level - 1] += logs[level] }
                logs[level] = []
            case 3 where isTop(level):
                history.append("rollback \(level)")
                context.rollback()
                logs[level] = []
            default:
                // What a deletion above did to related objects is a change made there (N12, N37): edits below it would be judged otherwise
                // by a model that replays levels in order.
                if logs[(level + 1)...].contains(where: { log in log.contains { if case .delete = $0 { true } else { false } } }) { return }
                let before = expected(at: level)
                let edit = before.randomEdit(using: &random, next: next, deletes: isTop(level))
                next += 1
                // Setting a relationship to what it is says nothing.
                var after = before
                after.apply(edit)
                if after == before { return }
                history.append("\(level): \(edit)")
                numbers.make(edit, in: context)
                logs[level].append(edit)
            }
        }

        /// A level keeps showing what it has read (N12); the model has no such memory.
        private func refresh(upTo level: Int) {
            for context in contexts[...level] { context.refreshAllObjects() }
        }

        func check(_ level: Int, seed: Int) throws {
            refresh(upTo: level)
            let reader = stack.child(of: contexts[level], name: "reader")
            let found = try reader.performAndWait { try numbers.world(in: reader) }
            let world = expected(at: level)
            if found != world {
                Issue.record("seed \(seed), level \(level):\n\(history.joined(separator: "\n"))\nexpected \(world)\nfound \(found)")
            }
        }
    }

    // N1, N3, N5, N14, N17, N18, N19, N23, N35, L21, R1, R2
    @Test(arguments: 0..<8)
    func aChainOfThreeAgreesWithAModel(_ part: Int) throws {
        let model = Company.model()
        for seed in part * 250..<(part + 1) * 250 {
            let chain = Chain(model)
            var random = SeededRandom(seed: seed + 1)
            try holding(chain.contexts[0], chain.contexts[1], chain.contexts[2]) { () throws in
                for _ in 0..<(8 + random.next(upTo: 25)) {
                    try chain.step(&random)
                    if random.next(upTo: 4) == 0 { try chain.check(random.next(upTo: 3), seed: seed) }
                }
                for context in chain.contexts.reversed() { try context.save() }
                for level in [2, 1, 0] {
                    if level == 0 { chain.stored += chain.logs[0] } else { chain.logs[level - 1] += chain.logs[level] }
                    chain.logs[level] = []
                }
                for level in 0..<3 {
                    try chain.check(level, seed: seed)
                    #expect(!chain.contexts[level].hasChanges, "seed \(seed)")
                }
                // Past every cache.
                chain.stack.coordinator.rowCache.removeAll()
                let fresh = chain.stack.independent()
                let found = try fresh.performAndWait { try chain.numbers.world(in: fresh) }
                #expect(found == chain.expected(at: 0), "seed \(seed), in the store")
            }
        }
    }

    // N1, N5: a child's save and then its parent's are the same as the same edits made in the parent.
    @Test func editsThroughAChildEqualTheSameEditsInTheParent() throws {
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
