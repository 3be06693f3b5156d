import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A store in one SQLite file, in Core Data's own layout, with plain SQL views on top.
///
/// One writer at a time, several readers beside it (write-ahead log): a read never waits for a save.
// Immutable but for what stands under the locks of its parts; the connection pool is safe to share.
package final class SQLiteStore: NSPersistentStore, @unchecked Sendable {
    package override var mayBeElsewhere: Bool { false }
    /// Nil where the file is only looked into.
    let model: NSManagedObjectModel?
    let pool: DatabasePool
    let schema: SQLSchema
    /// Keeps derived attributes; nil where the file is only read.
    let derivations: SQLiteDerivations?
    let keyPool = KeyPool()
    let metadataState: Mutex<MetadataState>
    private let shapes = Mutex<[ShapeName: RowShape]>([:])
    private let isClosed = Atomic<Bool>(false)
    /// Set where changes by others are followed.
    let foreignCommits = Mutex<ForeignCommits?>(nil)
    /// What SQLite said when it was asked last whether others have committed.
    let askedVersion = Mutex<Int64?>(nil)
    /// Texts of fetches that are kept prepared on the readers' connections.
    let fetchTexts = Mutex<Set<String>>([])
    /// Whether saves are recorded, and what it was found out by.
    let historyState = SQLiteHistoryState()
    /// The states that are kept for those who are pinned to them.
    let states = SQLiteStates()
    /// Where the store lies, as long as nobody moves it.
    let files: SQLiteStoreFiles
    /// The version hashes of the model that the file had when it was opened.
    private let modelHashes: [String: Data]
    /// How often the file had been migrated.
    package override var migrations: Int { migrationCount }
    private let migrationCount: Int
    /// The version of the file's schema that is known to be of that model.
    private let checkedSchema = Atomic<Int64>(-1)
    /// How much of the file the connection that writes keeps in memory.
    let pageCache: PageCache
    /// How many statements ran.
    package let statements = StatementCounter()

    struct MetadataState: Sendable {
        /// The property list as it is, or will be with the next save.
        var data: Data
        var isDirty = false
        /// Counts the changes, so that a save knows whether it wrote the latest.
        var generation = 0
    }

    private struct ShapeName: Hashable {
        let entity: Int64
        let includesSubentities: Bool
    }

    /// Opens the file, or makes it.
    ///
    /// Throws 134080 if the file can't be opened, 134000 if it is a database but no store, 134010 if it is a store of another type, 134090 if
    /// another process held its lock for longer than the timeout, 134100 if it was made with another version of the model, 134020 if the
    /// model can't be kept in a file.
    package init(
        model: NSManagedObjectModel?, entities: [NSEntityDescription], configurationName: String?, url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        let settings = try SQLiteStoreOptions(options)
        let opened = try SQLiteStoreOpening(
            url: url, entities: entities, model: model, options: settings,
            isReadOnly: (options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false
        ).open()
        self.model = model
        pool = opened.pool
        schema = opened.schema
        derivations = opened.derivations
        files = SQLiteStoreFiles(url.path)
        pageCache = PageCache(mayGrow: !settings.setsCacheSize)
        metadataState = Mutex(MetadataState(data: opened.metadata))
        modelHashes = StoreMetadataCoding.modelHashes(opened.metadata)
        migrationCount = StoreMetadataCoding.migrations(StoreMetadataCoding.metadata(opened.metadata) ?? [:])
        super.init(entities: entities, configurationName: configurationName, url: url, options: options, uuid: opened.uuid)
        try prepareHistory()
        if !isReadOnly, pageCache.mayGrow { try pool.writeWithoutTransaction { try PageCache.settle($0) } }
    }

    deinit { try? close() }

    package override var type: String { NSSQLiteStoreType }

    static let storeClass = StoreClass(
        SQLiteStore.self,
        destination: MigrationDestination(
            ownMetadataKeys: ownKeys, fill: { try ($0 as? SQLiteStore)?.fill(from: $1) }, optionsWhileFilling: [SQLitePersistentWALOption: false],
            file: { try SQLiteStoreFile($0, options: $1) }),
        derives: true, composes: true
    ) { opening in
        guard let url = opening.url else { throw NSError.coreData(.persistentStoreOpen, "A store of type \(opening.type) needs a URL.") }
        return try SQLiteStore(
            model: opening.model, entities: opening.entities, configurationName: opening.configurationName, url: url, options: opening.options)
    }

    /// The file, for sentences.
    var path: String { url?.path ?? "the store" }

    package override func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        foreignCommits.withLock { commits in
            defer { commits = nil }
            return commits
        }?.stop()
        states.close()
        if !isReadOnly {
            try? pool.writeWithoutTransaction { database in
                try SQLiteWriter(self).releasePooledKeys(in: database)
                // Readers elsewhere may keep the log from being emptied; it is then emptied by whoever comes last. One that is pinned to a state
                // (`SQLiteState`) may do so for as long as it likes, and is not waited for.
                try database.execute(sql: "PRAGMA busy_timeout = 250")
                _ = try database.checkpoint(.truncate)
            }
        }
        try pool.close()
    }

    // MARK: What others ask of it

    package override var reader: (any StoreReading)? { SQLiteReader(self) }
    package override var writer: (any StoreWriting)? { SQLiteWriter(self) }
    package override func pinned() throws -> (any StoreReading)? { try pinnedReader() }

    package override func prepare(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws { try carryOut(batch, body) }

    // MARK: Metadata

    package override var metadata: [String: Any]! {
        get {
            var metadata = StoreMetadataCoding.metadata(metadataState.withLock { $0.data }) ?? [:]
            for key in StoreMetadataCoding.hiddenKeys { metadata[key] = nil }
            metadata[NSStoreTypeKey] = type
            metadata[NSStoreUUIDKey] = identifier
            return metadata
        }
        set {
            var metadata = newValue ?? [:]
            metadataState.withLock { state in
                let current = StoreMetadataCoding.metadata(state.data) ?? [:]
                // What the store itself keeps there can't be taken out.
                for key in Self.ownKeys { metadata[key] = current[key] }
                guard !NSDictionary(dictionary: metadata).isEqual(to: current) else { return }
                guard let data = try? StoreMetadataCoding.data(metadata) else {
                    Violation.misuse("the metadata of \(path) must be a property list; it holds \(metadata)")
                }
                state.data = data
                state.isDirty = true
                state.generation += 1
            }
        }
    }

    static let ownKeys = StoreMetadataCoding.hiddenKeys.union([
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, StoreMetadataCoding.hashesVersionKey, StoreMetadataCoding.hashesDigestKey,
        StoreMetadataCoding.modelChecksumKey, StoreMetadataCoding.autoVacuumLevelKey, StoreMetadataCoding.frameworkVersionKey,
    ])

    // From the file: another process may have moved it since the store was opened.
    package override var pushMark: UInt64 {
        get throws {
            do {
                return try pool.read { database in
                    try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA").map(StoreMetadataCoding.pushMark) ?? 0
                }
            } catch {
                throw storeError(error, .persistentStoreOpen, doing: "read")
            }
        }
    }

    /// Where SQLite keeps what was committed last: beside the file itself, where the store was opened through a symbolic link.
    package var logURL: URL? { url.map { URL(fileURLWithPath: Self.log(of: $0.path)) } }

    static func log(of path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path + "-wal" }

    package override func makeCommitsDurable() throws { try logURL.map(Disk.synchronize(fileIfAny:)) }

    /// Whether metadata was set that no save has written yet.
    package override var hasUnsavedMetadata: Bool { metadataState.withLock { $0.isDirty } }

    /// A setting of the connection that writes, as SQLite reports it.
    package func pragma(_ name: String) throws -> String? {
        try pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name.sqlName)") }
    }

    /// Inside a transaction that is going to write. Throws 134100 where another process has migrated the file since it was opened: what a store of the
    /// older model writes has no place in it.
    ///
    /// - Returns: the version of the file's schema.
    @discardableResult
    func checkModel(in database: Database) throws -> Int64 {
        let version = try database.integer("PRAGMA schema_version") ?? 0
        if checkedSchema.load(ordering: .relaxed) == version { return version }
        guard let data = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"), StoreMetadataCoding.modelHashes(data) == modelHashes
        else {
            throw NSError.coreData(
                .persistentStoreIncompatibleVersionHash,
                "\(path) was brought to another version of the model by somebody else since it was opened here; nothing was saved. Open it with that model."
            )
        }
        checkedSchema.store(version, ordering: .relaxed)
        return version
    }

    // MARK: Parts

    /// How the rows of an entity, and of its subentities where those are asked for, are read.
    func shape(of entity: NSEntityDescription, includesSubentities: Bool = true) -> RowShape {
        guard let map = schema[entity] else { Violation.misuse("\(path) does not keep entity \(entity.name ?? "?")") }
        return shapes.withLock { shapes in
            let name = ShapeName(entity: map.number, includesSubentities: includesSubentities)
            if let known = shapes[name] { return known }
            let members = (includesSubentities ? entity.withDescendants : [entity]).compactMap { schema[$0] }
            let made = RowShape(members, table: map.tableName)
            shapes[name] = made
            return made
        }
    }

    /// An error of SQLite or GRDB as an error of Core Data that says what, where and what to do.
    func storeError(_ error: any Error, _ code: CocoaError.Code, doing verb: String) -> any Error {
        let cause: SQLiteError
        switch error {
        case let error as SQLiteError: cause = error
        case let error as DatabaseError: cause = SQLiteError(error, operation: "")
        default: return error
        }
        if let sentence = cause.ownSentence { return NSError.coreData(.coreData, sentence) }
        if cause.isTooDeep { return SQLTranslator.refusal("a predicate that nests as deep as this one", by: schema.dialect) }
        return cause.cocoaError(code, "Can't \(verb) \(path). \(cause.advice)")
    }
}
