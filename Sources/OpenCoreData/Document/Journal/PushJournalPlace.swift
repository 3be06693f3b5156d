import Foundation
import Glibc

/// Where a journal is. What is made there may be read by whoever may read the stores: it holds what they will.
package struct PushJournalPlace: Sendable {
    let folder: URL
    let observer: PushJournalObserver
    /// The permissions of a file.
    private let mode: mode_t

    package init(folder: URL, stores: [NSPersistentStore], observer: PushJournalObserver) {
        self.folder = folder
        self.observer = observer
        let modes = stores.compactMap { store -> mode_t? in
            var status = stat()
            return store.url.flatMap { stat($0.path, &status) == 0 ? status.st_mode : nil }
        }
        // The owner writes it, whatever the store is.
        mode = 0o600 | (modes.isEmpty ? 0 : modes.reduce(0o666, &))
    }

    var keptAside: URL { PushJournalFolder.keptAside(folder) }

    /// Makes the journal's folder or one in it, if it is not there.
    func make(_ folder: URL) throws {
        // Who may read may look for names, too.
        let mode = Int(mode | (mode & 0o444) >> 2)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }

    /// Opens a file, making it if it is not there. Throws a POSIX error.
    func open(_ url: URL, _ flags: Int32) throws -> Int32 {
        let descriptor = try Disk.checked("open \(url.path)") { Glibc.open(url.path, flags | O_CREAT | O_CLOEXEC, mode) }
        // The mask of the process took something away, as it did not from the store. Somebody else's file stays as it is.
        _ = fchmod(descriptor, mode)
        return descriptor
    }

    /// Makes the names in a folder durable. Throws a POSIX error.
    func synchronizeNames(in folder: URL) throws {
        try observer.tell(.synchronizeNames(folder))
        try Disk.synchronize(folder: folder)
    }

    /// Makes what the stores committed durable. Throws a POSIX error.
    func synchronize(_ stores: [NSPersistentStore]) throws {
        try observer.tell(.synchronizeStores)
        for store in stores { try store.makeCommitsDurable() }
    }
}
