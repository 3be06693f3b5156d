import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// One random sequence on a chain of one to three levels, with what each level should show.
///
/// Steps: edits at any level; saves, some of which fail; rollbacks; objects turned into faults; a sibling worker that edits and saves at once
/// (a fan); another context on the coordinator that saves and is merged.
final class ChainRun {
    private let stack: TestStack
    private let contexts: [NSManagedObjectContext]
    private let numbers = Numbers()
    private var logs: [[Edit]]
    private var stored: [Edit] = []
    private var next = 1
    private var history: [String] = []

    /// What is wrong with the sequence of this seed; nil: nothing. A failing one is told as short as it fails.
    static func failure(seed: Int, model: NSManagedObjectModel) throws -> String? {
        let length = steps(seed)
        guard try ChainRun(seed, model).run(seed, steps: length) != nil else { return nil }
        for shorter in 1..<max(length, 2) {
            if let failure = try ChainRun(seed, model).run(seed, steps: shorter) { return "seed \(seed), \(shorter) of \(length) steps: \(failure)" }
        }
        return try ChainRun(seed, model).run(seed, steps: length).map { "seed \(seed): \($0)" } ?? "seed \(seed) fails now and then"
    }

    private static func steps(_ seed: Int) -> Int {
        var random = SeededRandom(seed: seed + 7)
        return 8 + random.next(upTo: 25)
    }

    private init(_ seed: Int, _ model: NSManagedObjectModel) {
        stack = TestStack(model)
        var contexts = [stack.root]
        for level in 0..<seed % 3 { contexts.append(stack.child(of: contexts[level], name: "level \(level + 1)")) }
        self.contexts = contexts
        logs = contexts.map { _ in [] }
    }

    private func run(_ seed: Int, steps: Int) throws -> String? {
        var random = SeededRandom(seed: seed + 1)
        return try holdingAll(contexts[...]) {
            for _ in 0..<steps {
                try step(&random)
                if random.next(upTo: 4) == 0, let failure = try check(random.next(upTo: contexts.count)) { return failure }
            }
            for level in contexts.indices.reversed() { try save(level) }
            for level in contexts.indices {
                if let failure = try check(level) { return failure }
                if contexts[level].hasChanges { return describe("level \(level) has changes after everything was saved") }
            }
            // Past every cache.
            stack.coordinator.rowCache.removeAll()
            let fresh = stack.independent()
            let found = try fresh.performAndWait { try numbers.world(in: fresh) }
            return found == expected(at: 0) ? nil : describe("in the store expected \(expected(at: 0))\nfound \(found)")
        }
    }

    private func holdingAll<T>(_ contexts: ArraySlice<NSManagedObjectContext>, _ body: () throws -> T) throws -> T {
        guard let first = contexts.first else { return try body() }
        return try first.performAndWait { () throws -> T in try holdingAll(contexts.dropFirst(), body) }
    }

    private func describe(_ what: String) -> String { history.joined(separator: "\n") + "\n" + what }

    private func expected(at level: Int) -> World {
        var world = World()
        for edit in stored + logs[0...level].flatMap({ $0 }) { world.apply(edit) }
        return world
    }

    /// Whether nothing is unsaved in the contexts above this one.
    private func isTop(_ level: Int) -> Bool { logs[(level + 1)...].allSatisfy(\.isEmpty) }

    /// What a deletion above did to related objects is a change made there (N12, N37): edits below it would be judged otherwise by a model
    /// that replays levels in order.
    private func hasDeletions(above level: Int) -> Bool {
        logs[(level + 1)...].contains { log in log.contains { if case .delete = $0 { true } else { false } } }
    }

    private func step(_ random: inout SeededRandom) throws {
        let level = random.next(upTo: contexts.count)
        refresh(upTo: level)
        switch random.next(upTo: 16) {
        case 0, 1, 2:
            history.append("save \(level)")
            try save(level)
        case 3 where isTop(level):
            history.append("rollback \(level)")
            contexts[level].rollback()
            logs[level] = []
        case 4: try failToSave(level)
        case 5: turnIntoFault(level, &random)
        case 6 where !hasDeletions(above: level): try sibling(above: level, &random)
        case 7 where !hasDeletions(above: -1): try foreigner(&random)
        default:
            if hasDeletions(above: level) { return }
            guard let edit = edit(of: expected(at: level), deletes: isTop(level), &random) else { return }
            history.append("\(level): \(edit)")
            numbers.make(edit, in: contexts[level])
            logs[level].append(edit)
        }
    }

    /// An edit that says something: setting a relationship to what it is does not.
    private func edit(of before: World, deletes: Bool, _ random: inout SeededRandom) -> Edit? {
        let edit = before.randomEdit(using: &random, next: next, deletes: deletes)
        next += 1
        var after = before
        after.apply(edit)
        return after == before ? nil : edit
    }

    private func save(_ level: Int) throws {
        try contexts[level].save()
        if level == 0 { stored += logs[0] } else { logs[level - 1] += logs[level] }
        logs[level] = []
    }

    /// The root's store refuses, or a rule is broken: nothing has moved.
    private func failToSave(_ level: Int) throws {
        let context = contexts[level]
        if level == 0 && context.hasChanges {
            history.append("save 0, refused by the store")
            stack.failSaves(with: [CocoaError(.fileWriteOutOfSpace)])
            if (try? context.save()) != nil { history.append("which was not refused") }
            return
        }
        history.append("save \(level), refused by a rule")
        let wrong = context.make("Person", ["note": "wrong"])
        wrong.setValue(nil, forKey: "name")
        if (try? context.save()) != nil { history.append("which was not refused") }
        context.delete(wrong)
        context.processPendingChanges()
    }

    private func turnIntoFault(_ level: Int, _ random: inout SeededRandom) {
        guard let number = random.element(numbers.ids.keys.sorted()), let id = numbers.ids[number],
            let object = contexts[level].registeredObject(for: id), !object.hasChanges
        else { return }
        history.append("fault \(number) at \(level)")
        contexts[level].refresh(object, mergeChanges: false)
    }

    /// Another child of this level edits and saves at once.
    private func sibling(above level: Int, _ random: inout SeededRandom) throws {
        let worker = stack.child(of: contexts[level], name: "sibling")
        var made: [Edit] = []
        try worker.performAndWait { () throws in
            for _ in 0..<1 + random.next(upTo: 3) {
                var world = expected(at: level)
                for edit in made { world.apply(edit) }
                guard let edit = edit(of: world, deletes: isTop(level), &random) else { continue }
                numbers.make(edit, in: worker)
                made.append(edit)
            }
            try worker.save()
        }
        history.append("sibling above \(level): \(made)")
        logs[level] += made
    }

    /// Another context on the coordinator saves, and the root merges it.
    private func foreigner(_ random: inout SeededRandom) throws {
        let other = stack.independent()
        var made: [Edit] = []
        let saved = try other.performAndWait { () throws -> Notification? in
            var world = World()
            for edit in stored { world.apply(edit) }
            for _ in 0..<1 + random.next(upTo: 2) {
                guard let edit = edit(of: world, deletes: logs.allSatisfy(\.isEmpty), &random) else { continue }
                numbers.make(edit, in: other)
                world.apply(edit)
                made.append(edit)
            }
            let recorder = NotificationRecorder(other, .NSManagedObjectContextDidSave)
            try other.save()
            return recorder.notifications.last
        }
        history.append("another context: \(made)")
        stored += made
        if let saved { contexts[0].mergeChanges(fromContextDidSave: saved) }
    }

    /// A level keeps showing what it has read (N12); the model has no such memory.
    private func refresh(upTo level: Int) {
        for context in contexts[...level] { context.refreshAllObjects() }
    }

    private func check(_ level: Int) throws -> String? {
        refresh(upTo: level)
        let reader = stack.child(of: contexts[level], name: "reader")
        let found = try reader.performAndWait { try numbers.world(in: reader) }
        let world = expected(at: level)
        return found == world ? nil : describe("level \(level), expected \(world)\nfound \(found)")
    }
}
