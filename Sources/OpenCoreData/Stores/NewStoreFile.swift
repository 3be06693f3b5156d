import Foundation
import Glibc

/// A file that is made under another name in its folder and put in its place when it is whole, so that nobody finds half of it there. It never
/// replaces another.
struct NewStoreFile {
    let url: URL
    /// What it is called until then.
    let temporary: URL

    /// Throws 134160 where there is a file already, or no place for one.
    init(_ url: URL) throws {
        guard url.isFileURL else { throw Self.failure("\(url.absoluteString) is not a file URL; a SQLite store needs one.") }
        let folder = url.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw Self.failure("\(url.path) can't be made: the directory \(folder.path) does not exist. Make it first.")
        }
        if Self.isThere(url.path) { throw Self.isTaken(url) }
        // SQLite would take what somebody else's log says for a part of the new file.
        for suffix in ["-wal", "-journal"] where Self.isThere(url.path + suffix, andNotEmpty: true) {
            throw Self.failure("\(url.path) can't be made: \(url.lastPathComponent + suffix) of an earlier file lies there. Move it away.")
        }
        self.url = url
        temporary = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
    }

    /// Puts the file in its place. Throws 134160 if there is one by now, and what the disk says.
    func put() throws {
        try Disk.synchronize(fileIfAny: temporary)
        if link(temporary.path, url.path) == 0 {
            unlink(temporary.path)
        } else if errno == EEXIST {
            throw Self.isTaken(url)
        } else {
            // A file system without links: what is renamed over is an empty file of our own.
            let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
            if descriptor < 0 && errno == EEXIST { throw Self.isTaken(url) }
            close(try Disk.checked("make \(url.path)") { descriptor })
            do { _ = try Disk.checked("make \(url.path)") { rename(temporary.path, url.path) } } catch {
                unlink(url.path)
                throw error
            }
        }
        do { try Disk.synchronize(folder: url.deletingLastPathComponent()) } catch {
            unlink(url.path)
            throw error
        }
    }

    /// Takes away what was not put in its place.
    func discard() { Self.remove(temporary) }

    /// Takes away what was put in its place.
    func remove() { Self.remove(url) }

    /// Removes a file and what SQLite keeps beside it.
    static func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
    }

    private static func isThere(_ path: String, andNotEmpty: Bool = false) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && (!andNotEmpty || status.st_size > 0)
    }

    private static func isTaken(_ url: URL) -> NSError {
        failure("\(url.path) is there already and is not written over. Choose another place, or move that file away. Nothing was changed.")
    }

    private static func failure(_ sentence: String) -> NSError { .coreData(.migrationManagerDestinationStore, sentence) }
}
