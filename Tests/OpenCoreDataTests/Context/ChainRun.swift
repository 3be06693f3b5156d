import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// One random sequence on a chain of one to three levels, with what each level should show.
///
/// Steps: edits at any level; saves, some of which fail; rollbacks; objects turned into faults; a fan of workers beside the chain that edit and
/// save in any order; a sibling that edits and saves at once; another context on the coordinator that saves and is merged.
final class ChainRun {
    private let stack: TestStack
    private let contexts: [NSManagedObjectContext]
    private let numbers = Numbers()
    private var logs: [[Edit]]
    private var stored: [Edit] = []
    private var next = 1
    private var history: [String] = []
    private var fan: [FanWorker] = []

    /// A worker beside the chain whose edits are not saved yet.
    private struct FanWorker {
        let context: NSManagedObjectContext
        /// The level whose child it is.
        let level: Int
        var log: [Edit] = []
        /// Whom it edited since its last save. One edit a person: what two edits amount to that undo each other depends on what the parent did
        /// meanwhile.
        var edited: Set<Int> = []
    }

    /// What is wrong with the sequence of this seed; nil: nothing. A failing one is told with no step that it fails without.
    static func failure(seed: Int, model: NSManagedObjectModel) throws -> String? {
        var random = SeededRandom(seed: seed + 7)
        let all = Array(0..<8 + random.next(upTo: 25))
        guard var failure = try ChainRun(seed, model).run(seed, steps: all) else { return nil }
        var steps = all
        for step in all.reversed() {
            let fewer = steps.filter { $0 != step }
            guard let other = try ChainRun(seed, model).run(seed, steps: fewer) else { continue }
            (steps, failure) = (fewer, other)
        }
        return "seed \(seed), steps \(steps) of \(all.count): \(failure)"
    }

    private init(_ seed: Int, _ model: NSManagedObjectModel) {
        stack = TestStack(model)
        var contexts = [stack.root]
        for level in 0..<seed % 3 { contexts.append(stack.child(of: contexts[level], name: "level \(level + 1)")) }
        self.contexts = contexts
        logs = contexts.map { _ in [] }
    }

    /// Each step has random numbers and object numbers of its own, so that it stays what it is when others are left out.
    private func run(_ seed: Int, steps: [Int]) throws -> String? {
        try holdingAll(contexts[...]) {
            for index in steps {
                var random = SeededRandom(seed: (seed + 1) * 64 + index)
                next = 1 + index * 10
                try step(&random)
                if random.next(upTo: 4) == 0, let failure = try check(random.next(upTo: contexts.count)) { return failure }
            }
            for worker in fan.indices { try saveFan(worker) }
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

    /// Whether nothing is unsaved in the children of this context.
    private func isTop(_ level: Int) -> Bool {
        logs[(level + 1)...].allSatisfy(\.isEmpty) && fan.allSatisfy { $0.level < level || $0.log.isEmpty }
    }

    /// Whether nothing is unsaved anywhere.
    private var isSaved: Bool { logs.allSatisfy(\.isEmpty) && isSavedFan }

    /// Whether no worker of the fan has edits, which a deletion elsewhere could take the object from.
    private var isSavedFan: Bool { fan.allSatisfy(\.log.isEmpty) }

    /// What a deletion in a child did to related objects is a change made there (N12, N37): edits in its parents would be judged otherwise by a
    /// model that replays levels in order. Of -1, the store, all contexts are descendants.
    private func hasDeletions(inDescendantsOf level: Int) -> Bool {
        logs[(level + 1)...].contains { log in log.contains { if case .delete = $0 { true } else { false } } }
    }

    private func step(_ random: inout SeededRandom) throws {
        let level = random.next(upTo: contexts.count)
        refresh(upTo: level)
        switch random.next(upTo: 20) {
        case 0, 1, 2:
            history.append("save \(level)")
            try save(level)
        case 3 where isTop(level):
            history.append("rollback \(level)")
            contexts[level].rollback()
            logs[level] = []
        case 4: try failToSave(level)
        case 5: turnIntoFault(level, &random)
        case 6 where !hasDeletions(inDescendantsOf: level): try otherChild(of: level, &random)
        case 7 where !hasDeletions(inDescendantsOf: -1): try foreigner(&random)
        case 8...10 where !hasDeletions(inDescendantsOf: -1): try editInFan(level, &random)
        case 11 where !hasDeletions(inDescendantsOf: -1):
            if let worker = random.element(Array(fan.indices)) { try saveFan(worker) }
        default:
            if hasDeletions(inDescendantsOf: level) { return }
            guard let edit = edit(of: expected(at: level), deletes: isTop(level) && isSavedFan, &random) else { return }
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
    private func otherChild(of level: Int, _ random: inout SeededRandom) throws {
        let worker = stack.child(of: contexts[level], name: "sibling")
        var made: [Edit] = []
        try worker.performAndWait { () throws in
            for _ in 0..<1 + random.next(upTo: 3) {
                var world = expected(at: level)
                for edit in made { world.apply(edit) }
                guard let edit = edit(of: world, deletes: isTop(level) && isSavedFan, &random) else { continue }
                numbers.make(edit, in: worker)
                made.append(edit)
            }
            try worker.save()
        }
        history.append("other child of \(level): \(made)")
        logs[level] += made
    }

    /// One of up to three workers beside the chain edits, and keeps it to itself for now.
    private func editInFan(_ level: Int, _ random: inout SeededRandom) throws {
        let number = random.next(upTo: 3)
        if !fan.indices.contains(number) {
            fan.append(FanWorker(context: stack.child(of: contexts[level], name: "fan"), level: level))
        }
        let index = min(number, fan.count - 1), worker = fan[index]
        refresh(upTo: worker.level)
        var world = expected(at: worker.level)
        for edit in worker.log { world.apply(edit) }
        guard let edit = edit(of: world, deletes: false, &random) else { return }
        let isNew = edit.person.map { person in worker.log.contains(.insert("Person", person)) } ?? true
        guard isNew || edit.person.map(worker.edited.contains) == false else { return }
        history.append("fan \(index), child of \(worker.level): \(edit)")
        worker.context.performAndWait {
            // What it has read it keeps showing (N12); with edits of its own it keeps those, too.
            if worker.log.isEmpty { worker.context.refreshAllObjects() }
            numbers.make(edit, in: worker.context)
        }
        fan[index].log.append(edit)
        if let person = edit.person { fan[index].edited.insert(person) }
    }

    private func saveFan(_ index: Int) throws {
        let worker = fan[index]
        history.append("fan \(index) saves")
        try worker.context.performAndWait { () throws in try worker.context.save() }
        logs[worker.level] += worker.log
        fan[index].log = []
        fan[index].edited = []
    }

    /// Another context on the coordinator saves, and the root merges it.
    private func foreigner(_ random: inout SeededRandom) throws {
        let other = stack.independent()
        var made: [Edit] = []
        let saved = try other.performAndWait { () throws -> Notification? in
            var world = World()
            for edit in stored { world.apply(edit) }
            for _ in 0..<1 + random.next(upTo: 2) {
                guard let edit = edit(of: world, deletes: isSaved, &random) else { continue }
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
