import Foundation
import Glibc

/// The right to a journal's folder: held by one document at a time, and given up with the process.
final class PushJournalLock: Sendable {
    private let descriptor: Int32

    /// Nil: another document has it. Throws a POSIX error.
    init?(folder: URL) throws {
        let path = folder.appendingPathComponent("lock").path
        descriptor = try PushJournalFile.checked("open \(path)") { Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            errno = code
            _ = try PushJournalFile.checked("lock \(path)") { -1 }
        }
    }

    deinit { close(descriptor) }
}
