import Foundation
import Glibc

/// The right to a journal's folder: held by one document at a time, and given up with the process.
package final class PushJournalLock: Sendable {
    private let descriptor: Int32

    /// Nil: another document has it. Throws a POSIX error.
    package init?(_ place: PushJournalPlace) throws {
        let url = place.folder.appendingPathComponent("lock")
        // Once `descriptor` is set, `deinit` runs wherever this returns, and a number that is closed twice may be somebody else's by then.
        let opened = try place.open(url, O_RDWR)
        if flock(opened, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            close(opened)
            if code == EWOULDBLOCK { return nil }
            errno = code
            _ = try Disk.checked("lock \(url.path)") { -1 }
        }
        descriptor = opened
    }

    deinit { close(descriptor) }
}
