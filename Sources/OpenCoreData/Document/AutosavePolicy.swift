import Foundation

/// When a document saves by itself: whichever of the three comes first. What a kill may lose is bounded by it.
public struct AutosavePolicy: Hashable, Sendable {
    /// How old the oldest unsaved change may get, in seconds.
    public var interval: TimeInterval
    /// How many changed objects may wait.
    public var changes: Int
    /// Roughly how many bytes of changed rows may wait.
    public var bytes: Int

    /// By default a save comes after 15 seconds, at 5000 objects, or at 16 MiB, whichever is first.
    public init(interval: TimeInterval = 15, changes: Int = 5000, bytes: Int = 16 << 20) {
        self.interval = interval
        self.changes = changes
        self.bytes = bytes
    }

    /// What to do about unsaved changes.
    package enum Verdict: Hashable, Sendable {
        case nothing
        case saveNow
        /// After so many seconds.
        case saveLater(TimeInterval)
    }

    /// - Parameter age: seconds since the oldest unsaved change.
    package func verdict(rows: Int, bytes: Int, age: TimeInterval) -> Verdict {
        if rows == 0 { return .nothing }
        if rows >= changes || bytes >= self.bytes || age >= interval { return .saveNow }
        return .saveLater(interval - age)
    }
}

/// What tells a document the time: the system's clock, or a test's.
package protocol DocumentClock: Sendable {
    /// Seconds since any fixed moment; never goes back.
    var now: TimeInterval { get }
    /// Runs a block after so many seconds.
    func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void)
}

/// The machine's clock.
package struct SystemDocumentClock: DocumentClock {
    private static let queue = DispatchQueue(label: "UIManagedDocument autosave")

    package init() {}

    package var now: TimeInterval { TimeInterval(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    package func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void) {
        Self.queue.asyncAfter(deadline: .now() + seconds, execute: block)
    }
}

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
