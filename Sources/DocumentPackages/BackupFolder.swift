import Foundation
import Glibc
import OpenCoreData

/// The folder that backups are in. What is not whole yet, or is being removed, has a name that begins with a dot.
package struct BackupFolder: Sendable {
    /// A backup that is whole.
    package struct Entry: Sendable, Hashable {
        package let name: BackupName
        /// The folder.
        package let path: String
        /// Of the store.
        package let bytes: Int64
        /// What it is a backup of; nil: it does not say.
        package let document: String?
    }

    package let path: String

    package init(_ path: String) { self.path = path }

    /// The newest first. Empty where there is no folder. Throws where it cannot be read.
    package func entries() throws(PackageFailure) -> [Entry] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            if access(path, F_OK) != 0, errno == ENOENT { return [] }
            throw PackageFailure(.notPermitted, "cannot read \(path): \(error.localizedDescription)")
        }
        return names.compactMap { text -> Entry? in
            guard let name = BackupName(text) else { return nil }
            let folder = "\(path)/\(text)"
            guard let bytes = PackagePlaces(folder).size else { return nil }
            return Entry(name: name, path: folder, bytes: bytes, document: BackupNote(in: folder)?.document)
        }.sorted { $0.name > $1.name }
    }

    /// When the newest backup of a document was begun; nil: there is none.
    package func newest(of document: String) -> Date? { (try? entries())?.first { $0.document == document }?.name.madeAt }

    /// Removes the oldest backups of a document until no more than `keep` are left. Others' stay.
    ///
    /// - Parameter newest: the one that was made last, which stays. Those with later names were made before it, while the clock was ahead: how long before
    ///   nobody knows, so they count as the oldest.
    /// - Returns: the names of those that are gone.
    package func prune(_ document: String, keep: Int, newest: BackupName) throws(PackageFailure) -> [BackupName] {
        var removed: [BackupName] = []
        let all = try entries().filter { $0.document == document }
        let ordered = all.filter { $0.name <= newest } + all.filter { $0.name > newest }
        for entry in ordered.dropFirst(max(1, keep)).reversed() {
            let going = hidden(entry.name, "removed")
            // In one step: there is never half of one.
            guard rename(entry.path, going) == 0 else { throw PackageFailure("cannot remove the old backup \(entry.path)") }
            do { try FileManager.default.removeItem(atPath: going) } catch {
                throw PackageFailure(.notWritable, "cannot remove the old backup \(going): \(error.localizedDescription)")
            }
            removed.append(entry.name)
        }
        return removed
    }

    /// What a backup is called until it is whole, or while it is removed.
    func hidden(_ name: BackupName, _ state: String) -> String { "\(path)/.\(name.text).\(state)" }

    /// Removes what a process that was killed has left. Only for who holds the folder's lock.
    func removeRemains() {
        for text in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] where text.hasPrefix(".") {
            let parts = text.dropFirst().split(separator: ".")
            guard parts.count == 2, BackupName(String(parts[0])) != nil, ["unfinished", "removed"].contains(parts[1]) else { continue }
            try? FileManager.default.removeItem(atPath: "\(path)/\(text)")
        }
    }

    /// Makes the folder where it is missing, and keeps everybody else from making backups in it until the result goes.
    func lock() throws(PackageFailure) -> FolderLock {
        if mkdir(path, 0o750) != 0, errno != EEXIST {
            throw PackageFailure("cannot create \(path), the folder of the backups")
        }
        return try FolderLock(path, for: LOCK_EX)
    }
}

/// A lock on a folder, which the kernel releases when the process ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// - Parameter kind: `LOCK_EX` or `LOCK_SH`.
    init(_ path: String, for kind: Int32) throws(PackageFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PackageFailure("cannot open \(path)") }
        guard flock(descriptor, kind | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw PackageFailure(.inUse, "\(path) is in use by another process", code: code) }
            throw PackageFailure("cannot lock \(path)", system: code)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
