import Foundation
import Synchronization

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

/// A file, whatever it is called.
struct FilePlace: Hashable, Sendable {
    let device: UInt64
    let number: UInt64

    /// Nil: there is none at this path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
