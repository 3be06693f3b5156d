import Foundation
import GRDB
import GRDBSQLite

/// Opens or makes the file of a store.
struct SQLiteStoreOpening {
    struct Opened {
        let pool: DatabasePool
        let schema: SQLSchema
        let derivations: SQLiteDerivations?
        let metadata: Data
        let uuid: String
    }

    /// What an existing file says of itself.
    struct Probe {
        let metadata: [String: Any]
        let uuid: String
        let model: ModelArchive?
        /// Entity numbers by name.
        let numbers: [String: Int64]
        /// The largest key that was counted, by number of the entity.
        let largestKeys: [Int64: Int64]
        /// The tables whose rows have their sum beside them.
        let summedTables: Set<String>

        /// Whether another framework made the file, Apple's: its hashes are made in a way of its own, so the tables tell whether it is of a model.
        var isForeign: Bool {
            model == nil && (metadata[StoreMetadataCoding.frameworkVersionKey] as? NSNumber)?.intValue ?? 0 > StoreMetadataCoding.frameworkVersion
        }
    }

    let url: URL
    let entities: [NSEntityDescription]
    let model: NSManagedObjectModel?
    let options: SQLiteStoreOptions
    let isReadOnly: Bool

    func open() throws -> Opened {
        try lookingTwice {
            // A file is looked at before anything is set in it: it may be somebody else's.
            if let probe = try probe() {
                return try open(try brought(probe))
            }
            if isReadOnly {
                throw NSError.coreData(
                    .persistentStoreOpen, "\(url.path) can't be opened for reading: there is no store there. Open it for writing once to create it.")
            }
            return try create()
        }
    }

    /// To SQLite a file is damaged where the disk does not give it out. So it is looked at twice before that is said, and whether it can be read at all.
    func lookingTwice<T>(_ body: () throws -> T) throws -> T {
        func attempt() throws -> T {
            do { return try body() } catch { throw described(error) }
        }
        func isDamage(_ error: any Error) -> Bool { SQLiteError(in: error)?.isDamage ?? false }
        do { return try attempt() } catch  where isDamage(error) {
            do { return try attempt() } catch  where isDamage(error) {
                throw SQLiteFileCheck(url.path).failureToRead().map(described) ?? error
            }
        }
    }

    // MARK: Looking

    /// Nil if there is no file, or an empty one.
    func probe() throws -> Probe? {
        guard url.isFileURL else {
            throw NSError.coreData(.persistentStoreOpen, "\(url.absoluteString) is not a file URL; a SQLite store needs one.")
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            let folder = url.deletingLastPathComponent().path
            guard FileManager.default.fileExists(atPath: folder) else {
                throw NSError.coreData(.persistentStoreOpen, "\(url.path) can't be opened: the directory \(folder) does not exist. Create it first.")
            }
            return nil
        }
        if isDirectory.boolValue {
            throw NSError.coreData(.persistentStoreOpen, "\(url.path) can't be opened: it is a directory.")
        }
        do {
            let queue = try DatabaseQueue(path: url.path, configuration: configuration(forProbe: true))
            defer { try? queue.close() }
            return try queue.inDatabase { try read($0, checksFile: options.checksFile) }
        } catch {
            throw described(error)
        }
    }

    func read(_ database: Database, checksFile: Bool) throws -> Probe? {
        let tables = Set(try String.fetchAll(database, sql: "SELECT upper(name) FROM sqlite_master WHERE type = 'table'"))
        if tables.isEmpty { return nil }
        guard tables.contains("Z_METADATA"), tables.contains("Z_PRIMARYKEY") else {
            throw NSError.coreData(
                .persistentStoreInvalidType,
                "\(url.path) is a SQLite database but not a store: it has no Z_METADATA. Choose another file; this one was not touched.")
        }
        if checksFile {
            let damage = try checked(database)
            if !damage.isEmpty { throw SQLiteError(code: SQLITE_CORRUPT, message: damage.joined(separator: "; "), operation: "while checking") }
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1"),
            let data = row[1] as Data?, let metadata = StoreMetadataCoding.metadata(data)
        else {
            throw NSError.coreData(
                .persistentStoreOpen, "\(url.path) is damaged: its metadata can't be read. Restore it from a copy, or move it away.")
        }
        let uuid = (metadata[NSStoreUUIDKey] as? String) ?? (row[0] as String?) ?? ""
        let cache = tables.contains("Z_MODELCACHE") ? try Data.fetchOne(database, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") : nil
        var numbers: [String: Int64] = [:], largest: [Int64: Int64] = [:]
        let entities = "SELECT Z_NAME, Z_ENT, CAST(Z_MAX AS INTEGER) FROM Z_PRIMARYKEY WHERE Z_ENT < \(SQLiteHistoryTables.firstNumber)"
        for row in try Row.fetchAll(database, sql: entities) {
            guard let name = row[0] as String?, let number = Int64.fromDatabaseValue(row[1]) else { continue }
            numbers[name] = number
            largest[number] = row[2] ?? 0
        }
        let summed = try String.fetchAll(
            database,
            sql: "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name = '\(RowSum.columnName)'")
        return Probe(
            metadata: metadata, uuid: uuid, model: cache.flatMap { ModelArchive($0) }, numbers: numbers, largestKeys: largest,
            summedTables: Set(summed))
    }

    /// How many pages SQLite checks, or instructions it runs, between two calls of the watch: some milliseconds.
    private static let checkingPause: Int32 = 5_000

    /// The damage that SQLite finds in the file.
    private func checked(_ database: Database) throws -> [String] {
        let check = SQLiteFileCheck(url.path), pragma = "quick_check(5)"
        guard let watch = options.migrationWatch, let connection = database.sqliteConnection else {
            return try check.damage(in: database, by: pragma)
        }
        var isGivenUp = !watch.goesOn(.checking, 0)
        do {
            if isGivenUp { throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
            let damage = try MigrationWatch.listening(
                on: connection, pause: Self.checkingPause,
                to: {
                    isGivenUp = isGivenUp || !watch.goesOn(.checking, 0)
                    return !isGivenUp
                }, { try check.damage(in: database, by: pragma) })
            _ = watch.goesOn(.checking, 1)
            return damage
        } catch  where isGivenUp {
            throw MigrationWatch.givenUp("The check of \(url.path)")
        }
    }

    // MARK: Opening

    private func open(_ probe: Probe) throws -> Opened {
        let schema = try SchemaBuilder.schema(for: entities, in: SQLiteDialect(), known: probe.numbers) { table in
            probe.summedTables.contains(table) || options.sumsRows && !isReadOnly
        }
        let derivations = try Derivation.all(in: schema), pool = try makePool()
        do {
            if options.ignoresVersion || isForeign(probe) {
                let missing = try pool.read { try schema.missing(in: $0) + (isForeign(probe) ? schema.misfits(in: $0) : []) }
                if !missing.isEmpty {
                    throw NSError.coreData(
                        .persistentStoreIncompatibleSchema,
                        "\(url.path) lacks what the model needs: \(missing.prefix(10).joined(separator: ", ")). Open it with the model it was made with."
                    )
                }
            }
            var metadata = probe.metadata, kept: SQLiteDerivations?
            if !isReadOnly {
                // A trigger of the file may call functions that are known from here on.
                let armed = try armed(derivations, of: schema, in: pool)
                try bringSums(of: schema, to: probe.summedTables, in: pool)
                try bringDerivations(armed, mark: SQLiteDerivations.mark(derivations), in: pool, metadata: &metadata)
                kept = armed
                try bringViews(of: schema, in: pool, metadata: &metadata)
                try tidy(pool)
            }
            return Opened(pool: pool, schema: schema, derivations: kept, metadata: try StoreMetadataCoding.data(metadata), uuid: probe.uuid)
        } catch {
            try? pool.close()
            throw error
        }
    }

    private func create() throws -> Opened {
        let schema = try SchemaBuilder.schema(for: entities, in: SQLiteDialect(), known: nil) { _ in options.sumsRows }
        var metadata = StoreMetadataCoding.initial(uuid: UUID().uuidString)
        StoreMetadataCoding.stamp(&metadata, entities: entities, model: model)
        let views = schema.views(), derivations = try Derivation.all(in: schema)
        metadata[StoreMetadataCoding.viewsKey] = Self.viewsMark(views)
        metadata[StoreMetadataCoding.derivationsKey] = SQLiteDerivations.mark(derivations)
        let pool = try makePool()
        do {
            let made = try pool.writeWithoutTransaction { database -> Bool in
                var made = false
                try database.inTransaction(.immediate) {
                    // Another process may have been faster.
                    let exists = try database.integer("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'Z_METADATA')") == 1
                    if exists { return .rollback }
                    try schema.create(in: database, metadata: metadata, model: ModelArchive(entities))
                    for view in views { try database.execute(sql: view.sql) }
                    made = true
                    return .commit
                }
                return made
            }
            if made {
                return Opened(
                    pool: pool, schema: schema, derivations: try armed(derivations, of: schema, in: pool),
                    metadata: try StoreMetadataCoding.data(metadata), uuid: metadata[NSStoreUUIDKey] as? String ?? "")
            }
        } catch {
            try? pool.close()
            throw error
        }
        try pool.close()
        guard let probe = try probe() else { throw NSError.coreData(.persistentStoreOpen, "\(url.path) could not be created.") }
        return try open(try brought(probe))
    }

    private func makePool() throws -> DatabasePool {
        let pool = try DatabasePool(path: url.path, configuration: configuration(forProbe: false))
        // Turning the write-ahead log on sets `synchronous` anew.
        if !isReadOnly, let synchronous = options.pragmas.first(where: { $0.name == "synchronous" }) {
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous.value)") }
        }
        return pool
    }

    func configuration(forProbe: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(options.timeout)
        configuration.maximumReaderCount = options.maximumReaderCount
        configuration.label = "OpenCoreData"
        let options = self.options, isReadOnly = self.isReadOnly
        configuration.prepareDatabase { database in
            var flag: Int32 = options.persistsWAL ? 1 : 0
            sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
            if forProbe { return }
            let isWriter = !isReadOnly && !database.configuration.readonly
            if isWriter {
                // Both only work before the first table is made.
                try database.execute(sql: "PRAGMA page_size = 4096")
                try database.execute(sql: "PRAGMA auto_vacuum = 2")
            }
            try database.execute(sql: "PRAGMA cache_size = \(-(isWriter ? PageCache.scattered : PageCache.reader))")
            for pragma in options.pragmas { _ = try Row.fetchAll(database, sql: "PRAGMA \(pragma.name) = \(pragma.value)") }
            try SQLFunctions.register(on: database.sqliteConnection)
        }
        return configuration
    }

    // MARK: Views

    static func viewsMark(_ views: [(name: String, sql: String)]) -> [String: Any] {
        let text = views.map(\.sql).joined(separator: "\n")
        return ["names": views.map(\.name), "hash": Data(SHA256.hash(text.utf8))]
    }

    /// The views that were made last.
    static func viewNames(in metadata: [String: Any]) -> [String] {
        (metadata[StoreMetadataCoding.viewsKey] as? [String: Any])?["names"] as? [String] ?? []
    }

    /// Makes the views anew where they are not what the model says.
    private func bringViews(of schema: SQLSchema, in pool: DatabasePool, metadata: inout [String: Any]) throws {
        let views = schema.views(), mark = Self.viewsMark(views)
        let known = metadata[StoreMetadataCoding.viewsKey] as? [String: Any]
        if known?["hash"] as? Data == mark["hash"] as? Data { return }
        let old = Self.viewNames(in: metadata)
        metadata[StoreMetadataCoding.viewsKey] = mark
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try checkIsStillOfModel(database)
                for name in old + views.map(\.name) { try database.execute(sql: "DROP VIEW IF EXISTS \(name.sqlName)") }
                for view in views { try database.execute(sql: view.sql) }
                try changeMetadata(in: database) { $0[StoreMetadataCoding.viewsKey] = mark }
                return .commit
            }
        }
    }

    /// Another process may have migrated the file since it was looked at.
    private func checkIsStillOfModel(_ database: Database) throws {
        guard let probe = try read(database, checksFile: false), options.ignoresVersion || isForeign(probe) || isOfModel(probe) else {
            throw NSError.coreData(
                .persistentStoreIncompatibleVersionHash,
                "\(url.path) was brought to another version of the model while it was opened. Open it with that model.")
        }
    }

    /// Sums the rows of tables that were made without sums: as they are.
    private func bringSums(of schema: SQLSchema, to summed: Set<String>, in pool: DatabasePool) throws {
        let tables = schema.tables.filter { $0.sum != nil && !summed.contains($0.name) }
        if tables.isEmpty { return }
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try checkIsStillOfModel(database)
                for table in tables {
                    guard let sum = table.sum else { continue }
                    // Another process may have been faster.
                    let exists = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = '\(RowSum.columnName)')"
                    if try database.integer(exists, [.text(table.name)]) == 1 { continue }
                    try database.execute(sql: "ALTER TABLE \(table.name.sqlName) ADD COLUMN \(RowSum.columnName) INTEGER")
                    try database.execute(sql: "UPDATE \(table.name.sqlName) SET \(RowSum.columnName) = \(sum.stored)")
                }
                return .commit
            }
        }
    }

    /// What sees to derived values from now on.
    private func armed(_ derivations: [Derivation], of schema: SQLSchema, in pool: DatabasePool) throws -> SQLiteDerivations {
        let made = SQLiteDerivations(derivations, in: schema)
        try pool.writeWithoutTransaction { try made.arm($0) }
        return made
    }

    /// Finds the derived values of a file in which nobody has found them so.
    private func bringDerivations(_ kept: SQLiteDerivations, mark: Data?, in pool: DatabasePool, metadata: inout [String: Any]) throws {
        if metadata[StoreMetadataCoding.derivationsKey] as? Data == mark { return }
        metadata[StoreMetadataCoding.derivationsKey] = mark
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try checkIsStillOfModel(database)
                try kept.settleAll(in: database)
                try changeMetadata(in: database) { $0[StoreMetadataCoding.derivationsKey] = mark }
                return .commit
            }
        }
    }

    /// What the options ask to be done to the file itself.
    private func tidy(_ pool: DatabasePool) throws {
        if options.vacuums { try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") } }
        if options.analyzes { try pool.writeWithoutTransaction { try $0.execute(sql: "ANALYZE") } }
    }

    /// Changes the metadata of a file that is not opened as a store. Throws 134080 or 134000 where there is no store, 134030 where it can't be written.
    func rewriteMetadata(_ change: (inout [String: Any]) -> Void) throws {
        do {
            let queue = try DatabaseQueue(path: url.path, configuration: configuration(forProbe: true))
            defer { try? queue.close() }
            try queue.inDatabase { database in
                try database.inTransaction(.immediate) {
                    try changeMetadata(in: database, change)
                    return .commit
                }
            }
        } catch {
            throw described(error)
        }
    }

    /// Changes what stands there now: whoever saved last has left a mark in it.
    private func changeMetadata(in database: Database, _ change: (inout [String: Any]) -> Void) throws {
        guard let data = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"), var metadata = StoreMetadataCoding.metadata(data) else {
            throw NSError.coreData(.persistentStoreOpen, "\(url.path) holds no metadata; there is no store in it.")
        }
        change(&metadata)
        try database.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(try StoreMetadataCoding.data(metadata))])
    }

    /// A failure of SQLite as a sentence about this file.
    func described(_ error: any Error) -> any Error {
        let cause: SQLiteError
        switch error {
        case let error as SQLiteError: cause = error
        case let error as DatabaseError: cause = SQLiteError(error, operation: "while opening")
        default: return error
        }
        if let sentence = cause.ownSentence { return NSError.coreData(.coreData, "\(url.path) can't be opened: \(sentence)") }
        switch cause.primaryCode {
        case SQLITE_BUSY, SQLITE_LOCKED:
            return cause.cocoaError(
                .persistentStoreTimeout, "\(url.path) can't be opened: another process held its lock for \(options.timeout) s. \(cause.advice)")
        case SQLITE_NOTADB: return cause.cocoaError(.persistentStoreOpen, "\(url.path) can't be opened: it is not a SQLite database. \(cause.advice)")
        case SQLITE_CORRUPT: return cause.cocoaError(.persistentStoreOpen, "\(url.path) can't be opened: it is damaged. \(cause.advice)")
        case SQLITE_READONLY, SQLITE_PERM:
            return cause.cocoaError(.persistentStoreOpen, "\(url.path) can't be opened for writing. \(cause.advice)")
        default: return cause.cocoaError(.persistentStoreOpen, "\(url.path) can't be opened. \(cause.advice)")
        }
    }
}
