import DocumentPackages
import Foundation
import Glibc
import OpenCoreData
import SyncConfiguration
import SyncPipeline

/// Opens the daemon's document: package directory, lock, store. Each failure says what to do and how the process ends.
struct DocumentOpening: Sendable {
    let configuration: CisternConfiguration

    private var package: String { configuration.document.path }

    /// What stands against opening the document with this configuration, as far as it can be seen while another has it open.
    /// - Throws: `StartFailure`
    func check(model: NSManagedObjectModel) throws(StartFailure) {
        do { _ = try migration(of: document(model)) } catch { throw Self.failure(error, package: package, isMigrating: true) }
    }

    private func document(_ model: NSManagedObjectModel) -> UIManagedDocument {
        UIManagedDocument(
            fileURL: URL(fileURLWithPath: package, isDirectory: true), model: model, autosavePolicy: AutosavePolicy(configuration.document))
    }

    private func migration(of document: UIManagedDocument) throws -> StoreMigration? {
        try StoreMigration(document.storeURL, model: document.managedObjectModel, configuration: configuration)
    }

    /// Blocks while the store opens, is checked and is brought to the model.
    ///
    /// - Parameters:
    ///   - held: the lock on the package, where a closed document of this process has it.
    ///   - mayMigrate: false refuses a store of another model.
    ///   - onStep: called with what is done to the store, often. False gives that up, unless it is on the disk already.
    /// - Throws: `StartFailure`; `StopWanted` for what was given up. What fails after the store was changed names the copy, if there is one.
    func open(
        model: NSManagedObjectModel, lock held: DocumentLock? = nil, mayMigrate: Bool = true,
        onStep: @escaping @Sendable (OpeningStep) -> Bool = { _ in true }
    ) throws -> OpenedDocument {
        try makePackage()
        // Before anything else in the package is touched.
        let lock = try held ?? takeLock()
        // Who hands it over has closed the document.
        let wasClean = held != nil || lock.wasClean
        lock.markInUse()
        let document = document(model), watch = watch(of: document.storeURL, onStep)
        StoreMigration.removeUnfinishedCopy(of: document.storeURL)
        try settleRestore(lock)
        var options = options(wasClean: wasClean), migration: StoreMigration?
        options[SQLiteMigrationWatchOption] = watch
        do {
            guard onStep(.opening(bytes: Self.size(document.storeURL))) else { throw StopWanted() }
            migration = try self.migration(of: document)
            if let migration {
                if !mayMigrate { throw StartFailure(.temporaryFailure, "the store in \(package) is of the changed model already") }
                try migration.keepCopy(watch)
                options[NSMigratePersistentStoresAutomaticallyOption] = true
                options[NSInferMappingModelAutomaticallyOption] = true
            }
            document.persistentStoreOptions = options
            try document.openStore(creating: true)
        } catch {
            // What fails after the migration leaves a store of the new model, and the copy is all there is of the old values.
            let isAsItWas = migration != nil && (try? self.migration(of: document)) != nil
            if isAsItWas { migration?.discardCopy() }
            if error is StopWanted || (error as? CocoaError)?.code == .userCancelled {
                if wasClean { lock.markClean() }
                throw StopWanted()
            }
            var failure = Self.failure(error, package: package, isMigrating: isAsItWas)
            if let kept = migration?.kept { failure.message += "; \(kept)" }
            throw failure
        }
        return OpenedDocument(document: document, lock: lock, migration: migration?.words)
    }

    /// What a restore that was killed has left takes the room of a store, or is one. Root's may be nobody else's to remove, and is in nobody's way where there is
    /// a store.
    private func settleRestore(_ lock: DocumentLock) throws(StartFailure) {
        do throws(PackageFailure) { try RestorePlace(lock, at: package).settle(at: Date()) } catch {
            if access("\(package)/StoreContent", F_OK) != 0 { throw StartFailure(error) }
        }
    }

    private func takeLock() throws(StartFailure) -> DocumentLock {
        do throws(PackageFailure) { return try DocumentLock(package: package) } catch { throw StartFailure(error) }
    }

    /// Turns what SQLite says of its work into steps, each with its size where that is all there is to know.
    private func watch(of store: URL, _ onStep: @escaping @Sendable (OpeningStep) -> Bool) -> MigrationWatch {
        MigrationWatch { step, share in
            let step: OpeningStep =
                switch step {
                case .copying: .copying(share)
                case .migrating: .migrating(share, bytes: Self.size(store))
                case .checking where share < 1: .checking(bytes: Self.size(store))
                case .finishingCopy where share < 1: .finishingCopy(bytes: Self.size(store))
                case .committing where share < 1: .committing(bytes: Self.size(store))
                case .checking, .finishingCopy, .committing: .opening(bytes: Self.size(store))
                }
            return onStep(step)
        }
    }

    /// The bytes of a store and its log.
    private static func size(_ store: URL) -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(store.path + suffix, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    private func makePackage() throws(StartFailure) {
        // Below a directory of the service manager this exists already.
        if mkdir(package, 0o750) != 0, errno != EEXIST {
            let code = errno
            if code == ENOENT {
                throw StartFailure(
                    .cannotCreate,
                    "cannot create the document's directory \(package): the directory above it is missing; create it, or set [document] path",
                    code: code)
            }
            throw StartFailure(
                .cannotCreate,
                "cannot create the document's directory \(package): \(systemError(code)); set [document] path to a place that "
                    + "cisternd may write", code: code)
        }
        guard access(package, W_OK | X_OK) == 0 else {
            let code = errno
            throw StartFailure(
                code == EROFS || code == EACCES || code == EPERM ? .cannotCreate : .ioError,
                "cannot write to the document's directory \(package): \(systemError(code)); it must belong to the user cisternd runs as",
                code: code)
        }
        grantToReadGroup()
    }

    /// What is made in the package belongs to the group that may read it. Where that group does not exist, or is ours already, there is
    /// nothing to do; without the right to hand it over, readers are whoever the directory admits.
    private func grantToReadGroup() {
        let name = configuration.store.readGroup
        guard !name.isEmpty, let group = Accounts.groupID(name), group != getegid() else { return }
        guard chown(package, uid_t.max, group) == 0 else { return }
        chmod(package, 0o2750)
    }

    /// A check reads the whole file.
    private func options(wasClean: Bool) -> [AnyHashable: Any] {
        let store = configuration.store
        let isChecked =
            switch store.integrityCheck {
            case .off: false
            case .afterUncleanEnd: !wasClean
            case .quickOnStart: true
            }
        // A page of the log is about 4 KiB.
        let pages = max(1, store.checkpointWAL.bytes / 4096)
        return [
            NSPersistentStoreTimeoutOption: store.busyTimeout.seconds,
            SQLitePersistentWALOption: store.persistWAL,
            SQLiteQuickCheckOption: isChecked,
            SQLiteRowSumsOption: true,
            NSSQLitePragmasOption: [
                "synchronous": store.synchronous == .full ? "FULL" : "NORMAL", "wal_autocheckpoint": "\(pages)",
            ],
        ]
    }

    /// What an error of the store means for the process.
    ///
    /// - Parameter isMigrating: the store was to be brought to a changed model: what the disk and other programs have no part in, a restart does not mend.
    static func failure(_ error: any Error, package: String, isMigrating: Bool = false) -> StartFailure {
        if let failure = error as? StartFailure { return failure }
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let sqlite = (error.userInfo[NSSQLiteErrorDomain] as? Int) ?? (underlying?.domain == NSSQLiteErrorDomain ? underlying?.code : nil)
        let text = error.localizedDescription
        switch sqlite.map({ $0 & 0xff }) {
        case 5, 6:  // BUSY, LOCKED
            return StartFailure(
                .temporaryFailure, "the store in \(package) is locked by another program: \(text); stop what writes to it", code: EBUSY)
        case 13:  // FULL
            return StartFailure(.ioError, "the disk under \(package) is full: \(text); make room", code: ENOSPC)
        case 10, 15:  // IOERR, PROTOCOL: its locks fail
            return StartFailure(.ioError, "the disk under \(package) reports an error: \(text); look at the kernel's log", code: EIO)
        case 11, 26:  // CORRUPT, NOTADB
            return StartFailure(
                .ioError,
                "the store in \(package) is damaged, or the disk under it fails: \(text); without a copy, everything is fetched again once it is moved away",
                code: EIO)
        case 3, 8, 14:  // PERM, READONLY, CANTOPEN
            return StartFailure(
                .cannotCreate, "the store in \(package) cannot be opened for writing: \(text); its files must belong to the user cisternd runs as",
                code: EACCES)
        default: break
        }
        if let code = fileError(error) {
            let isFull = code == ENOSPC || code == EDQUOT
            return StartFailure(
                .ioError,
                isFull
                    ? "the disk under \(package) is full: \(text); make room"
                    : "the files of \(package) cannot be read or written: \(text); look at the kernel's log, and at who may write there",
                code: isFull ? ENOSPC : code)
        }
        let schema = [134020, 134100, 134110, 134111, 134130, 134140, 134190]
        if isMigrating || error.domain == NSCocoaErrorDomain && schema.contains(error.code) {
            return StartFailure(
                .configuration,
                "the store in \(package) was made for another model and cannot be converted: \(text); undo the change of [entity], or move "
                    + "the store away to have everything fetched again")
        }
        return StartFailure(.software, "the store in \(package) cannot be opened: \(text)")
    }
}

extension DocumentOpening {
    /// The `errno` behind an error, or behind what it was caused by, where a system call or writing a file failed; nil where none did.
    fileprivate static func fileError(_ error: NSError) -> Int32? {
        var next: NSError? = error
        // An error names its cause, and that one its own. What goes further down, or round in a circle, is of no use.
        for _ in 0..<8 {
            guard let error = next else { return nil }
            // Foundation's own causes are no NSError here until they are made one.
            let underlying = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
            if error.domain == NSPOSIXErrorDomain { return Int32(clamping: error.code) }
            if error.domain == NSCocoaErrorDomain, let code = writingErrors[CocoaError.Code(rawValue: error.code)] {
                // Its cause says more.
                return underlying?.domain == NSPOSIXErrorDomain ? underlying.map { Int32(clamping: $0.code) } : code
            }
            next = underlying
        }
        return nil
    }

    /// What Foundation says of a file that cannot be written.
    private static let writingErrors: [CocoaError.Code: Int32] = [
        .fileWriteUnknown: EIO, .fileWriteNoPermission: EACCES, .fileWriteOutOfSpace: ENOSPC, .fileWriteVolumeReadOnly: EROFS,
    ]
}

/// The open document as the daemon sees it. `OpenedDocument` is it; tests put a fake in its place.
public protocol OpenDocument: Sendable {
    /// The package.
    var path: String { get }
    /// How many changed objects are not on disk yet.
    var unsavedChanges: Int { get }
    /// How old the oldest unsaved change is, in seconds; `nil` if nothing is unsaved.
    var oldestUnsavedSeconds: Double? { get }
    /// Probes the root context with a read of the store. `done` is called when it has answered, whatever the answer.
    func probe(_ done: @escaping @Sendable () -> Void)
    /// Saves everything.
    func save() async throws
    /// Saves everything and closes the store. The lock is held until the document is let go, or another one takes it over.
    func close() async throws
}

/// The daemon's document: a `UIManagedDocument` that is open, and the lock on its package.
final class OpenedDocument: OpenDocument {
    let document: UIManagedDocument
    /// How the store was brought to the model; nil if it was of it.
    let migration: String?
    let lock: DocumentLock

    init(document: UIManagedDocument, lock: DocumentLock, migration: String? = nil) {
        self.document = document
        self.lock = lock
        self.migration = migration
    }

    var path: String { document.fileURL.path }
    var unsavedChanges: Int { document.unsavedChangeCount }
    var oldestUnsavedSeconds: Double? { document.oldestUnsavedChange }

    func probe(_ done: @escaping @Sendable () -> Void) {
        let root = document.root
        root.perform {
            // One row of any table. Any return is the answer; a store that reports an error is alive too.
            if let name = root.persistentStoreCoordinator?.managedObjectModel.entities.compactMap(\.name).min() {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.fetchLimit = 1
                _ = try? root.count(for: request)
            }
            done()
        }
    }

    func save() async throws { try await document.save() }

    func close() async throws {
        try await document.close()
        lock.markClean()
    }
}

extension StartFailure {
    /// What cannot be done with the document's package.
    init(_ failure: PackageFailure) {
        switch failure.kind {
        case .inUse:
            self.init(
                .temporaryFailure, "\(failure.message); stop it, or give this one a [document] path of its own", code: failure.code)
        case .notWritable: self.init(.cannotCreate, failure.message, code: failure.code)
        case .full, .disk, .damaged, .unsettled: self.init(.ioError, failure.message, code: failure.code)
        case .unusable, .notPermitted, .givenUp: self.init(.failure, failure.message, code: failure.code)
        }
    }
}

/// The words of an `errno`.
func systemError(_ code: Int32) -> String { String(cString: strerror(code)) }
