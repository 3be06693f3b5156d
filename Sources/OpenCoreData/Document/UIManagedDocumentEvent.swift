import Foundation

/// What a document tells those who watch it.
package enum UIManagedDocumentEvent: Sendable {
    case saved
    case saveFailed(any Error, kind: SaveFailure)
}

/// What a failed save means for the changes it was to write.
package enum SaveFailure: Sendable {
    /// Full, busy or locked: the changes are kept, and the save is tried again.
    case transient
    /// The disk reported an error: nothing that was written may be trusted. The changes are kept; the process should end.
    case disk
    /// The changes themselves are refused: they are rolled back.
    case permanent

    package init(_ error: any Error) {
        let error = error as NSError
        let underlying = (error.userInfo[NSUnderlyingErrorKey] as? NSError) ?? error
        let code = (error.userInfo[NSSQLiteErrorDomain] as? Int) ?? (underlying.domain == NSSQLiteErrorDomain ? underlying.code : nil)
        switch code.map({ $0 & 0xff }) {
        case 13, 5, 6, 8, 14: self = .transient  // FULL, BUSY, LOCKED, READONLY, CANTOPEN
        case 10, 11, 26: self = .disk  // IOERR, CORRUPT, NOTADB
        default: self = .permanent
        }
    }
}
