import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// New objects that came into a context from its children are not settled anew on their way to the root, unless somebody else reaches it.
@Suite struct SettledImportTests {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext
    private let side: NSManagedObjectContext

    init() {
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
        side = stack.child(of: stack.root, name: "side")
        for context in [stack.root, main] {
            context.performAndWait { context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) }
        }
    }

    /// Makes a department under the ID that its key is reserved for.
    @discardableResult
    private func `import`(_ code: String, _ name: String, in context: NSManagedObjectContext) throws -> NSManagedObjectID {
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Department"])
        return try context.performAndWait { () throws in
            let id = try #require(try context.findOrReserve(entity, constraint: 0, keys: [.one(.string(code))]).first).id
            let row = RowSnapshot.defaults(id.layout), slots = ["code", "name"].compactMap { id.layout.slot(of: $0) }
            for (slot, text) in zip(slots, [code, name]) { row.update(slot, to: .string(text)) }
            context.insertRow(id, row, set: SlotSet(slots))
            return id
        }
    }

    private func save(_ contexts: NSManagedObjectContext...) throws {
        for context in contexts { try context.performAndWait { () throws in try context.save() } }
    }

    /// What the root has, of each department its code and its name.
    private func departments(_ context: NSManagedObjectContext? = nil) throws -> [String] {
        let context = context ?? stack.root
        return try context.performAndWait { () throws in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Department")).map {
                "\($0.value(forKey: "code") ?? "nil") \($0.value(forKey: "name") ?? "nil")"
            }.sorted()
        }
    }

    @Test func whatComesFromWorkersAloneReachesTheRootAndTheStore() throws {
        for code in ["A", "B", "C"] {
            try `import`(code, "first", in: worker)
            try save(worker)
        }
        try save(main)
        #expect(try departments() == ["A first", "B first", "C first"])
        try `import`("D", "later", in: worker)
        try save(worker, main, stack.root)
        #expect(try departments(side) == ["A first", "B first", "C first", "D later"])
    }

    @Test func aKeyThatAnotherChildOfTheRootHasTakenMeanwhileIsOneObject() throws {
        try worker.performAndWait { () throws in
            worker.make("Department", ["code": "A", "name": "worker"])
            try worker.save()
        }
        try side.performAndWait { () throws in
            side.make("Department", ["code": "A", "name": "side"])
            try side.save()
        }
        try save(main)
        #expect(try departments() == ["A worker"])
        try save(stack.root)
        #expect(try departments(stack.child(of: stack.root, name: "reader")) == ["A worker"])
    }

    @Test func anObjectThatAnotherChildOfTheRootHasSavedThroughIsUpdated() throws {
        let mine = try `import`("A", "worker", in: worker)
        let theirs = try `import`("A", "side", in: side)
        #expect(mine === theirs)
        try save(worker)
        try side.performAndWait { () throws in try side.saveToStore() }
        try save(main, stack.root)
        #expect(try departments(stack.child(of: stack.root, name: "reader")) == ["A worker"])
    }

    @Test func anObjectOfTheMainContextsOwnIsSettledAsBefore() throws {
        try `import`("A", "worker", in: worker)
        try save(worker)
        try main.performAndWait { () throws in
            main.make("Department", ["code": "A", "name": "main"])
            main.processPendingChanges()
        }
        _ = try? save(main)
        #expect(try departments().count == 1)
    }
}
