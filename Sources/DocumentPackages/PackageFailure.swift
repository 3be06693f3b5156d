import Foundation
import Glibc
import OpenCoreData

/// Why something could not be done with a document's package, or with a backup of one.
package struct PackageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What has to be done about it, and by whom.
    package enum Kind: Sendable, Hashable {
        /// Another process has it.
        case inUse
        /// A file or folder cannot be made, or written.
        case notWritable
        /// The disk has no room for it.
        case full
        /// The disk, or SQLite, reports an error.
        case disk
        /// A backup is not what was written.
        case damaged
        /// It is no backup, or none that this version understands.
        case unusable
        /// This user may not do it.
        case notPermitted
        /// It was told to give up.
        case givenUp
        /// It was cut off half-way: nothing is lost, and the next start of the daemon brings it to its end.
        case unsettled
    }

    package let kind: Kind
    /// What, where and what to do, without a full stop.
    package let message: String
    /// The `errno` behind it; nil if no system call stands behind it.
    package let code: Int32?

    package init(_ kind: Kind, _ message: String, code: Int32? = nil) {
        self.kind = kind
        self.message = message
        self.code = code
    }

    /// What the store or Foundation says.
    ///
    /// - Parameter doing: `cannot do this`.
    init(_ doing: String, _ error: any Error) {
        if let failure = error as? PackageFailure {
            self = failure
            return
        }
        let cause = error as NSError
        if (error as? CocoaError)?.code == .userCancelled {
            self.init(.givenUp, "\(doing): it was given up")
        } else if Self.isFull(cause) {
            self.init(.full, "\(doing): the disk is full; make room", code: ENOSPC)
        } else {
            self.init(.disk, "\(doing): \(cause.localizedDescription)")
        }
    }

    /// A system call that has failed; called at once after it.
    init(_ doing: String, system code: Int32 = errno) {
        let reason = String(cString: strerror(code))
        switch code {
        case ENOSPC, EDQUOT: self.init(.full, "\(doing): the disk is full; make room", code: code)
        case EACCES, EPERM, EROFS, ENOENT, ENOTDIR: self.init(.notWritable, "\(doing): \(reason)", code: code)
        default: self.init(.disk, "\(doing): \(reason)", code: code)
        }
    }

    private static func isFull(_ error: NSError) -> Bool {
        var next: NSError? = error
        // An error names its cause, and that one its own.
        for _ in 0..<8 {
            guard let error = next else { return false }
            if let code = error.userInfo[NSSQLiteErrorDomain] as? Int, code & 0xff == 13 { return true }
            if error.domain == NSSQLiteErrorDomain, error.code & 0xff == 13 { return true }
            if error.domain == NSPOSIXErrorDomain, [ENOSPC, EDQUOT].contains(Int32(clamping: error.code)) { return true }
            if error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue { return true }
            next = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
        }
        return false
    }

    /// The message alone.
    package var description: String { message }
}

/// Sizes as people say them.
enum Mebibytes {
    /// Whole MiB, rounded up: `3 MiB`.
    static func text(_ bytes: Int64) -> String { "\((max(0, bytes) + (1 << 20) - 1) >> 20) MiB" }
}
