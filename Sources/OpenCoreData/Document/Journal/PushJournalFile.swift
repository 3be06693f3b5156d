import Foundation
import Glibc

/// A file that only grows at its end, or is cut back.
// Used by one thread at a time: its journal sees to that.
final class PushJournalFile {
    let url: URL
    /// How long the file is, in bytes.
    private(set) var size: Int
    /// Something half-written stands at the end and could not be cut off: nothing may be written behind it.
    private(set) var isBroken = false
    /// Number of the last push in it, or of the last before it.
    var last: UInt64
    private let descriptor: Int32

    /// Makes a file. Throws a POSIX error.
    init(creating url: URL, startingWith header: [UInt8], after last: UInt64) throws {
        self.url = url
        self.last = last
        descriptor = try Self.checked("create \(url.path)") { Glibc.open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644) }
        size = 0
        do {
            try append(header)
        } catch {
            unlink(url.path)
            throw error
        }
    }

    /// A file that is there already: nothing is added to it any more.
    init(keeping url: URL, last: UInt64) {
        self.url = url
        self.last = last
        descriptor = -1
        size = 0
        isBroken = true
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds bytes, all or none. Throws a POSIX error.
    func append(_ bytes: [UInt8]) throws {
        let before = size
        do {
            try bytes.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                    if count < 0 && errno == EINTR { continue }
                    written += Int(try Self.checked("write to \(url.path)") { Int32(truncatingIfNeeded: count) })
                }
            }
            size += bytes.count
        } catch {
            cut(to: before)
            throw error
        }
    }

    /// Returns when the disk has what was written. Throws a POSIX error; what was written since `size` is then cut off again.
    func synchronize(orCutTo size: Int) throws {
        do {
            _ = try Self.checked("synchronize \(url.path)") { fdatasync(descriptor) }
        } catch {
            cut(to: size)
            // What a failed fsync leaves on the disk is unknown.
            isBroken = true
            throw error
        }
    }

    func cut(to size: Int) {
        if ftruncate(descriptor, off_t(size)) == 0 { self.size = size } else { isBroken = true }
    }

    /// Makes the names in a folder durable.
    static func synchronize(folder: URL) throws {
        let descriptor = try checked("open \(folder.path)") { Glibc.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        _ = try checked("synchronize \(folder.path)") { fsync(descriptor) }
    }

    /// Makes what was written to a file by anybody durable; a file that is not there is.
    static func synchronize(fileIfAny url: URL) throws {
        let descriptor = Glibc.open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = try checked("synchronize \(url.path)") { fsync(descriptor) }
    }

    /// The result of a system call, or what it says as an error.
    static func checked(_ doing: String, _ call: () -> Int32) throws -> Int32 {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        throw NSError(
            domain: NSPOSIXErrorDomain, code: Int(code),
            userInfo: [NSLocalizedDescriptionKey: "Can't \(doing): \(String(cString: strerror(code)))."])
    }
}
