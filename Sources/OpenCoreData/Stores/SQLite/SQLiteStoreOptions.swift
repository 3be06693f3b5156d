import Foundation

/// Option: whether the write-ahead log stays beside the file when the store is closed, emptied, so that users who may only read the file
/// can still open it. `Bool`, default true.
public let SQLitePersistentWALOption = "OpenCoreDataSQLitePersistentWAL"
/// Option: whether the file is checked (`PRAGMA quick_check`) before it is used. `Bool`, default false: it reads the whole file.
public let SQLiteQuickCheckOption = "OpenCoreDataSQLiteQuickCheck"
/// Option: whether the sum of its values is kept beside each row, so that `SQLiteStoreVerification` finds rows that were changed by anything
/// but a store. `Bool`, default false; a file that has sums keeps them.
public let SQLiteRowSumsOption = "OpenCoreDataSQLiteRowSums"
/// Option: how many readers may work at the same time. `Int`, default 5.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// The options of a store, read once.
struct SQLiteStoreOptions: Sendable {
    /// How long to wait for another process's lock, in seconds.
    var timeout: Double = 10
    var persistsWAL = true
    var checksFile = false
    var sumsRows = false
    var maximumReaderCount = 5
    var ignoresVersion = false
    var analyzes = false
    var vacuums = false
    /// Whether a file of another version of the model is migrated, and whether how may be inferred.
    var migrates = false
    var infersMapping = false
    var migrationWatch: MigrationWatch?
    /// Whether the pragmas say how much of the file connections keep in memory; otherwise `PageCache` does.
    var setsCacheSize: Bool { pragmas.contains { $0.name == "cache_size" } }
    /// In the order in which they are set.
    var pragmas: [(name: String, value: String)] = []

    /// Throws 134080 for pragmas that make no sense.
    init(_ options: [AnyHashable: Any]?) throws {
        if let timeout = options?[NSPersistentStoreTimeoutOption] as? NSNumber { self.timeout = timeout.doubleValue }
        if let timeout = options?[NSPersistentStoreTimeoutOption] as? Double { self.timeout = timeout }
        if let timeout = options?[NSPersistentStoreTimeoutOption] as? Int { self.timeout = Double(timeout) }
        persistsWAL = (options?[SQLitePersistentWALOption] as? Bool) ?? true
        checksFile = (options?[SQLiteQuickCheckOption] as? Bool) ?? false
        sumsRows = (options?[SQLiteRowSumsOption] as? Bool) ?? false
        maximumReaderCount = max(1, (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? Int) ?? 5)
        ignoresVersion = (options?[NSIgnorePersistentStoreVersioningOption] as? Bool) ?? false
        analyzes = (options?[NSSQLiteAnalyzeOption] as? Bool) ?? false
        vacuums = (options?[NSSQLiteManualVacuumOption] as? Bool) ?? false
        migrates = (options?[NSMigratePersistentStoresAutomaticallyOption] as? Bool) ?? false
        infersMapping = (options?[NSInferMappingModelAutomaticallyOption] as? Bool) ?? false
        migrationWatch = options?[SQLiteMigrationWatchOption] as? MigrationWatch
        var values = ["synchronous": "FULL"]
        if let given = options?[NSSQLitePragmasOption] {
            guard let pragmas = given as? [AnyHashable: Any] else {
                throw NSError.coreData(.persistentStoreOpen, "\(NSSQLitePragmasOption) must be a dictionary of names and values.")
            }
            for (key, value) in pragmas { try Self.add("\(key)", "\(value)", to: &values) }
        }
        pragmas = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func add(_ name: String, _ value: String, to values: inout [String: String]) throws {
        let name = name.lowercased()
        let isPlain = { (text: String, more: String) in
            !text.isEmpty
                && text.unicodeScalars.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) || more.unicodeScalars.contains($0) }
        }
        guard isPlain(name, "_"), isPlain(value.lowercased(), "_-+.") else {
            throw NSError.coreData(.persistentStoreOpen, "The pragma \(name) can't have the value \(value).")
        }
        if name == "journal_mode" {
            guard value.lowercased() == "wal" else {
                throw NSError.coreData(
                    .persistentStoreOpen, "The store reads while it writes, for which it needs journal_mode WAL; \(value) can't be set.")
            }
            return
        }
        if name == "auto_vacuum" || name == "page_size" || name == "foreign_keys" {
            throw NSError.coreData(.persistentStoreOpen, "The pragma \(name) is part of the file format and can't be set.")
        }
        values[name] = value
    }
}
