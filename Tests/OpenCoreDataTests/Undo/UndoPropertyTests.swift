import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

@Suite struct UndoPropertyTests {
    /// How many runs each case makes.
    private static let seeds = 80
    /// Runs that found something once.
    private static let hard = [544, 584, 1171, 1254, 1584, 2983, 3714, 3992, 5423, 5781]

    private static func seeds(of part: Int) -> [Int] { Array(part * seeds..<(part + 1) * seeds) + (part == 0 ? hard : []) }

    /// A context with nodes that are saved, some of them changed since, and an undo manager.
    private func graph(_ model: NSManagedObjectModel, seed: Int, in context: NSManagedObjectContext) throws -> (UndoGraph, SeededRandom) {
        let graph = UndoGraph(context)
        var random = SeededRandom(seed: seed + 1)
        for _ in 0..<3 { try graph.editAtRandom(&random) }
        try graph.save()
        if seed.isMultiple(of: 3) { try graph.editAtRandom(&random) }
        if seed.isMultiple(of: 2) { context.refreshAllObjects() }
        context.undoManager = UndoManager()
        graph.note("start")
        return (graph, random)
    }

    private func differences(_ wanted: [Int64: UndoGraph.Moment], _ found: [Int64: UndoGraph.Moment]) -> String {
        Set(wanted.keys).union(found.keys).sorted().filter { wanted[$0] != found[$0] }
            .map { "\($0):\n  wanted \(wanted[$0].map { "\($0)" } ?? "none")\n  found  \(found[$0].map { "\($0)" } ?? "none")" }
            .joined(separator: "\n")
    }

    // U2
    @Test(.longComputation, arguments: 0..<2)
    func undoingAndRedoingStepByStepShowsEveryMomentAgain(_ part: Int) throws {
        let model = UndoGraph.model()
        for seed in Self.seeds(of: part) {
            let stack = TestStack(model), context = stack.root
            try context.performAndWait { () throws in
                var (graph, random) = try graph(model, seed: seed, in: context)
                var moments = [try UndoGraph.look(at: context, flags: true)]
                let hadChanges = context.hasChanges
                for _ in 0..<6 {
                    try graph.editAtRandom(&random)
                    let now = try UndoGraph.look(at: context, flags: true)
                    // An event that changed nothing is no group.
                    if context.undoManager?.undoCount == moments.count { moments.append(now) }
                    #expect(moments.last == now, "seed \(seed)")
                }
                func check(_ place: Int, _ what: String) throws {
                    let found = try UndoGraph.look(at: context, flags: true)
                    if found != moments[place] {
                        Issue.record("seed \(seed), \(what) to \(place): \(differences(moments[place], found))\n\(graph.history)")
                    }
                }
                for place in (0..<moments.count - 1).reversed() {
                    context.undo()
                    try check(place, "undo")
                }
                #expect(context.undoManager?.canUndo == false)
                #expect(context.hasChanges == hadChanges, "seed \(seed)")
                for place in 1..<moments.count {
                    context.redo()
                    try check(place, "redo")
                }
            }
        }
    }

    /// Edits, saves, undoes and redoes at random; the moments by how many groups can be undone.
    private func wander(_ graph: UndoGraph, _ random: inout SeededRandom, seed: Int) throws {
        let context = graph.context
        let manager = try #require(context.undoManager)
        var moments = [try UndoGraph.look(at: context, flags: false)]
        for _ in 0..<14 {
            switch random.next(upTo: 8) {
            case 0, 1, 2:
                let count = manager.undoCount
                try graph.editAtRandom(&random)
                if manager.undoCount > count { moments = moments[...count] + [try UndoGraph.look(at: context, flags: false)] }
            case 3: try graph.save()
            case 4, 5, 6:
                context.undo()
                graph.note("undo |")
            default:
                context.redo()
                graph.note("redo |")
            }
            let found = try UndoGraph.look(at: context, flags: false)
            let wanted = moments[manager.undoCount]
            if found != wanted {
                Issue.record("seed \(seed), at \(manager.undoCount): \(differences(wanted, found))\n\(graph.history.joined(separator: "\n"))")
                return
            }
        }
    }

    /// Wanders, saves, and compares what is seen with what a fresh context reads from the store.
    private func compareWithStore(_ model: NSManagedObjectModel, seed: Int, _ root: NSManagedObjectContext, _ context: NSManagedObjectContext) throws
    {
        let coordinator = try #require(root.persistentStoreCoordinator)
        try holding(root, context) { () throws in
            var (graph, random) = try graph(model, seed: seed, in: context)
            try wander(graph, &random, seed: seed)
            try context.save()
            try root.save()
            #expect(!context.hasChanges)
            let seen = try UndoGraph.look(at: context, flags: false)
            coordinator.rowCache.removeAll()
            let fresh = NSManagedObjectContext(.privateQueueConcurrencyType)
            fresh.persistentStoreCoordinator = coordinator
            let stored = try fresh.performAndWait { try UndoGraph.look(at: fresh, flags: false) }
            if stored != seen { Issue.record("seed \(seed): \(differences(seen, stored))\n\(graph.history.joined(separator: "\n"))") }
        }
    }

    // U2
    @Test(.longComputation, arguments: 0..<2)
    func undoGoesAcrossSavesAndWhatIsSavedIsWhatIsSeen(_ part: Int) throws {
        let model = UndoGraph.model()
        for seed in Self.seeds(of: part) {
            let stack = TestStack(model)
            try compareWithStore(model, seed: seed, stack.root, stack.root)
        }
    }

    // U2, N1
    @Test(.longComputation) func undoInAChildGoesAcrossPushesAndWhatIsSavedIsWhatIsSeen() throws {
        let model = UndoGraph.model()
        for seed in 0..<Self.seeds {
            let stack = TestStack(model)
            try compareWithStore(model, seed: seed, stack.root, stack.child(of: stack.root))
        }
    }

    // U2
    @Test(.longComputation) func whatIsOnDiskAfterUndoIsWhatIsSeen() throws {
        let model = UndoGraph.model()
        for seed in 0..<10 {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("undo-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.appendingPathComponent("store.sqlite"))
            let root = NSManagedObjectContext(.privateQueueConcurrencyType)
            root.persistentStoreCoordinator = coordinator
            try compareWithStore(model, seed: seed, root, root)
            try coordinator.remove(store)
        }
    }
}
