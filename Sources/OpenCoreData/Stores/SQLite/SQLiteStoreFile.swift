import Foundation
import GRDB
import GRDBSQLite

/// What is done to the file of a store that is not open here. Other processes may have it open: everything goes through SQLite, with its locks and
/// with what is in the write-ahead log.
struct SQLiteStoreFile {
    let url: URL
    private let options: SQLiteStoreOptions

    /// Throws 134080 for options that make no sense.
    init(_ url: URL, options: [AnyHashable: Any]?) throws {
        self.url = url
        self.options = try SQLiteStoreOptions(options)
    }

    /// Takes everything out of a store's file, so that it is as good as new. Where there is no file there is nothing to do. Throws 134080 or 134000
    /// for a file that is no store.
    func empty() throws {
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
    /// but no store, or the other is not there.
    func replace(with source: SQLiteStoreFile) throws {
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
                try from.backup(to: file)
                try fold(file)
            }
        } catch {
            if !wasThere { NewStoreFile.remove(url) }
            throw error
        }
    }

    /// Whether both are one file, whatever it is called.
    func isSame(as other: URL) -> Bool { place(url) == place(other) }

    private func place(_ url: URL) -> String { url.standardizedFileURL.resolvingSymlinksInPath().path }

    private var isThere: Bool { url.isFileURL && FileManager.default.fileExists(atPath: url.path) }

    /// False for a file without anything in it.
    private var isStore: Bool {
        get throws {
            try SQLiteStoreOpening(url: url, entities: [], model: nil, options: options, isReadOnly: true).probe() != nil
        }
    }

    private func configuration(readonly: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(options.timeout)
        return configuration
    }

    /// Empties the log, if nobody reads from it.
    private func fold(_ file: DatabaseQueue) throws {
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
