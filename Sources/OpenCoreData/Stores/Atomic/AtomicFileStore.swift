import Foundation
import Synchronization

/// A store whose rows are in memory and in a file that every save writes anew, whole: a binary or an XML store. For what is small, and for what other
/// programs are to read.
///
/// What was saved is in the file and on the disk when the save returns; what was not, is not. If somebody else has written the file meanwhile a save throws
/// 134030, and their file stays.
// What changes is guarded by locks, as in the class that it inherits from.
final class AtomicFileStore: InMemoryStore, @unchecked Sendable {
    override var mayBeElsewhere: Bool { false }
    /// All trees take their keys from one counter: the file calls an object by its key alone.
    static let counter = -1

    private let format: any AtomicFormat
    private let file: AtomicFile
    /// What the file says, whatever identity this store takes over.
    private let uuid: String
    private let kept = Mutex(Kept())

    // A property list that nobody changes.
    private struct Kept: @unchecked Sendable {
        /// With what is hidden from callers.
        var metadata: [String: Any] = [:]
        var isDirty = false
        /// Counts what was set.
        var generation = 0
    }

    init(_ opening: StoreOpening, format: any AtomicFormat, file: AtomicFile, uuid: String) {
        self.format = format
        self.file = file
        self.uuid = uuid
        super.init(
            entities: opening.entities, configurationName: opening.configurationName, url: opening.url, options: opening.options, uuid: uuid)
    }

    // The compiler (Swift 6.3) would make one that calls itself, and refuse it.
    @available(*, unavailable)
    package override init(
        entities: [NSEntityDescription], configurationName: String?, url: URL?, options: [AnyHashable: Any]?, uuid: String
    ) {
        Violation.misuse("a store that keeps a file is made by AtomicStoreOpening")
    }

    static func storeClass(_ format: any AtomicFormat) -> StoreClass {
        StoreClass(
            AtomicFileStore.self,
            destination: MigrationDestination(
                ownMetadataKeys: ownKeys,
                fill: { store, source in
                    guard let store = store as? AtomicFileStore else { return }
                    if let copyable = source as? any CopyableStore { try copyable.withSnapshot(store.fill) } else { try store.fill(from: source) }
                },
                file: { try AtomicStoreFile($0, format: format, options: $1) }),
            composes: true
        ) { try AtomicStoreOpening($0, format: format).open() }
    }

    override var type: String { format.type }

    override func counter(of root: NSEntityDescription) -> Int { Self.counter }

    /// Takes all that `source` holds, keys and versions too. The next save writes it.
    func fill(from source: NSPersistentStore) throws {
        try source.forEachPart { fill($0) }
        for root in Set(source.entities.map(\.rootEntity)) { try raiseLargestKey(for: root, to: try source.largestKey(for: root)) }
        kept.withLock { $0.isDirty = true }
    }

    /// The rows are those of the same objects as before, whose IDs are others now.
    override func adopt(_ identity: StoreIdentity) {
        let former = self.identity
        super.adopt(identity)
        if former === identity { return }
        state.withLock { $0 = $0.moved(to: identity) }
    }

    // MARK: Loading

    /// Takes what a document holds. Throws as `AtomicCoding` does.
    func load(_ document: AtomicDocument) throws {
        let coding = AtomicCoding(entities: entities, format: format, path: file.path)
        var next = try coding.state(document, identity: identity)
        next.pushMark = (document.metadata.values[StoreMetadataCoding.pushMarkKey] as? NSNumber)?.uint64Value ?? 0
        next.observer = state.withLock { $0.observer }
        let loaded = next
        state.withLock { $0 = loaded }
        let metadata = Kept(metadata: document.metadata.values)
        kept.withLock { $0 = metadata }
    }

    /// Writes the file as the store is now.
    func write() throws {
        let now = state.withLock { $0 }
        try keep(now)?.commit()
    }

    // MARK: Saving

    override func keep(_ next: @autoclosure () -> State) throws -> AtomicFile.Prepared? {
        guard !isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "\(file.path) was opened read-only; nothing can be saved to it.")
        }
        let next = next(), (metadata, generation) = kept.withLock { ($0, $0.generation) }
        var document = AtomicDocument(uuid: uuid, metadata: .init(values: metadata.metadata))
        let counted = next.nextKeys[Self.counter] ?? 1
        document.largestKey = state.withLock { max($0.nextKeys[Self.counter] ?? 1, counted) } - 1
        document.metadata.values[StoreMetadataCoding.pushMarkKey] = next.pushMark > 0 ? NSNumber(value: next.pushMark) : nil
        document.objects = try AtomicCoding(entities: entities, format: format, path: file.path).objects(next)
        let prepared = try file.prepare(try format.bytes(document))
        prepared.whenDone = { [weak self] in self?.kept.withLock { if $0.generation == generation { $0.isDirty = false } } }
        return prepared
    }

    override func save(_ changes: ChangeSet) throws -> SavedRows { try preparedAndCommitted(changes) }

    // It is on the disk before it is committed.
    override var commitTurn: CommitTurn { .transaction }

    // MARK: Metadata

    static let ownKeys = StoreMetadataCoding.hiddenKeys.union([
        NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, StoreMetadataCoding.hashesVersionKey, StoreMetadataCoding.hashesDigestKey,
        StoreMetadataCoding.modelChecksumKey, StoreMetadataCoding.frameworkVersionKey,
    ])

    override var metadata: [String: Any]! {
        get {
            var metadata = kept.withLock { $0 }.metadata.filter { !StoreMetadataCoding.hiddenKeys.contains($0.key) }
            metadata[NSStoreTypeKey] = type
            metadata[NSStoreUUIDKey] = identifier
            return metadata
        }
        set {
            var given = newValue ?? [:]
            let isChanged = kept.withLock { kept in
                for key in Self.ownKeys { given[key] = kept.metadata[key] }
                return !NSDictionary(dictionary: given).isEqual(to: kept.metadata)
            }
            guard isChanged else { return }
            guard (try? PropertyListValue.bytes(given, format: .binary)) != nil else {
                Violation.misuse("the metadata of \(file.path) must be a property list; it holds \(given)")
            }
            let metadata = Kept(metadata: given)
            kept.withLock { kept in
                kept.metadata = metadata.metadata
                kept.isDirty = true
                kept.generation += 1
            }
        }
    }

    override var hasUnsavedMetadata: Bool { kept.withLock { $0.isDirty } }

    override var migrations: Int { StoreMetadataCoding.migrations(kept.withLock { $0 }.metadata) }
}

extension InMemoryStore.State {
    /// The same of another identity.
    fileprivate func moved(to identity: StoreIdentity) -> Self {
        var made: [NSManagedObjectID: NSManagedObjectID] = [:]
        for id in rows.keys { made[id] = NSManagedObjectID(entity: id.entity, key: id.key, store: identity, isTemporary: false) }
        func moved(_ id: NSManagedObjectID) -> NSManagedObjectID { made[id] ?? id }
        func moved(_ sets: [RelationshipKey: [NSManagedObjectID]]) -> [RelationshipKey: [NSManagedObjectID]] {
            Dictionary(
                uniqueKeysWithValues: sets.map { (RelationshipKey(owner: moved($0.owner), toMany: $0.toMany), $1.map { moved($0) }) })
        }
        var result = self
        result.rows = [:]
        for (id, row) in rows {
            let copy = row.copy()
            for slot in row.layout.toOneSlots {
                if let target = row[slot].objectID { copy.update(slot, to: .objectID(moved(target))) }
            }
            result.rows[moved(id)] = copy
        }
        result.pairs = moved(pairs)
        result.orders = moved(orders)
        return result
    }
}
