import Foundation
import Glibc

/// A file without a name: it is gone with the last who has it open, and with the process.
// Unchecked: it is written by its maker alone, and read by offset afterwards.
final class NamelessFile: @unchecked Sendable {
    private let folder: URL
    private let descriptor: Int32
    private let leavesFree: Int
    private var end = 0

    /// - Parameter leavesFree: how many bytes of the file system no write may take.
    /// - Throws: `FetchError` of the class `spool`, as everything here does.
    init(in folder: URL, leavesFree: Int) throws {
        self.folder = folder
        self.leavesFree = leavesFree
        let nameless = open(folder.path, Self.tmpfile | O_RDWR | O_CLOEXEC, 0o600)
        descriptor = nameless >= 0 ? nameless : try Self.unlinked(in: folder)
    }

    deinit { close(descriptor) }

    /// `O_TMPFILE`, a macro that Swift does not see.
    private static let tmpfile = 0o20000000 | O_DIRECTORY

    /// On file systems that have no nameless files: one that loses its name at once.
    private static func unlinked(in folder: URL) throws -> Int32 {
        var template = Array(folder.appendingPathComponent(".spool-" + String(repeating: "X", count: 6)).path.utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(errno, folder) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }

    /// Writes the memory of `values` at the end.
    ///
    /// - Returns: where it starts.
    func append<Value: BitwiseCopyable>(_ values: [Value]) throws -> Int {
        let start = end
        try values.withUnsafeBytes { bytes in
            if let free = DiskSpace.free(at: folder), free - bytes.count < leavesFree { throw Self.failure(ENOSPC, folder) }
            try whole(bytes.count) { done in pwrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(start + done)) }
            end += bytes.count
        }
        return start
    }

    /// Reads so many values from there on.
    func read<Value: BitwiseCopyable>(_ count: Int, at offset: Int) throws -> [Value] {
        try Array(unsafeUninitializedCapacity: count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            try whole(bytes.count) { done in pread(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done)) }
            filled = count
        }
    }

    /// Calls `step` until all of `count` bytes are done.
    private func whole(_ count: Int, _ step: (_ done: Int) -> Int) throws {
        var done = 0
        while done < count {
            let result = step(done)
            if result > 0 {
                done += result
            } else if result == 0 {
                throw Self.failure(EIO, folder)
            } else if errno != EINTR {
                throw Self.failure(errno, folder)
            }
        }
    }

    private static func failure(_ code: Int32, _ folder: URL) -> FetchError {
        FetchError(.spool, detail: "a body too large for the memory is kept in \(folder.path) until it is read: \(String(cString: strerror(code)))")
    }
}

/// How much room the file system has for us.
enum DiskSpace {
    /// Bytes that an unprivileged process may still write; nil if unknown.
    static func free(at url: URL) -> Int? {
        var info = statvfs()
        guard statvfs(url.path, &info) == 0 else { return nil }
        return Int(info.f_bavail) * Int(info.f_frsize)
    }
}
