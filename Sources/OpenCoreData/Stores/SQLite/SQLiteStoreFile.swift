import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// What is done to the file of a store that is not open here. Other processes may have it open: everything goes through SQLite, with its locks and
/// with what is in the write-ahead log.
struct SQLiteStoreFile: StoreFile {
    let url: URL
    private let options: SQLiteStoreOptions

    /// Throws 134080 for options that make no sense.
    init(_ url: URL, options: [AnyHashable: Any]?) throws {
        self.url = url
        self.options = try SQLiteStoreOptions(options)
    }

    /// Whether there is a store. Throws 134080 or 134000 for a file that is none.
    package func holdsStore() throws -> Bool { try isThere && isStore }

    /// Takes everything out of a store's file, so that it is as good as new. Where there is no file there is nothing to do. Throws 134080 or 134000
    /// for a file that is no store.
    package func empty() throws {
        guard isThere, try isStore else { return }
        try working("empty") {
            let file = try DatabaseQueue(path: url.path, configuration: configuration())
            defer { try? file.close() }
            let pageSize = try file.read { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 4096 }
            var configuration = Configuration()
            // A file with a log keeps the size of its pages.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(pageSize)") }
            try DatabaseQueue(configuration: configuration).backup(to: file)
            try fold(file)
        }
    }

    /// Puts what is in another store's file into this one's in one transaction, or makes it. Throws 134080 or 134000 where one of both is a file
    /// but no store, or the other is not there, 3072 where the watch among the options ends it; whatever it throws, nothing is left of what was copied.
    package func replace(with source: any StoreFile) throws {
        guard let source = source as? SQLiteStoreFile else { Violation.misuse("a SQLite store can only be replaced with another") }
        guard source.isThere, try source.isStore else {
            throw NSError.coreData(.persistentStoreOpen, "There is no store at \(source.url.path) to put in the place of \(url.path).")
        }
        let wasThere = isThere
        if wasThere { _ = try isStore }
        do {
            try working("replace") {
                let from = try DatabaseQueue(path: source.url.path, configuration: source.configuration(readonly: true))
                defer { try? from.close() }
                let file = try DatabaseQueue(path: url.path, configuration: configuration())
                defer { try? file.close() }
                try copy(source.url, from, to: file)
                try fold(file)
                _ = options.migrationWatch?.goesOn(.finishingCopy, 1)
            }
        } catch {
            if !wasThere { NewStoreFile.remove(url) }
            throw error
        }
    }

    /// How many pages are copied between two calls of the watch: 4 MiB.
    private static let copiedAtATime: CInt = 1024

    /// Page by page, as the other file is at one moment.
    private func copy(_ url: URL, _ from: DatabaseQueue, to file: DatabaseQueue) throws {
        guard let watch = options.migrationWatch else { return try from.backup(to: file) }
        func tell(_ step: MigrationWatch.Step, _ share: Double) throws {
            if !watch.goesOn(step, share) { throw MigrationWatch.givenUp("The copy of \(url.path)") }
        }
        try from.read { source in
            // What is read first keeps others' commits out until the last page is copied; SQLite would begin anew after each.
            let pages = try source.integer("SELECT count(*) FROM sqlite_master").flatMap { _ in try source.integer("PRAGMA page_count") } ?? 0
            try tell(.copying, 0)
            // The last pages and the commit are one call.
            if pages <= Self.copiedAtATime { try tell(.finishingCopy, 0) }
            try file.writeWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: Self.copiedAtATime) { progress in
                    if progress.isCompleted { return }
                    try tell(.copying, Double(progress.completedPageCount) / Double(max(1, progress.totalPageCount)))
                    if progress.remainingPageCount <= Self.copiedAtATime { try tell(.finishingCopy, 0) }
                }
            }
        }
    }

    /// What is kept about the store as a whole. Throws 134080 or 134000 for a file that is no store or is not there.
    package func metadata() throws -> [String: Any] {
        guard var metadata = isThere ? try opening(isReadOnly: true).probe()?.metadata : nil else { throw noStore }
        for key in StoreMetadataCoding.hiddenKeys { metadata[key] = nil }
        return metadata
    }

    /// Sets that, but for what is the store's own. Throws as reading it does, and 134030 where the file can't be written.
    package func setMetadata(_ metadata: [String: Any]) throws {
        guard isThere, try isStore else { throw noStore }
        try opening(isReadOnly: false).rewriteMetadata { current in
            let kept = current
            current = metadata
            for key in SQLiteStore.ownKeys { current[key] = kept[key] }
        }
    }

    /// The model that the store was made with, or migrated to; nil where it does not say, or not so that it makes sense.
    package func model() throws -> NSManagedObjectModel? {
        guard let probe = isThere ? try opening(isReadOnly: true).probe() : nil else { throw noStore }
        return try? probe.model?.model(hasClasses: true)
    }

    /// The stage of a migration that is not over, by the checksum of the version it leads to; nil: none. Throws as reading metadata does.
    package func dueStage() throws -> String? {
        guard let metadata = isThere ? try opening(isReadOnly: true).probe()?.metadata : nil else { throw noStore }
        return metadata[StoreMetadataCoding.dueStageKey] as? String
    }

    /// Keeps that. Throws as setting metadata does.
    package func setDueStage(_ checksum: String?) throws {
        if try dueStage() == checksum { return }
        try opening(isReadOnly: false).rewriteMetadata { $0[StoreMetadataCoding.dueStageKey] = checksum }
    }

    /// The sums of rows, if a table has them. Throws as reading metadata does.
    package func lastingOptions() throws -> [AnyHashable: Any] {
        guard let probe = isThere ? try opening(isReadOnly: true).probe() : nil else { throw noStore }
        return probe.summedTables.isEmpty ? [:] : [SQLiteRowSumsOption: true]
    }

    private var noStore: NSError { .coreData(.persistentStoreOpen, "There is no store at \(url.path).") }

    func opening(isReadOnly: Bool) -> SQLiteStoreOpening {
        SQLiteStoreOpening(url: url, entities: [], model: nil, options: options, isReadOnly: isReadOnly)
    }

    /// Whether both are one file, whatever it is called.
    package func isSame(as other: URL) -> Bool { place(url) == place(other) }

    private func place(_ url: URL) -> String { url.standardizedFileURL.resolvingSymlinksInPath().path }

    private var isThere: Bool { url.isFileURL && FileManager.default.fileExists(atPath: url.path) }

    /// False for a file without anything in it.
    private var isStore: Bool {
        get throws {
            try opening(isReadOnly: true).probe() != nil
        }
    }

    func configuration(readonly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(options.timeout)
        return configuration
    }

    /// Empties the log, if nobody reads from it.
    func fold(_ file: DatabaseQueue) throws {
        _ = try file.writeWithoutTransaction { try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try Disk.synchronize(fileIfAny: url)
    }

    private func working(_ verb: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as DatabaseError {
            let cause = SQLiteError(error, operation: "")
            throw cause.cocoaError(.persistentStoreSave, "Can't \(verb) \(url.path). \(cause.advice)")
        }
    }
}

/// The files that a store was opened with. Whoever moves, deletes or replaces one of them leaves a connection that goes on writing where nobody looks.
final class SQLiteStoreFiles: Sendable {
    private let path: String
    private let file: FilePlace?
    /// The write-ahead log, which SQLite makes when it first needs it and keeps until the last connection is closed.
    private let log: Mutex<FilePlace?>

    init(_ path: String) {
        self.path = path
        file = FilePlace(path)
        log = Mutex(FilePlace("\(path)-wal"))
    }

    /// Throws `SQLITE_READONLY_DBMOVED` where a path does not lead to the file any more that was opened there.
    func check() throws(SQLiteError) {
        if FilePlace(path) != file { throw Self.moved(path) }
        let now = FilePlace("\(path)-wal")
        let isSame = log.withLock { log in
            if log == nil { log = now }
            return log == now
        }
        if !isSame { throw Self.moved("\(path)-wal") }
    }

    private static func moved(_ path: String) -> SQLiteError {
        SQLiteError(code: SQLiteError.moved, message: "\(path) was moved, deleted or replaced since it was opened", operation: "while saving")
    }
}

/// Taking over what another store holds.
extension SQLiteStore: CopyableStore {
    /// Makes a file of all that is committed, as it is at one moment, whoever reads and writes meanwhile: the same rows, keys, versions and metadata,
    /// and a UUID of its own. The history stays behind: it is that of a store with another UUID. The file must not be there yet. Throws 134030 where it can't be written, 134060 where this one can't be read.
    package func copy(to url: URL) throws {
        do {
            // Beside the readers and the writer: it may take long.
            try pool.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [url.path]) }
            let queue = try DatabaseQueue(path: url.path)
            defer { try? queue.close() }
            try queue.write { database in
                guard let data = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"),
                    var metadata = StoreMetadataCoding.metadata(data)
                else { throw SQLiteError(code: SQLITE_CORRUPT, message: "Z_METADATA can't be read", operation: "while copying") }
                try SQLiteHistoryTables.drop(in: database)
                let uuid = UUID().uuidString
                metadata[NSStoreUUIDKey] = uuid
                try database.run(
                    "UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", [.text(uuid), .blob(try StoreMetadataCoding.data(metadata))])
            }
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "copy to \(url.deletingLastPathComponent().path)")
        }
    }

    /// What is read by whoever takes everything over: a copy of the file, as it is at one moment.
    package func withSnapshot(_ body: (NSPersistentStore) throws -> Void) throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("OpenCoreData-\(UUID().uuidString).sqlite")
        defer { NewStoreFile.remove(place) }
        try copy(to: place)
        let copy = try SQLiteStore(
            model: model, entities: entities, configurationName: configurationName, url: place,
            options: [SQLitePersistentWALOption: false, NSIgnorePersistentStoreVersioningOption: true])
        defer { try? copy.close() }
        copy.adopt(identity)
        try body(copy)
    }

    /// Writes all that `source` holds, keys and versions too, in one transaction into this store, which is empty. Both have one identity.
    func fill(from source: NSPersistentStore) throws {
        var cache = pageCache
        do {
            try pool.writeWithoutTransaction { database in
                defer { cache.shrink(in: database) }
                try database.inTransaction(.immediate) {
                    // Parts that come later go into indexes that are there.
                    try cache.grow(for: PageCache.manyRows, in: database)
                    try source.forEachPart { try write($0, in: database) }
                    return .commit
                }
            }
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "save to")
        }
    }

    private func write(_ part: StoreContents, in database: Database) throws {
        var changes = ChangeSet()
        for fetched in part.rows { changes.set(fetched.id, fetched.row.map { PendingRow(kind: .inserted, row: $0) }) }
        for (key, members) in part.pairs {
            var pairs = PairChanges()
            for member in members { pairs.add(member) }
            changes.pairs[key] = pairs
        }
        changes.orders = part.orders
        // A part refers to rows of parts that are still to come.
        var operation = SaveOperation(
            try SavePlan(changes, schema: schema), schema: schema, identity: identity, clearsKeysFirst: false, checksReferences: false)
        try operation.run(in: database)
        // Whoever read a row before goes on from the version that he knows.
        for fetched in part.rows {
            guard let version = fetched.row?.version, version > 1 else { continue }
            let table = try schema.map(of: fetched.id.entity).tableName.sqlName
            try database.run("UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ?", [.integer(version), .integer(fetched.id.key)])
        }
    }
}

extension SQLiteStore: SummingStore {
    /// See `NSPersistentStoreCoordinator.adoptRows`.
    package func adoptRows(_ runs: [ClosedRange<Int64>], of entity: NSEntityDescription, emptying attribute: String) throws -> AdoptedRows {
        let map = try schema.map(of: entity), table = schema.tables[map.table]
        var found = AdoptedRows()
        guard let sum = table.sum, !runs.isEmpty else { return found }
        let isChanged = "Z_PK BETWEEN ? AND ? AND \(RowSum.columnName) IS NOT \(sum.stored)"
        func bounds(_ run: ClosedRange<Int64>) -> [SQLParameter] { [.integer(run.lowerBound), .integer(run.upperBound)] }
        do {
            // Nearly always there are none, and nothing has to be locked.
            let select = "SELECT Z_PK FROM \(table.name.sqlName) WHERE \(isChanged)"
            let changed = try pool.read { database in try runs.filter { try database.integer(select, bounds($0)) != nil } }
            if changed.isEmpty { return found }
            guard let column = map.layout.slot(of: attribute).flatMap({ map.columns[$0]?.name }) else { return found }
            let values = sum.columns.map { (column: $0, value: $0 == column ? "NULL" : $0.sqlName) }
            // All of them: what others are derived from may be what somebody changed.
            let assignments = values.filter { $0.column != "Z_PK" }.map { "\($0.column.sqlName) = \($0.value)" }.joined(separator: ", ")
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    derivations?.forget()
                    try checkModel(in: database)
                    let statement = try database.prepared(
                        "UPDATE \(table.name.sqlName) SET Z_OPT = \(SaveOperation.nextVersion), \(assignments), \(RowSum.columnName) = \(sum.whole(values)) "
                            + "WHERE \(isChanged) RETURNING Z_PK")
                    for run in changed {
                        try statement.bind(bounds(run))
                        try statement.forEachRow { found.keys.insert(sqlite3_column_int64($0, 0)) }
                    }
                    found.computed = try derived(in: database)
                    return .commit
                }
            }
            foreignCommits.withLock { $0 }?.didCommit()
            return found
        } catch {
            throw storeError(error, .persistentStoreSave, doing: "look at the rows of")
        }
    }
}

extension SQLiteStore: CountingStore {
    package func count(_ plan: FetchPlan, among runs: [ClosedRange<Int64>]) throws -> Int {
        try SQLiteReader(self).count(plan, among: runs)
    }
}
