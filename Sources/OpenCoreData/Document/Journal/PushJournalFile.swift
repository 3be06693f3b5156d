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

    /// Makes a file. Throws a POSIX error, also if one of that name is there.
    init(creating url: URL, in place: PushJournalPlace, startingWith header: [UInt8], after last: UInt64) throws {
        self.url = url
        self.last = last
        descriptor = try place.open(url, O_WRONLY | O_EXCL | O_APPEND)
        size = 0
        do {
            try append(header)
        } catch {
            unlink(url.path)
            throw error
        }
    }

    /// A file of an earlier process: nothing is added to it any more.
    init(keeping url: URL, last: UInt64) {
        self.url = url
        self.last = last
        descriptor = -1
        size = 0
        isBroken = true
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether an earlier process left it.
    var isLeft: Bool { descriptor < 0 }

    /// Adds bytes, all or none. Throws a POSIX error.
    func append(_ bytes: [UInt8]) throws {
        let before = size
        do {
            try bytes.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                    if count < 0 && errno == EINTR { continue }
                    written += Int(try Disk.checked("write to \(url.path)") { Int32(truncatingIfNeeded: count) })
                }
            }
            size += bytes.count
        } catch {
            cut(to: before)
            throw error
        }
    }

    /// Returns when the disk has what was written. Throws a POSIX error; what was written since `size` is then cut off again.
    func synchronize(orCutTo size: Int, _ observer: PushJournalObserver) throws {
        do {
            try observer.tell(.synchronize(url))
            _ = try Disk.checked("synchronize \(url.path)") { fdatasync(descriptor) }
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
}
