import Foundation
import Glibc
import OpenCoreData
import SyncConfiguration
import SyncPipeline

/// Bringing a store to a changed `[entity]`: nothing is lost that the configuration does not name.
struct StoreMigration {
    private let url: URL
    private let changes: ModelChanges
    private let copy: URL?

    /// What the copy is called until it is whole.
    private static func unfinished(_ url: URL) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).copied")
    }

    /// Removes what a process that was killed has left of a copy. Only for who holds the document's lock.
    static func removeUnfinishedCopy(of url: URL) { remove(unfinished(url)) }

    /// Nil where the store is of the model, but for indexes, which are made and go whenever it is opened, or is not there yet.
    /// - Throws: `StartFailure`, before anything is done; what reading the file throws.
    init?(_ url: URL, model: NSManagedObjectModel, configuration: CisternConfiguration, now: Date = Date()) throws {
        guard let changes = try ModelChanges(store: url, model: model, dropped: configuration.model.dropped), !changes.isOfModel else {
            return nil
        }
        self.url = url
        self.changes = changes
        let rule = configuration.store.onSchemaChange, package = configuration.document.path
        if rule == .refuse {
            throw StartFailure(
                .configuration,
                "the store in \(package) was made for another model, and [store] on_schema_change is \"\(rule.rawValue)\": \(Self.list(changes.all)); "
                    + "undo the change of [entity], or allow it")
        }
        if !changes.refused.isEmpty {
            throw StartFailure(
                .configuration,
                "the model of the configuration has no place for what the store in \(package) holds: \(Self.list(changes.refused)); say what it is called "
                    + "now (renamed_from) or that it may go (drop = true), or undo the change of [entity]; nothing was changed")
        }
        let time = now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        copy = changes.losses.isEmpty ? nil : Self.free(url.appendingPathExtension("before-\(time)"))
    }

    /// A name that nothing has yet: the clock may have been set back, or a second not be over.
    private static func free(_ url: URL) -> URL {
        var found = url, number = 2
        while FileManager.default.fileExists(atPath: found.path) {
            found = URL(fileURLWithPath: "\(url.path)-\(number)")
            number += 1
        }
        return found
    }

    /// Where values go, they are still in a copy of the store. It has its name once it is whole and on the disk; where `watch` ends it, nothing is left of it.
    func keepCopy(_ watch: MigrationWatch) throws {
        guard let copy else { return }
        let unfinished = Self.unfinished(url)
        defer { Self.remove(unfinished) }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: unfinished, destinationOptions: [SQLiteMigrationWatchOption: watch], withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
        try FileManager.default.moveItem(at: unfinished, to: copy)
        try Self.synchronize(folder: copy.deletingLastPathComponent())
    }

    /// Makes the copy's name durable. Some file systems can't do that for a folder and say so, which is no failure: they have nothing else to offer.
    private static func synchronize(folder: URL) throws {
        do { try Disk.synchronize(folder: folder) } catch let error as NSError
            where error.domain == NSPOSIXErrorDomain && [EINVAL, ENOTSUP].contains(Int32(clamping: error.code))
        {}
    }

    /// The store is as it was, so nobody needs the copy.
    func discardCopy() {
        if let copy { Self.remove(copy) }
    }

    private static func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    /// Where the copy is, once there is one.
    var kept: String? { copy.flatMap { FileManager.default.fileExists(atPath: $0.path) ? "the store as it was is kept as \($0.path)" : nil } }

    /// For the journal.
    var words: String {
        let kept = kept.map { "; \($0)" } ?? ""
        return "Store brought to the changed model: \(changes.all.isEmpty ? "the daemon's own tables" : Self.list(changes.all))\(kept)"
    }

    private static func list(_ changes: [StoreMigrationPlan.Change]) -> String { changes.map(\.words).joined(separator: ", ") }
}
