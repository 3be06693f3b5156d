import Glibc

/// The exclusive lock on a document package: an `flock` on the file `.lock` in it, which says who holds it, and one on the package's directory, which
/// remains if the file is removed. The kernel releases both when the process ends, however it ends.
package final class DocumentLock: Sendable {
    private static let cleanMark = "clean\n"

    private let descriptor: Int32
    /// Not the store's own file: closing any descriptor of that would drop SQLite's locks on it.
    let folder: Int32
    /// The lock file, `.lock` in the package.
    package let path: String
    /// Whether the last holder shut down cleanly, or there was none.
    package let wasClean: Bool

    /// Takes the lock, without waiting.
    /// - Throws: `PackageFailure`: in use if another process holds it, not writable if the file cannot be made.
    package init(package: String) throws(PackageFailure) {
        let path = package + "/.lock"
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0o640)
        guard descriptor >= 0 else {
            if errno == ELOOP {
                throw PackageFailure(.notWritable, "\(path) is a symbolic link, which is not followed; remove it", code: ELOOP)
            }
            throw PackageFailure(
                .notWritable, "cannot create \(path): \(String(cString: strerror(errno))); check owner and mode of \(package)", code: errno)
        }
        let folder = open(package, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(descriptor).map { " (process \($0))" } ?? ""
            Glibc.close(descriptor)
            if folder >= 0 { Glibc.close(folder) }
            if code == EWOULDBLOCK {
                throw PackageFailure(.inUse, "the document \(package) is in use by another cisternd\(owner)", code: code)
            }
            throw PackageFailure(.disk, "\(path) cannot be locked: \(String(cString: strerror(code)))", code: code)
        }
        self.descriptor = descriptor
        self.folder = folder
        let before = Self.content(descriptor)
        wasClean = before.isEmpty || before == Self.cleanMark
        markInUse()
    }

    /// Notes who holds it, for the one that is refused; the lock itself is the kernel's. An end without `markClean()` is unclean from then on.
    package func markInUse() { write("\(getpid())\n") }

    /// Records a clean shutdown: the next holder of the lock need not check the package.
    package func markClean() { write(Self.cleanMark) }

    /// Gives the file to the user of the package, who could not open it otherwise. Whatever the path leads to meanwhile, it is the file that is locked.
    func hand(toOwnerOf package: stat) throws(PackageFailure) {
        var file = stat()
        // Another name of it would be a file of somebody else.
        guard fstat(descriptor, &file) == 0, file.st_nlink <= 1, fchown(descriptor, package.st_uid, package.st_gid) == 0 else {
            throw PackageFailure(.notWritable, "cannot give \(path) to the user of the document; remove it")
        }
    }

    private func write(_ text: String) {
        ftruncate(descriptor, 0)
        _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
    }

    deinit {
        Glibc.close(descriptor)
        Glibc.close(folder)
    }

    private static func content(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }

    private static func owner(_ descriptor: Int32) -> Int32? { Int32(content(descriptor).prefix { $0.isNumber }) }
}
