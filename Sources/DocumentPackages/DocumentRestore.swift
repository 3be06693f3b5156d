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
        /// It is done, but this failed, in words: it may not outlive a failure of the power, or what was there is not where it should be. Nil: nothing did.
        package let doubt: String?
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

    /// Blocks until it is done. Whatever it throws, the store is as it was, unless the failure is `unsettled` and says where it is.
    package func run(at now: Date) throws(PackageFailure) -> Result {
        try checkOwner()
        let lock = try DocumentLock(package: document)
        var isChanged = false
        // The next start checks the store as if nobody had been here, and need not check what was checked here.
        defer { if lock.wasClean || isChanged { lock.markClean() } }
        do {
            let place = try RestorePlace(lock, at: document)
            // Nobody else could open what root has made.
            let owner = geteuid() == 0 ? place.package.status.st_uid : nil
            if owner != nil { try lock.hand(toOwnerOf: place.package.status) }
            try place.settle(at: now)
            try checkOrigin()
            let reading = try FolderLock(backup, for: LOCK_SH)
            defer { withExtendedLifetime(reading) {} }
            try checkRoom()
            let folder = try place.make()
            let found: SQLiteStoreVerification, kept: String?
            var doubt: String?
            do {
                let content = try HeldFolder(PackagePlaces.contentName, in: folder, isNew: true)
                found = try prepare(content, owner)
                (kept, doubt) = try place.exchange(folder, content, at: now)
            } catch {
                if (error as? PackageFailure)?.kind != .unsettled { try? place.remove() }
                throw error
            }
            isChanged = true
            // What is in doubt may still be in it.
            if doubt == nil { do throws(PackageFailure) { try place.remove() } catch { doubt = error.message } }
            return Result(
                kept: kept, rows: found.entities.reduce(0) { $0 + $1.rows }, changed: found.entities.reduce(0) { $0 + $1.changed }, doubt: doubt)
        } catch {
            throw PackageFailure("cannot restore \(backup)", error)
        }
    }

    // MARK: Before anything is done

    private func checkOwner() throws(PackageFailure) {
        guard let status = PackagePlaces.status(document) else {
            throw PackageFailure(
                .notWritable,
                "there is no document at \(document): create the folder, for the user that cisternd runs as, or start cisternd once", code: ENOENT)
        }
        guard geteuid() == 0 || status.st_uid == geteuid() else {
            throw PackageFailure(.notPermitted, "the document \(document) belongs to another user: use sudo", code: EPERM)
        }
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
    private func prepare(_ copy: HeldFolder, _ owner: uid_t?) throws -> SQLiteStoreVerification {
        let name = UIManagedDocument.persistentStoreName
        // A copy that was made by hand may have a log with what was committed last.
        for suffix in ["", "-wal", "-journal"] where PackagePlaces.size(of: source.store + suffix) ?? 0 > 0 {
            try copy.copy(source.store + suffix, as: name + suffix)
        }
        let store = URL(fileURLWithPath: "\(copy.path)/\(name)"), found: SQLiteStoreVerification
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
        try copy.remove(name + "-shm")
        try copy.admit(as: place, owner: owner)
        try copy.synchronizeAll()
        return found
    }
}
