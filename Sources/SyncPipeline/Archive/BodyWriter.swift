import CZlib
import Foundation
import Glibc

/// How the file of an archived body is made: a beginning, the head as JSON, the body, and an end. Numbers are little-endian.
///
///     "CISTBODY" │ length of the head: UInt32 │ CRC-32 of the head │ head │ body … │ CRC-32 of the body: UInt32 │ length of the body: UInt64
enum BodyFile {
    static let magic = Array("CISTBODY".utf8)
    static let endSize = 12
    /// No head is longer.
    static let longestHead = 1 << 20

    static func checksum(_ bytes: UnsafeRawBufferPointer, after earlier: UInt32 = 0) -> UInt32 {
        guard let start = bytes.baseAddress else { return earlier }
        return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), start.assumingMemoryBound(to: Bytef.self), bytes.count))
    }

    static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    static func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>, _ type: Number.Type) -> Number {
        bytes.reversed().reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    /// What the system says of its last failure.
    static var reason: String { String(cString: strerror(errno)) }
}

/// Writes a body into a file while it arrives. What fails is told once, and from then on nothing is written: the page does not depend on it. A file that is
/// not finished goes when its writer does.
final class BodyWriter {
    private let archive: BodyArchive
    private let head: ArchivedHead
    private let scope: ResourceScope
    private let path: String
    private let leavesFree: Int
    private var file: Int32
    private let deflater: Deflater?
    private var checksum: UInt32 = 0
    private var length = 0
    private var size = 0
    private var isFailed = false
    /// When it is looked again how much room is left.
    private var nextLook = 0

    private static let pieceBetweenLooks = 4 << 20

    /// - Parameters:
    ///   - path: where nothing is yet.
    ///   - mode: the permissions of the file.
    ///   - leavesFree: how many bytes of the file system stay free.
    init(_ head: ArchivedHead, of scope: ResourceScope, at path: String, mode: mode_t, leavesFree: Int, archive: BodyArchive) {
        self.archive = archive
        self.head = head
        self.scope = scope
        self.path = path
        self.leavesFree = leavesFree
        deflater = head.isDeflated ? Deflater() : nil
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0, fchmod(file, mode) == 0, !head.isDeflated || deflater != nil else {
            fail(BodyFile.reason)
            return
        }
        // A value of strings and numbers always has a JSON form.
        let text = Array((try? JSONEncoder().encode(head)) ?? Data())
        let sum = text.withUnsafeBytes { BodyFile.checksum($0) }
        write(BodyFile.magic + BodyFile.bytes(UInt32(text.count)) + BodyFile.bytes(sum) + text)
    }

    deinit { drop() }

    /// Takes the next bytes as they came off the wire.
    func append(_ bytes: UnsafeRawBufferPointer) {
        if isFailed { return }
        guard let deflater else { return writeBody(bytes) }
        deflater.append(bytes) { writeBody($0) }
    }

    /// The body has ended. Nil: it could not be written.
    func finish() -> ArrivedBody? {
        if isFailed { return nil }
        deflater?.finish { writeBody($0) }
        write(BodyFile.bytes(checksum) + BodyFile.bytes(UInt64(length)))
        if isFailed { return nil }
        defer { file = -1 }
        return ArrivedBody(head, of: scope, at: path, file: file, size: size, archive: archive)
    }

    private func writeBody(_ bytes: UnsafeRawBufferPointer) {
        checksum = BodyFile.checksum(bytes, after: checksum)
        length += bytes.count
        write(bytes)
    }

    private func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        if isFailed { return }
        if size >= nextLook {
            nextLook = size + Self.pieceBetweenLooks
            if let free = DiskSpace.free(at: URL(fileURLWithPath: path)), free < leavesFree + bytes.count {
                return fail(String(cString: strerror(ENOSPC)))
            }
        }
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return fail(BodyFile.reason) }
            done += count
        }
        size += bytes.count
    }

    private func fail(_ reason: String) {
        isFailed = true
        archive.tell(scope, "the body of page \(head.page) cannot be kept: \(reason)")
        drop()
    }

    private func drop() {
        guard file >= 0 else { return }
        close(file)
        file = -1
        unlink(path)
    }
}

/// A body that has arrived as a whole, in a file that goes with this value unless it is kept.
final class ArrivedBody: Sendable {
    let head: ArchivedHead
    let scope: ResourceScope
    let size: Int
    private let path: String
    private let file: Int32
    private let archive: BodyArchive

    fileprivate init(_ head: ArchivedHead, of scope: ResourceScope, at path: String, file: Int32, size: Int, archive: BodyArchive) {
        self.head = head
        self.scope = scope
        self.path = path
        self.file = file
        self.size = size
        self.archive = archive
    }

    deinit {
        close(file)
        // Where it is kept it has another name by now.
        unlink(path)
    }

    /// Puts it into the archive, before anybody maps it: what cannot be mapped today may be tomorrow. On a thread that may wait for the disk.
    ///
    /// - Returns: what it is there; nil: it is not kept.
    func keep() -> BodyArchive.Entry? {
        // Under its name a file is whole.
        guard fsync(file) == 0 else {
            archive.tell(scope, "the body of page \(head.page) cannot be kept: \(BodyFile.reason)")
            return nil
        }
        return archive.take(self, from: path)
    }

    /// Its rows are saved, which says that they are what this body makes of them.
    func settle(_ entry: BodyArchive.Entry?) {
        if let entry { archive.settle(entry, of: scope) }
    }

    /// The page is what it was when it was read last.
    func keepIfMissing() async {
        await archive.perform { [self] in
            if !archive.has(head.slot, of: scope) { settle(keep()) }
        }
    }
}
