import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// One random sequence on a root, a main context and three workers, in which objects turn out to be one another.
///
/// Workers make objects without looking, find them, go on with what they hold after their saves, relate, order and delete; levels are saved, saves
/// fail, levels are rolled back, somebody else writes to the store. After each step some level is looked at: `KeyedInvariants` hold everywhere, and
/// in sequences without deletions `KeyedValues` says what the values of everything are that has a unique key. In all sequences one save in four is
/// judged by what it makes of the parent or the store (`KeyedTransition`). Where there is a push journal the process dies now and then.
final class KeyedRun {
    let stack: KeyedStack
    private let policy: NSMergePolicyType
    /// Whether anything goes: then values are not compared.
    let isWild: Bool
    var values: KeyedValues
    var held: [[(object: NSManagedObject, number: Int)]]
    var history: [String] = []
    private var next = 1
    private let turn: Int
    private var saves = 0
    /// Rows that others have written.
    var foreign: Set<KeyedTransition.Name> = []
    /// Objects that new ones turned out to be, as far as was seen.
    private var unified: Set<KeyedTransition.Name> = []
    /// Whether another process that applied a push journal said that what was pushed had not the right number of members together.
    private var isMiscounted = false
    /// Whether the root did something on its own, which unsaved changes of the main context may not know of.
    var hasRootActed = false
    /// Whether the root was saved, and met rows of others, while the main context had deletions that it has not saved since.
    private var hasRootMetOthers = false

    static let policies: [NSMergePolicy] = [
        .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback, .mergeByPropertyObjectTrump, .error,
    ]

    /// What is wrong with the sequence of this seed; nil: nothing. A failing one is told with no step that it fails without.
    static func failure(seed: Int, model: NSManagedObjectModel, world: KeyedStack.World = .memory) throws -> String? {
        var random = SeededRandom(seed: seed + 11)
        let all = Array(0..<10 + random.next(upTo: 40))
        guard var failure = try KeyedRun(seed, model, world).run(seed, steps: all) else { return nil }
        var steps = all
        for step in all.reversed() {
            let fewer = steps.filter { $0 != step }
            guard let other = try KeyedRun(seed, model, world).run(seed, steps: fewer) else { continue }
            (steps, failure) = (fewer, other)
        }
        return "seed \(seed), \(world), steps \(steps) of \(all.count): \(failure)"
    }

    private init(_ seed: Int, _ model: NSManagedObjectModel, _ world: KeyedStack.World) throws {
        let policy = Self.policies[seed % Self.policies.count]
        stack = try KeyedStack(model, policy: policy, world: world)
        self.policy = policy.mergeType
        turn = seed
        isWild = seed / Self.policies.count % 2 == 0 || policy.mergeType == .errorMergePolicyType
        values = KeyedValues(levels: stack.contexts.count, policy: policy.mergeType)
        held = stack.contexts.map { _ in [] }
    }

    private func run(_ seed: Int, steps: [Int]) throws -> String? {
        var rest = steps[...]
        do {
            if isWild { try holdingAll { try populate() } }
            while true {
                if let failure = try holdingAll({ try go(seed, &rest) }) { return describe(failure) }
                if rest.isEmpty { break }
                if let failure = try crash() { return describe(failure) }
            }
        } catch let failure as Unexpected {
            return describe(failure.what)
        }
        // Past every cache.
        stack.coordinator.rowCache.removeAll()
        let fresh = stack.independent()
        let failure = try fresh.performAndWait {
            try KeyedInvariants.failure(in: fresh, isStored: true, isCounted: !isMiscounted, turn: seed) ?? compare(fresh, at: nil)
        }
        return try (failure ?? stack.danglingPairs() ?? stack.changedRows()).map { describe("in the store: \($0)") }
    }

    /// Goes on until there are no steps left, and then saves all; or until the process dies, after the step before the rest.
    private func go(_ seed: Int, _ rest: inout ArraySlice<Int>) throws -> String? {
        while let index = rest.popFirst() {
            var random = SeededRandom(seed: (seed + 1) * 64 + index)
            next = 1 + index * 10
            try step(&random)
            if random.next(upTo: 10) == 0, let failure = try check(random.next(upTo: stack.contexts.count)) { return failure }
            if stack.world.isJournaled && random.next(upTo: 8) == 0 && !rest.isEmpty { return nil }
        }
        for level in stack.contexts.indices.reversed() {
            try save(level)
            if at(level, { $0.hasChanges }) { return "level \(level) has changes after it was saved" }
        }
        return try check(seed / 7 % stack.contexts.count)
    }

    private func crash() throws -> String? {
        history.append("the process dies, and another one opens the document")
        let recovery = try stack.crash()
        held = stack.contexts.map { _ in [] }
        hasRootActed = false
        hasRootMetOthers = false
        values.crash()
        if let recovery {
            if !recovery.miscounted.isEmpty { isMiscounted = true }
            if !recovery.isCommitted { return "what was pushed is not committed" }
            if !isWild && !recovery.problems.isEmpty { return "what was pushed was left out: \(recovery.problems)" }
        }
        return try holdingAll {
            for level in 2..<stack.contexts.count { try find(level) }
            return try check(0)
        }
    }

    struct Unexpected: Error {
        let what: String
    }

    /// On the queues of all contexts, but for one of the main queue.
    private func holdingAll<T>(_ body: () throws -> T) throws -> T {
        try holding(stack.contexts.filter { $0.concurrencyType == .privateQueueConcurrencyType }[...], body)
    }

    private func holding<T>(_ contexts: ArraySlice<NSManagedObjectContext>, _ body: () throws -> T) throws -> T {
        guard let first = contexts.first else { return try body() }
        return try first.performAndWait { () throws -> T in try holding(contexts.dropFirst(), body) }
    }

    func at<T>(_ level: Int, _ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        let context = stack.contexts[level]
        return try context.performAndWait { try body(context) }
    }

    /// What was done, what is wrong, and which object every number is.
    private func describe(_ what: String) -> String {
        let names = Set(held.joined().map { "\($0.number) is \($0.object.objectID)" })
        return (history + [what] + names.sorted()).joined(separator: "\n")
    }

    // MARK: Checks

    private func check(_ level: Int) throws -> String? {
        let context = stack.contexts[level]
        if let failure = instances(level) { return failure }
        // What is unsaved may refer to what was deleted in a parent meanwhile, until it is saved.
        if isWild && (level > 1 && context.hasChanges || level > 0 && (hasRootActed || hasRootMetOthers) && at(1, { $0.hasChanges })) { return nil }
        // What a level has read it keeps showing (N12), and what it changed of an object it shows with all of it.
        for each in [0, 1, level] where each <= level { at(each) { $0.refreshAllObjects() } }
        let reader = stack.reader(of: level)
        let failure = try reader.performAndWait { () throws in
            try KeyedInvariants.failure(in: reader, isStored: false, turn: history.count) ?? compare(reader, at: level)
        }
        if let failure { return "in a child of level \(level): \(failure)" }
        guard isWild else { return nil }
        return try at(level) { context in
            context.refreshAllObjects()
            return try KeyedInvariants.failure(in: context, isStored: false, turn: history.count).map { "at level \(level): \($0)" }
        }
    }

    /// What is held is found by its ID.
    private func instances(_ level: Int) -> String? {
        at(level) { context in
            context.processPendingChanges()
            for (object, number) in held[level] where object.managedObjectContext != nil && !object.isDeleted {
                if context.registeredObject(for: object.objectID) !== object { return "object \(number) at level \(level) is not the one of its ID" }
            }
            return KeyedInvariants.instances(of: context)
        }
    }

    func compare(_ context: NSManagedObjectContext, at level: Int?) throws -> String? {
        if isWild { return nil }
        let path = level.map { $0 == 0 ? [0] : $0 == 1 ? [0, 1] : [0, 1, $0] } ?? []
        let wanted = values.shown(at: path), found = try KeyedValues.found(in: context)
        return wanted == found ? nil : "expected \(wanted)\nfound \(found)"
    }

    func number() -> Int {
        next += 1
        return next
    }

    // MARK: Saves

    /// What may refuse a save: keys and versions under the error policy; rules of the model and of relationships in wild sequences, counts where the level
    /// shows that they are broken.
    private func mayBeRefused(_ error: NSError, _ level: Int) throws -> Bool {
        switch error.code {
        case 133020, 133021: policy == .errorMergePolicyType
        case 1550, 1570, 1600: isWild
        case 1560: try isWild && (error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []).allSatisfy { try mayBeRefused($0, level) }
        case 1580, 1590:
            // Instances are counted as they are shown: with the members that they have read.
            try isWild && (breaksCounts(level) || transition(level).breaksCounts)
        default: false
        }
    }

    private func transition(_ level: Int) throws -> KeyedTransition {
        var numbers: [KeyedTransition.Name: Set<Int>] = [:]
        for (object, number) in held.joined() { numbers[KeyedTransition.Name(object.objectID), default: []].insert(number) }
        unified.formUnion(numbers.filter { $0.value.count > 1 }.keys)
        return try KeyedTransition(level, of: stack, policy: policy, foreign: foreign, unified: unified, isLoose: hasRootActed)
    }

    private func breaksCounts(_ level: Int) -> Bool {
        at(level) { context in
            context.registeredObjects.contains { object in
                !object.isDeleted
                    && Keyed.counts.contains { name, bounds in
                        guard object.entity.relationshipsByName[name] != nil else { return false }
                        let count = object.objectIDs(forRelationshipNamed: name).count
                        return count > 0 && !bounds.contains(count)
                    }
            }
        }
    }

    /// Runs a save that may throw, and sees to what it makes of the parent or the store.
    private func watching(_ level: Int, _ save: () throws -> Void) throws {
        // Looking costs more than saving.
        saves += 1
        guard (saves + turn) % 4 == 0, at(level, { $0.hasChanges }) else { return try save() }
        let transition = try transition(level)
        do { try save() } catch {
            if let failure = try transition.failure(level, of: stack, isRefused: true, isCounted: !isMiscounted) { throw Unexpected(what: failure) }
            throw error
        }
        if let failure = try transition.failure(level, of: stack, isRefused: false, isCounted: !isMiscounted) {
            throw Unexpected(what: "after the save of \(level): \(failure)")
        }
    }

    func save(_ level: Int) throws {
        history.append("save \(level)")
        if level == 0 { rootMeetsOthers() }
        do {
            try watching(level) { try at(level) { try $0.save() } }
            if level == 0 { return values.save(0) }
            if level == 1 { hasRootMetOthers = false }
            let parent = stack.parent(of: level)
            values.push(from: level, to: parent, searching: parent == 1 ? [1, 0] : [0])
        } catch let failure as Unexpected { throw failure } catch let error as NSError {
            guard try mayBeRefused(error, level) else { throw Unexpected(what: "save \(level) threw \(error.code): \(error.localizedDescription)") }
            if !at(level, { $0.hasChanges }) { throw Unexpected(what: "save \(level) was refused and nothing is unsaved") }
            history.append("which is refused: \(error.code)")
            rollback(level)
        }
    }

    /// What others wrote may turn out to be an object of the root's when that is saved, and take over references to what the main context has deleted: there
    /// they are shown until it is saved, too.
    private func rootMeetsOthers() {
        if !foreign.isEmpty, at(1, { !$0.deletedObjects.isEmpty }) { hasRootMetOthers = true }
    }

    func failToSave(_ choice: Int) throws {
        let root = stack.root
        guard root.hasChanges else { return }
        try stack.failNextSave(choice)
        defer { try? stack.stopFailing() }
        history.append("the store refuses")
        rootMeetsOthers()
        do {
            try watching(0) { try root.save() }
            history.append("which did not matter")
            values.save(0)
        } catch let failure as Unexpected { throw failure } catch {
            if !root.hasChanges { throw Unexpected(what: "a refused save left nothing unsaved") }
        }
    }
}
