import Foundation
import Glibc
import Synchronization

/// A file that is read and written as a whole. Writing puts a new file in the place of the old one: whoever looks finds the one or the other, and so does
/// whoever comes after a loss of power.
///
/// The new file is written under one fixed name beside it, and locked from then on until it stands in its place: writers come one after the other, in
/// all processes, and each sees whether the file is still the one that it read.
final class AtomicFile: Sendable {
    /// The file itself, where the path leads to it by symbolic links.
    let path: String
    private let timeout: Double
    /// The file as it was read or written last; nil: there was none.
    private let known = Mutex<Stamp?>(nil)

    private struct Stamp: Equatable {
        let place: FilePlace
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            place = FilePlace(status)
            size = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// Throws 134080 for what can be no file.
    init(_ url: URL, timeout: Double = 10) throws {
        guard url.isFileURL else { throw Self.notOpened("\(url.absoluteString) is not a file URL; a store that keeps a file needs one.") }
        path = Self.place(url)
        self.timeout = timeout
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { throw Self.notOpened("\(path) can't be opened: it is a directory.") }
        } else if !FileManager.default.fileExists(atPath: folder) {
            throw Self.notOpened("\(path) can't be opened: the directory \(folder) does not exist. Create it first.")
        }
    }

    /// Where a path leads to by symbolic links, also where nothing is there yet.
    static func place(_ url: URL) -> String {
        var url = url.standardizedFileURL
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(fileURLWithPath: target, relativeTo: url.deletingLastPathComponent()).standardizedFileURL
        }
        return url.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent).path
    }

    private static func notOpened(_ sentence: String) -> NSError { .coreData(.persistentStoreOpen, sentence) }

    // MARK: Reading

    /// All of it; nil if there is none, or nothing in it. Throws 134080 where it can't be read.
    func read() throws -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT {
            known.withLock { $0 = nil }
            return nil
        }
        do {
            _ = try Disk.checked("open \(path)") { descriptor }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var status = stat()
            _ = try Disk.checked("look at \(path)") { fstat(descriptor, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw Self.notOpened("\(path) can't be opened: it is no regular file.") }
            let data = try file.readToEnd() ?? Data()
            known.withLock { $0 = Stamp(status) }
            return data.isEmpty ? nil : data
        } catch let error as NSError {
            if error.domain == CocoaError.errorDomain, error.code == CocoaError.Code.persistentStoreOpen.rawValue { throw error }
            throw NSError.coreData(.persistentStoreOpen, "\(path) can't be read.", underlying: error)
        }
    }

    // MARK: Writing

    /// A new file, whole and on the disk, that is not in its place yet. Until then nobody else writes.
    final class Prepared {
        private let file: AtomicFile
        private let descriptor: Int32
        private let temporary: String
        private var isDone = false
        /// Called when it is in its place.
        var whenDone: (() -> Void)?

        fileprivate init(_ file: AtomicFile, _ descriptor: Int32, _ temporary: String) {
            self.file = file
            self.descriptor = descriptor
            self.temporary = temporary
        }

        deinit { discard() }

        /// Puts it in its place. Throws 134030 where the disk does not let it, or somebody else has written since; then what was there before is there.
        func commit() throws {
            if isDone { return }
            try file.check()
            var status = stat()
            guard fstat(descriptor, &status) == 0, FilePlace(temporary) == FilePlace(status) else {
                throw file.notWritten(NSError.coreData(.persistentStoreSave, "Somebody has taken \(temporary) away. Try again."))
            }
            do { _ = try Disk.checked("replace \(file.path)") { rename(temporary, file.path) } } catch { throw file.notWritten(error) }
            isDone = true
            defer { close(descriptor) }
            let stamp = Stamp(status)
            file.known.withLock { $0 = stamp }
            whenDone?()
            // It is in its place whatever this says, and not all file systems can do it.
            try? Disk.synchronize(folder: URL(fileURLWithPath: file.path).deletingLastPathComponent())
        }

        /// Takes it away, unless it is in its place.
        func discard() {
            if isDone { return }
            isDone = true
            unlink(temporary)
            close(descriptor)
        }
    }

    /// Writes a new file. Throws 134030 where the disk does not let it, 134090 where another process is writing for longer than the timeout, and
    /// 134030 where somebody else has written since this one was read: theirs would be lost.
    func prepare(_ data: Data) throws -> Prepared {
        let temporary = temporary
        let descriptor = try locked(temporary)
        let prepared = Prepared(self, descriptor, temporary)
        do {
            try check()
            try takeOver(descriptor, temporary)
            try write(data, to: descriptor, temporary)
            return prepared
        } catch {
            prepared.discard()
            throw error
        }
    }

    /// Gives the new file the owner and the mode of the old one. Throws 134030 for an old one that may not be written.
    private func takeOver(_ descriptor: Int32, _ temporary: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        do {
            _ = try Disk.checked("write \(path)") { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) }
            var mode = status.st_mode & 0o7777
            if fchown(descriptor, status.st_uid, status.st_gid) != 0, fchown(descriptor, uid_t.max, status.st_gid) != 0 {
                // Another group has no part in what the old one might do.
                mode &= ~0o070
            }
            _ = try Disk.checked("set the mode of \(temporary)") { fchmod(descriptor, mode) }
        } catch {
            throw notWritten(error)
        }
    }

    /// Writes a new file and puts it in its place.
    func replace(_ data: Data) throws { try prepare(data).commit() }

    /// Takes it away, so that there is none. Throws as writing does.
    func remove() throws {
        let temporary = temporary
        let prepared = Prepared(self, try locked(temporary), temporary)
        defer { prepared.discard() }
        try check()
        do { _ = try Disk.checked("remove \(path)") { unlink(path) } } catch { throw notWritten(error) }
        known.withLock { $0 = nil }
        try? Disk.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    private var temporary: String {
        let url = URL(fileURLWithPath: path)
        return url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).new").path
    }

    /// The file beside it: new, locked, nobody else's, and with the mode that the process gives to new files.
    private func locked(_ temporary: String) throws -> Int32 {
        let end = ContinuousClock.now.advanced(by: .seconds(timeout))
        while true {
            let descriptor = open(temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
            // A link is nothing that a save would have left behind.
            if descriptor < 0, errno == ELOOP, unlink(temporary) == 0 { continue }
            do { _ = try Disk.checked("write \(temporary)") { descriptor } } catch { throw notWritten(error) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // Who had it before may have put it in its place meanwhile, or taken it away.
                var mine = stat(), there = stat()
                if fstat(descriptor, &mine) == 0, lstat(temporary, &there) == 0, FilePlace(mine) == FilePlace(there) {
                    guard mine.st_mode & S_IFMT == S_IFREG else {
                        close(descriptor)
                        throw notWritten(NSError.coreData(.persistentStoreSave, "\(temporary) is no file that can be written. Move it away."))
                    }
                    if mine.st_size == 0, mine.st_nlink == 1, mine.st_uid == geteuid() { return descriptor }
                    // The rest of a save that was cut off, or another file's name.
                    unlink(temporary)
                }
                close(descriptor)
            } else {
                let code = errno
                close(descriptor)
                guard code == EWOULDBLOCK || code == EINTR else {
                    unlink(temporary)
                    throw notWritten(NSError(domain: NSPOSIXErrorDomain, code: Int(code)))
                }
            }
            guard ContinuousClock.now < end else {
                throw NSError.coreData(
                    .persistentStoreTimeout, "\(path) can't be written: another process has been writing it for \(timeout) s. Try again.")
            }
            usleep(2_000)
        }
    }

    /// Throws 134030 where the file is no longer the one that was read.
    fileprivate func check() throws {
        var status = stat()
        let now = stat(path, &status) == 0 ? Stamp(status) : nil
        let known = known.withLock { $0 }
        // A file without anything in it is as good as none.
        if now == known || (known == nil && now?.size == 0) { return }
        throw NSError.coreData(
            .persistentStoreSave,
            now == nil
                ? "\(path) was moved or deleted since it was read. Put it back, or add the store anew. Nothing was written."
                : "\(path) was written by somebody else since it was read, and their changes would be lost. Add the store anew to read them. Nothing was written."
        )
    }

    private func write(_ data: Data, to descriptor: Int32, _ name: String) throws {
        do {
            try data.withUnsafeBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                    if count < 0, errno == EINTR { continue }
                    _ = try Disk.checked("write \(name)") { count > 0 ? 0 : -1 }
                    done += count
                }
            }
            _ = try Disk.checked("synchronize \(name)") { fsync(descriptor) }
        } catch {
            throw notWritten(error)
        }
    }

    fileprivate func notWritten(_ error: any Error) -> NSError {
        .coreData(
            .persistentStoreSave, "\(path) can't be written; what was there is unchanged. \((error as NSError).localizedDescription)",
            underlying: error)
    }
}
