import Foundation
import Glibc
import OpenCoreData

/// Puts a backup in the place of a document's store, while nobody has the document open. What was there is set aside and never removed.
package struct DocumentRestore: Sendable {
    /// What was done.
    package struct Result: Sendable, Hashable {
        /// Where what was there is now; nil: nothing was.
        package let kept: String?
        /// How many rows the store has now, and how many of them another program changed before the backup was made.
        package let rows: Int
        package let changed: Int
    }

    /// The document's package.
    package let document: String
    /// A backup, or another package that nobody has open.
    package let backup: String
    /// Of this program.
    package let version: String

    package init(_ document: String, from backup: String, version: String) {
        self.document = document
        self.backup = backup
        self.version = version
    }

    private var place: PackagePlaces { PackagePlaces(document) }
    private var source: PackagePlaces { PackagePlaces(backup) }
    /// The content while it is copied and looked at.
    private var preparing: String { "\(document)/.restoring" }

    /// Blocks until it is done. Whatever it throws, the document is as it was.
    package func run(at now: Date) throws(PackageFailure) -> Result {
        let owner = try self.owner()
        let lock = try DocumentLock(package: document)
        var isChanged = false
        // The next start checks the store as if nobody had been here, and need not check what was checked here.
        defer { if lock.wasClean || isChanged { lock.markClean() } }
        do {
            if let owner, chown(lock.path, owner.user, owner.group) != 0 {
                throw PackageFailure("cannot give \(lock.path) to the user of the document")
            }
            try checkOrigin()
            let reading = try FolderLock(backup, for: LOCK_SH)
            defer { withExtendedLifetime(reading) {} }
            try checkRoom()
            defer { try? FileManager.default.removeItem(atPath: preparing) }
            let found = try prepare(owner?.user)
            let kept = try exchange(at: now)
            isChanged = true
            setRunsAside(kept)
            return Result(kept: kept, rows: found.entities.reduce(0) { $0 + $1.rows }, changed: found.entities.reduce(0) { $0 + $1.changed })
        } catch {
            throw PackageFailure("cannot restore \(backup)", error)
        }
    }

    // MARK: Before anything is done

    /// Whose the files have to be; nil: those of whoever runs this.
    private func owner() throws(PackageFailure) -> (user: uid_t, group: gid_t)? {
        guard let status = PackagePlaces.status(document) else {
            throw PackageFailure(
                .notWritable,
                "there is no document at \(document): create the folder, for the user that cisternd runs as, or start cisternd once", code: ENOENT)
        }
        if geteuid() == 0 { return (status.st_uid, status.st_gid) }
        guard status.st_uid == geteuid() else {
            throw PackageFailure(.notPermitted, "the document \(document) belongs to another user: use sudo", code: EPERM)
        }
        return nil
    }

    private func checkOrigin() throws(PackageFailure) {
        guard source.size != nil else {
            throw PackageFailure(
                .unusable, "\(backup) is no backup: there is no \(PackagePlaces.contentName)/\(UIManagedDocument.persistentStoreName) in it")
        }
        guard let note = BackupNote(in: backup) else { return }
        if note.format > BackupNote.format || BackupNote.isNewer(note.version, than: version) {
            throw PackageFailure(
                .unusable, "\(backup) was made by cistern \(note.version), which is newer than this one, \(version); install that version first")
        }
    }

    private func checkRoom() throws(PackageFailure) {
        guard let size = source.size, let free = PackagePlaces.free(document), free < size else { return }
        throw PackageFailure(
            .full,
            "\(backup) takes \(Mebibytes.text(size)), beside what is there now, but \(document) has \(Mebibytes.text(free)) left; make room",
            code: ENOSPC)
    }

    // MARK: The copy

    /// Copies the content and looks at all of it. The backup itself is only read.
    private func prepare(_ owner: uid_t?) throws -> SQLiteStoreVerification {
        try? FileManager.default.removeItem(atPath: preparing)
        guard mkdir(preparing, 0o700) == 0 else { throw PackageFailure("cannot create \(preparing)") }
        let copy = PackagePlaces(preparing)
        guard mkdir(copy.content, 0o700) == 0 else { throw PackageFailure("cannot create \(copy.content)") }
        // A copy that was made by hand may have a log with what was committed last.
        for suffix in ["", "-wal", "-journal"] where PackagePlaces.size(of: source.store + suffix) ?? 0 > 0 {
            try FileManager.default.copyItem(atPath: source.store + suffix, toPath: copy.store + suffix)
        }
        let store = URL(fileURLWithPath: copy.store), found: SQLiteStoreVerification
        do {
            found = try SQLiteStoreVerification.verify(store)
            guard try SQLiteStoreCopy.knowsItsModel(store) else {
                throw PackageFailure(.unusable, "\(backup) does not say with which model it was made, so nobody can open it")
            }
        } catch let error where !(error is PackageFailure) {
            throw PackageFailure(.damaged, "\(backup) cannot be read: \((error as NSError).localizedDescription)")
        }
        guard found.damage.isEmpty else {
            throw PackageFailure(.damaged, "\(backup) is damaged: \(found.damage.prefix(3).joined(separator: "; "))")
        }
        // Shared memory of who has looked at it here.
        unlink(copy.store + "-shm")
        try copy.admit(as: place, owner: owner)
        try copy.synchronize()
        return found
    }

    /// Lets both change places, and returns where the former content is. In one step where the file system can; else, whenever the power fails, all of it is
    /// there, under another name at worst.
    private func exchange(at now: Date) throws -> String? {
        let new = PackagePlaces(preparing).content, folder = URL(fileURLWithPath: document)
        guard access(place.content, F_OK) == 0 else {
            guard rename(new, place.content) == 0 else { throw PackageFailure("cannot put the backup in its place, \(place.content)") }
            try PackagePlaces.synchronize(folder: folder)
            return nil
        }
        let aside = freeName(now)
        // From here on it has the name that the former content is to have.
        guard rename(new, aside) == 0 else { throw PackageFailure("cannot create \(aside)") }
        do {
            try Disk.exchange(URL(fileURLWithPath: aside), URL(fileURLWithPath: place.content))
        } catch let error as NSError where error.domain == NSPOSIXErrorDomain && [EINVAL, ENOSYS, ENOTSUP].contains(Int32(clamping: error.code)) {
            guard rename(aside, new) == 0, rename(place.content, aside) == 0 else { throw PackageFailure("cannot set \(place.content) aside") }
            guard rename(new, place.content) == 0 else {
                let failure = PackageFailure("cannot put the backup in its place, \(place.content)")
                rename(aside, place.content)
                throw failure
            }
        } catch {
            try? FileManager.default.removeItem(atPath: aside)
            throw error
        }
        try PackagePlaces.synchronize(folder: folder)
        return aside
    }

    private func freeName(_ now: Date) -> String {
        let time = now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        let first = "\(place.content).before-restore-\(time)"
        var path = first, number = 2
        while access(path, F_OK) == 0 {
            path = "\(first)-\(number)"
            number += 1
        }
        return path
    }

    /// What the process that had the former store has noted of runs that it does not have.
    private func setRunsAside(_ kept: String?) {
        if let kept { rename("\(document)/.runs", "\(kept)/.runs") } else { unlink("\(document)/.runs") }
    }
}
