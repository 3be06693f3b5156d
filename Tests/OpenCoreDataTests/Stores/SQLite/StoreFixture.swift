import Foundation
import OpenCoreData
import Testing

/// A store in a directory of its own, and rows to put into it.
final class StoreFixture {
    let directory: URL
    let model: NSManagedObjectModel
    let options: [AnyHashable: Any]?
    private(set) var store: SQLiteStore

    init(_ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        model.freeze()
        self.model = model
        self.options = options
        do {
            store = try SQLiteStore(
                model: model, entities: model.entities, configurationName: nil, url: directory.appendingPathComponent("store.sqlite"),
                options: options)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    var file: URL { directory.appendingPathComponent("store.sqlite") }
    var shell: SQLiteShell { SQLiteShell(file: file) }

    /// Another store on the same file.
    func second(_ model: NSManagedObjectModel? = nil, options: [AnyHashable: Any]? = nil) throws -> SQLiteStore {
        let model = model ?? self.model
        model.freeze()
        return try SQLiteStore(model: model, entities: model.entities, configurationName: nil, url: file, options: options)
    }

    /// Closes the store and opens it again.
    func reopen() throws {
        try store.close()
        store = try second(options: options)
    }

    func entity(_ name: String) throws -> NSEntityDescription { try #require(model.entitiesByName[name]) }

    // MARK: Rows

    func newID(_ name: String) throws -> NSManagedObjectID {
        let entity = try entity(name)
        let key = try store.reserveKeys(for: entity.rootEntity, count: 1).lowerBound
        return NSManagedObjectID(entity: entity, key: key, store: store.identity, isTemporary: true)
    }

    func row(_ name: String, _ values: [String: AttributeValue]) throws -> RowSnapshot {
        let entity = try entity(name)
        return try RowSnapshot.make(entity.layout).with(values)
    }

    /// Adds an insert to a change set.
    @discardableResult
    func insert(_ name: String, _ values: [String: AttributeValue], into changes: inout ChangeSet) throws -> NSManagedObjectID {
        let id = try newID(name)
        changes.set(id, PendingRow(kind: .inserted, row: try row(name, values)))
        return id
    }

    /// Inserts one object and saves it.
    @discardableResult
    func insert(_ name: String, _ values: [String: AttributeValue]) throws -> NSManagedObjectID {
        var changes = ChangeSet()
        let id = try insert(name, values, into: &changes)
        try save(changes)
        return id
    }

    /// What the store holds for an ID.
    func stored(_ id: NSManagedObjectID) throws -> RowSnapshot? { try store.rows(for: [id])[id] }

    /// Saves, and stamps the rows with their versions, as a coordinator does.
    @discardableResult
    func save(_ changes: ChangeSet) throws -> SavedRows {
        let saved = try store.save(changes)
        for (id, version) in saved.versions { changes[id]?.row?.stamp(version: version) }
        return saved
    }

    func fetch(_ name: String, _ format: String = "TRUEPREDICATE", _ arguments: [Any?] = [], sort: [SortKey] = []) throws -> [FetchedRow] {
        var plan = FetchPlan(entity: try entity(name))
        plan.predicate = try NSPredicate.parse(format, arguments: arguments).node
        plan.sort = sort
        return try store.fetch(plan)
    }
}

extension RowSnapshot {
    /// This row, not shared yet, with values by name.
    func with(_ values: [String: AttributeValue]) throws -> RowSnapshot {
        for (name, value) in values { update(try #require(layout.slot(of: name), "no \(name)"), to: value) }
        return self
    }
}

extension ChangeSet {
    /// Adds an update of a stored row.
    mutating func update(_ id: NSManagedObjectID, from base: RowSnapshot, _ values: [String: AttributeValue]) throws {
        let changed = try values.keys.map { try #require(base.layout.slot(of: $0)) }
        set(id, PendingRow(kind: .updated, row: try base.copy().with(values), changed: SlotSet(changed), base: base))
    }

    mutating func delete(_ id: NSManagedObjectID, base: RowSnapshot?) {
        set(id, PendingRow(kind: .deleted, row: base, base: base))
    }
}

/// A to-one to that object.
func one(_ id: NSManagedObjectID) -> AttributeValue { .objectID(id) }

/// The metadata that a SQLite store's file has.
func storedMetadata(at file: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)
}
