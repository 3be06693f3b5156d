import Foundation
import GRDB

/// A copy of a store's file that can take its place: the same rows, keys, versions, metadata and history, and the same UUID.
package enum SQLiteStoreCopy {
    /// Makes a file of all that is committed, as it is at one moment, whoever reads and writes meanwhile: only the log grows until the copy is made. Then
    /// the copy is looked through for damage. It is one file without a log, which can be read where nobody may write; a store that is opened on it has a
    /// log again.
    ///
    /// - Parameters:
    ///   - copy: must not be there yet.
    ///   - goesOn: called often, on the thread that works. False gives it up.
    /// - Throws: 3072, user cancelled, where it is given up; 134080 or 134000 where there is no store; what SQLite and the disk say. Whatever it throws,
    ///   nothing is left of the copy.
    package static func make(of store: URL, at copy: URL, goesOn: @escaping @Sendable () -> Bool) throws {
        let watch = MigrationWatch { _, _ in goesOn() }
        try SQLiteStoreFile(copy, options: [SQLiteMigrationWatchOption: watch]).replace(with: SQLiteStoreFile(store, options: nil))
        do {
            try dropLog(of: copy)
            let options: [AnyHashable: Any] = [SQLiteMigrationWatchOption: watch, SQLiteQuickCheckOption: true, SQLitePersistentWALOption: false]
            _ = try SQLiteStoreFile(copy, options: options).metadata()
        } catch {
            NewStoreFile.remove(copy)
            throw error
        }
    }

    /// What is in the log goes into the file, and the file says that there is none.
    private static func dropLog(of copy: URL) throws {
        do {
            let file = try DatabaseQueue(path: copy.path)
            defer { try? file.close() }
            _ = try file.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
        } catch let error as DatabaseError {
            let cause = SQLiteError(error, operation: "")
            throw cause.cocoaError(.persistentStoreSave, "Can't finish \(copy.path). \(cause.advice)")
        }
        try Disk.synchronize(fileIfAny: copy)
    }

    /// Whether a file says with which model it was made, so that it can be brought to another one. Throws 134080 or 134000 where there is no store.
    package static func knowsItsModel(_ store: URL) throws -> Bool { try SQLiteStoreFile(store, options: nil).model() != nil }
}
