import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline

/// Bringing a store to a changed `[entity]`: nothing is lost that the configuration does not name.
struct StoreMigration {
    private let url: URL
    private let changes: ModelChanges
    private let copy: URL?

    /// Nil where the store is of the model, or is not there yet.
    /// - Throws: `StartFailure`, before anything is done; what reading the file throws.
    init?(_ url: URL, model: NSManagedObjectModel, configuration: CisternConfiguration, now: Date = Date()) throws {
        guard let changes = try ModelChanges(store: url, model: model, dropped: configuration.model.dropped) else { return nil }
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
        copy = changes.losses.isEmpty ? nil : url.appendingPathExtension("before-\(time)")
    }

    /// Where values go, they are still in a copy of the store.
    func keepCopy() throws {
        guard let copy else { return }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: copy, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
    }

    /// The store is as it was, so nobody needs the copy.
    func discardCopy() {
        guard let copy else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
    }

    /// For the journal.
    var words: String {
        let kept = copy.map { "; the store as it was is kept as \($0.path)" } ?? ""
        return "Store brought to the changed model: \(changes.all.isEmpty ? "the daemon's own tables" : Self.list(changes.all))\(kept)"
    }

    private static func list(_ changes: [StoreMigrationPlan.Change]) -> String { changes.map(\.words).joined(separator: ", ") }
}
