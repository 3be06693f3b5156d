import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A root context above its stores, a main context and three workers.
final class KeyedStack {
    /// Where rows are, and what survives a crash.
    enum World: CaseIterable {
        /// Two stores in memory, one of them for notes.
        case memory
        /// A file.
        case file
        /// A document with a push journal, over a store in memory that outlives it.
        case journal
        /// The same over a file.
        case journalAndFile

        var isJournaled: Bool { self == .journal || self == .journalAndFile }
    }

    let world: World
    private(set) var coordinator: NSPersistentStoreCoordinator
    private(set) var contexts: [NSManagedObjectContext] = []
    private let policy: NSMergePolicy
    private let memory: [InMemoryStore]
    private let fixture: StoreFixture?
    private let documents: JournalFixture?
    private var document: JournalDocument?

    var root: NSManagedObjectContext { contexts[0] }
    var main: NSManagedObjectContext { contexts[1] }

    init(_ model: NSManagedObjectModel, policy: NSMergePolicy, world: World) throws {
        self.world = world
        self.policy = policy
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let mine = model.entities.filter { $0.name != "Note" }, apart = model.entities.filter { $0.name == "Note" }
        fixture = world == .file ? try StoreFixture(model, options: [SQLiteRowSumsOption: true]) : nil
        documents = world.isJournaled ? try JournalFixture(model) : nil
        memory =
            switch world {
            case .memory: [InMemoryStore(entities: mine), InMemoryStore(entities: apart)]
            case .journal: [InMemoryStore(entities: model.entities)]
            case .file, .journalAndFile: []
            }
        if let documents {
            let document = try documents.made(memory: memory.first) { $0.root.mergePolicy = policy }
            try take(document)
            if let file { try Self.addFault(to: file) }
            return
        }
        if let fixture {
            coordinator.add(fixture.store)
            try Self.addFault(to: fixture.file)
        } else {
            for store in memory { coordinator.add(store) }
        }
        let root = NSManagedObjectContext(.privateQueueConcurrencyType), main = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        root.mergePolicy = policy
        main.parent = root
        take(root, main)
    }

    private func take(_ root: NSManagedObjectContext, _ main: NSManagedObjectContext) {
        root.name = "root"
        main.name = "main"
        contexts = [root, main]
        for name in ["worker 2", "worker 3", "worker 4"] {
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.parent = main
            context.name = name
            contexts.append(context)
        }
    }

    private func take(_ document: JournalDocument) throws {
        self.document = document
        guard let coordinator = document.root.persistentStoreCoordinator else { throw CocoaError(.fileReadUnknown) }
        self.coordinator = coordinator
        take(document.root, document.managedObjectContext)
    }

    func parent(of level: Int) -> Int { level <= 1 ? 0 : 1 }

    /// The process dies and another one opens the document: what was pushed into the main context is there again, and nothing else is.
    func crash() throws -> PushRecovery? {
        guard let documents, let old = document else { return nil }
        let policy = policy
        let next = try documents.reopened(documents.crashed(old), memory: memory.first) { $0.root.mergePolicy = policy }
        try take(next)
        return next.pushRecovery
    }

    // MARK: Faults

    private var file: URL? { fixture?.file ?? (world == .journalAndFile ? document?.storeURL : nil) }

    /// What `failNextSave` makes true.
    private static func addFault(to file: URL) throws {
        let triggers = ["ZTHING", "ZSPOT", "ZTAG"].flatMap { table in
            ["INSERT", "UPDATE", "DELETE"].map { event in
                """
                CREATE TRIGGER fault\(event)\(table) BEFORE \(event) ON \(table) WHEN EXISTS (SELECT 1 FROM fault)
                BEGIN SELECT RAISE(ABORT, 'the disk is bad'); END;
                """
            }
        }
        _ = try SQLiteShell(file: file).rows("CREATE TABLE fault (x); " + triggers.joined())
    }

    /// A store refuses its next save, if it has to write then; which one is up to `choice`.
    func failNextSave(_ choice: Int) throws {
        if let file {
            _ = try SQLiteShell(file: file).rows("INSERT INTO fault VALUES (1)")
            return
        }
        let isSpent = Spent()
        memory[choice % memory.count].observe { request in
            if case .save = request, isSpent.take() { throw CocoaError(.fileWriteOutOfSpace) }
        }
    }

    func stopFailing() throws {
        if let file { _ = try SQLiteShell(file: file).rows("DELETE FROM fault") }
        for store in memory { store.observe(nil) }
    }

    // MARK: Others

    /// Another context on the coordinator.
    func independent() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy
        return context
    }

    func reader(above level: Int) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = contexts[level]
        return context
    }

    /// Rows in the file that are not what a store wrote, as their sums say.
    func changedRows() throws -> String? {
        guard let fixture else { return nil }
        let report = try SQLiteStoreVerification.verify(fixture.file)
        return report.isSound ? nil : "the file has rows that no store wrote: \(report)"
    }

    /// Pairs in the file that name a row that is not there.
    func danglingPairs() throws -> String? {
        guard let shell = file.map(SQLiteShell.init) else { return nil }
        for join in try shell.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z!_%TAGS' ESCAPE '!'") {
            let columns = try shell.column("SELECT name FROM pragma_table_info('\(join)') WHERE name NOT LIKE '%FOK%' ORDER BY name LIKE '%TAGS%'")
            let found = try shell.rows(
                """
                SELECT * FROM \(join) WHERE \(columns[0]) NOT IN (SELECT Z_PK FROM ZTHING) OR \(columns[1]) NOT IN (SELECT Z_PK FROM ZTAG)
                """)
            if !found.isEmpty { return "the file has pairs without rows: \(join) \(columns) \(found)" }
        }
        return nil
    }
}

/// Something that happens once.
// Used on one thread.
private final class Spent: @unchecked Sendable {
    private var isSpent = false

    func take() -> Bool {
        defer { isSpent = true }
        return !isSpent
    }
}
