import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A root context on its stores, a main context and three workers.
final class KeyedStack {
    /// Where rows are, and what survives a crash.
    enum World: CaseIterable {
        /// Two stores in memory, one of them for notes.
        case memory
        /// A file.
        case file
        /// Two files, one of them for notes.
        case twoFiles
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
    private let files: Files?
    private let documents: JournalFixture?
    private var document: JournalDocument?

    var root: NSManagedObjectContext { contexts[0] }
    var main: NSManagedObjectContext { contexts[1] }

    init(_ model: NSManagedObjectModel, policy: NSMergePolicy, world: World) throws {
        self.world = world
        self.policy = policy
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        documents = world.isJournaled ? try JournalFixture(model) : nil
        memory =
            switch world {
            case .memory:
                [
                    InMemoryStore(entities: model.entities.filter { $0.name != "Note" }),
                    InMemoryStore(entities: model.entities.filter { $0.name == "Note" }),
                ]
            case .journal: [InMemoryStore(entities: model.entities)]
            case .file, .twoFiles, .journalAndFile: []
            }
        files = world == .file || world == .twoFiles ? try Files(world == .file ? [nil] : ["Mine", "Apart"], of: coordinator) : nil
        if let documents {
            let document = try documents.made(memory: memory.first) { $0.root.mergePolicy = policy }
            try take(document)
            try addFaults()
            return
        }
        for store in memory { coordinator.add(store) }
        try addFaults()
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

    /// The files of stores.
    private var urls: [URL] { files?.urls ?? (world == .journalAndFile ? [document?.storeURL].compactMap { $0 } : []) }

    private func addFaults() throws {
        let things = ["ZTHING", "ZSPOT", "ZTAG"]
        for (number, file) in urls.enumerated() {
            try Self.addFault(to: file, urls.count == 1 ? things + ["ZNOTE"] : number == 0 ? things : ["ZNOTE"])
        }
    }

    /// What `failNextSave` makes true.
    private static func addFault(to file: URL, _ tables: [String]) throws {
        let triggers = tables.flatMap { table in
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
        let urls = urls
        if !urls.isEmpty {
            _ = try SQLiteShell(file: urls[choice % urls.count]).rows("INSERT INTO fault VALUES (1)")
            return
        }
        let isSpent = Spent()
        memory[choice % memory.count].observe { request in
            if case .save = request, isSpent.take() { throw CocoaError(.fileWriteOutOfSpace) }
        }
    }

    func stopFailing() throws {
        for file in urls { _ = try SQLiteShell(file: file).rows("DELETE FROM fault") }
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

    func reader(of level: Int) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = contexts[level]
        return context
    }

    /// Rows in a file that are not what a store wrote, as their sums say.
    func changedRows() throws -> String? {
        for file in files?.urls ?? [] {
            let report = try SQLiteStoreVerification.verify(file)
            if !report.isSound { return "\(file.lastPathComponent) has rows that no store wrote: \(report)" }
        }
        return nil
    }

    /// Pairs in the file that name a row that is not there.
    func danglingPairs() throws -> String? {
        guard let shell = urls.first.map(SQLiteShell.init) else { return nil }
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

/// Stores in files of a directory of their own.
private final class Files {
    let urls: [URL]
    private let directory: URL
    private let coordinator: NSPersistentStoreCoordinator

    /// - Parameter configurations: of the stores; nil: all entities.
    init(_ configurations: [String?], of coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("keyed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let directory = directory
        urls = configurations.map { directory.appendingPathComponent("\($0 ?? "All").store") }
        for (name, url) in zip(configurations, urls) {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: name, at: url, options: [SQLiteRowSumsOption: true])
        }
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: directory)
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
