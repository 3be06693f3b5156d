import Foundation

/// What a document tells those who watch it.
package enum UIManagedDocumentEvent: Sendable {
    case saved
    case saveFailed(any Error, kind: SaveFailure)
}

/// What a failed save means for the changes it was to write.
package enum SaveFailure: Sendable {
    /// Full, busy, locked, or short of memory: the changes are kept, and the save is tried again.
    case transient
    /// The disk reported an error, or the file was moved, deleted or replaced: nothing that was written may be trusted. The changes are kept; the
    /// process should end.
    case disk
    /// The changes themselves are refused: they are rolled back.
    case permanent

    package init(_ error: any Error) {
        let code = Self.code(of: error)
        // Where it was memory, a lock, or room for the index of the log that was missing, the disk has said nothing of what is on it.
        if let code, [3082, 3594, 3850, 4874].contains(code) {  // IOERR_NOMEM, IOERR_CHECKRESERVEDLOCK, IOERR_LOCK, IOERR_SHMSIZE
            self = .transient
            return
        }
        // The file is not where it was opened: what is written to it is lost.
        if code == Int(SQLiteError.moved) {
            self = .disk
            return
        }
        switch code.map({ $0 & 0xff }) {
        // FULL, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, CANTOPEN, PROTOCOL
        case 13, 5, 6, 7, 8, 9, 14, 15: self = .transient
        case 10, 11, 26: self = .disk  // IOERR, CORRUPT, NOTADB
        default: self = .permanent
        }
    }

    /// Whether there is no room on the disk.
    package static func isFull(_ error: any Error) -> Bool { code(of: error).map { $0 & 0xff } == 13 }

    /// What SQLite said.
    private static func code(of error: any Error) -> Int? {
        let error = error as NSError
        let underlying = (error.userInfo[NSUnderlyingErrorKey] as? NSError) ?? error
        return (error.userInfo[NSSQLiteErrorDomain] as? Int) ?? (underlying.domain == NSSQLiteErrorDomain ? underlying.code : nil)
    }
}
