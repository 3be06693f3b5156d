import Foundation
import Glibc
import OpenCoreData

/// Makes a backup of a document while somebody has it open and writes to it.
///
/// A backup is a document package: the store with all that was committed at one moment, the pipeline's own tables among it. What lies beside the store
/// is not in it: refresh tokens least of all, which nobody else may read.
package struct DocumentBackup: Sendable {
    /// The document's package.
    package let document: String
    package let folder: BackupFolder
    /// Of the program, for who restores it.
    package let version: String
    /// How many bytes of the disk must be left.
    package let leavesFree: Int64

    package init(of document: String, in folder: BackupFolder, version: String, leavesFree: Int64) {
        self.document = document
        self.folder = folder
        self.version = version
        self.leavesFree = leavesFree
    }

    /// Blocks until it is whole and on the disk. Whatever it throws, nothing is left of it, and all others are there.
    ///
    /// - Parameter goesOn: called often. False gives it up.
    package func make(at now: Date, goesOn: @escaping @Sendable () -> Bool = { true }) throws(PackageFailure) -> BackupFolder.Entry {
        let lock = try folder.lock()
        defer { withExtendedLifetime(lock) {} }
        folder.removeRemains()
        let source = PackagePlaces(document)
        try checkRoom(for: source)
        let name = freeName(now), whole = "\(folder.path)/\(name.text)", unfinished = PackagePlaces(folder.hidden(name, "unfinished"))
        do {
            for path in [unfinished.folder, unfinished.content] where mkdir(path, 0o750) != 0 { throw PackageFailure("cannot create \(path)") }
            try SQLiteStoreCopy.make(of: URL(fileURLWithPath: source.store), at: URL(fileURLWithPath: unfinished.store), goesOn: goesOn)
            try HeldFolder(unfinished.content).admit(as: source, owner: nil)
            try BackupNote(version: version, document: document).write(in: unfinished.folder)
            try Disk.synchronize(fileIfAny: URL(fileURLWithPath: "\(unfinished.folder)/\(BackupNote.fileName)"))
            try unfinished.synchronize()
            guard rename(unfinished.folder, whole) == 0 else { throw PackageFailure("cannot put the backup in its place, \(whole)") }
            try PackagePlaces.synchronize(folder: URL(fileURLWithPath: folder.path))
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished.folder)
            throw PackageFailure("cannot make a backup in \(folder.path)", error)
        }
        return BackupFolder.Entry(name: name, path: whole, bytes: PackagePlaces(whole).size ?? 0, document: document)
    }

    private func checkRoom(for source: PackagePlaces) throws(PackageFailure) {
        guard let size = source.size else { throw PackageFailure(.unusable, "there is no store in \(document) to make a backup of") }
        guard let free = PackagePlaces.free(folder.path), free < size + leavesFree else { return }
        throw PackageFailure(
            .full,
            "a backup takes up to \(Mebibytes.text(size)), and [store] min_free_disk leaves \(Mebibytes.text(leavesFree)), but \(folder.path) has "
                + "\(Mebibytes.text(free)) left; make room, or set [store.backup] dir to another disk", code: ENOSPC)
    }

    /// A second may have several, and the clock may have been set back.
    private func freeName(_ now: Date) -> BackupName {
        var number = 1
        while access("\(folder.path)/\(BackupName(madeAt: now, number: number).text)", F_OK) == 0 { number += 1 }
        return BackupName(madeAt: now, number: number)
    }
}
