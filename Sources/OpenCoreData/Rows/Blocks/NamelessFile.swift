import Foundation
import Glibc
import Synchronization

/// A file without a name: it is gone with the last who has it open, and with the process.
package final class NamelessFile: Sendable {
    /// Why the system did not do it.
    package struct Failure: Error {
        fileprivate let code: Int32
        package var reason: String { String(cString: strerror(code)) }
    }

    private let descriptor: Int32
    /// Where the next bytes go.
    private let end = Atomic(0)

    package init(in folder: URL) throws(Failure) {
        let nameless = open(folder.path, Self.tmpfile | O_RDWR | O_CLOEXEC, 0o600)
        descriptor = nameless >= 0 ? nameless : try Self.unlinked(in: folder)
    }

    deinit { close(descriptor) }

    /// `O_TMPFILE`, a macro that Swift does not see.
    private static let tmpfile = 0o20000000 | O_DIRECTORY

    /// On file systems that have no nameless files: one that loses its name at once.
    private static func unlinked(in folder: URL) throws(Failure) -> Int32 {
        var template = Array(folder.appendingPathComponent(".spool-" + String(repeating: "X", count: 6)).path.utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }

    /// Writes bytes at the end.
    ///
    /// - Parameter leavesFree: how many bytes of the file system must remain.
    /// - Returns: where they start.
    package func append(_ bytes: UnsafeRawBufferPointer, leavesFree: Int) throws(Failure) -> Int {
        var room = statvfs()
        if fstatvfs(descriptor, &room) == 0, Int(room.f_bavail) * Int(room.f_frsize) - bytes.count < leavesFree { throw Failure(code: ENOSPC) }
        let start = end.add(bytes.count, ordering: .relaxed).oldValue
        try whole(bytes.count) { done in pwrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(start + done)) }
        return start
    }

    /// Reads the bytes that were written there.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) {
        try whole(bytes.count) { done in pread(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done)) }
    }

    /// How many bytes were written.
    package var size: Int { end.load(ordering: .relaxed) }

    /// Calls `step` until all of `count` bytes are done.
    private func whole(_ count: Int, _ step: (_ done: Int) -> Int) throws(Failure) {
        var done = 0
        while done < count {
            let result = step(done)
            if result > 0 {
                done += result
            } else if result == 0 {
                throw Failure(code: EIO)
            } else if errno != EINTR {
                throw Failure(code: errno)
            }
        }
    }
}
