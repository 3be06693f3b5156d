import Foundation

/// The property list that a file keeps about its store as a whole (`Z_METADATA.Z_PLIST`), and what a store stamps into it.
enum StoreMetadataCoding {
    static let autoVacuumLevelKey = "_NSAutoVacuumLevel"
    static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
    static let hashesDigestKey = "NSStoreModelVersionHashesDigest"
    static let modelChecksumKey = "NSStoreModelVersionChecksumKey"
    static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
    /// Ours. Apple's framework counts its own in hundreds.
    static let frameworkVersion = 1
    /// What made the views last: not shown to callers.
    static let viewsKey = "_OpenCoreDataViews"

    /// Through which entry of a push journal everything has been committed: not shown to callers.
    static let pushMarkKey = "_OpenCoreDataPushMark"

    /// The largest keys of entity trees that are no more, by name of their root: should one come back, its keys go on from there, so that nobody takes a
    /// new object for an old one. Not shown to callers.
    static let formerKeysKey = "_OpenCoreDataFormerKeys"

    /// How often the store was migrated: not shown to callers.
    static let migrationsKey = "_OpenCoreDataMigrations"

    /// The checksum of the version to which a stage has begun to bring the store, until that stage is over: not shown to callers.
    static let dueStageKey = "_OpenCoreDataDueStage"

    /// How the derived values of the file are found: not shown to callers.
    static let derivationsKey = "_OpenCoreDataDerivations"

    /// The model of a store that has no table for it: not shown to callers.
    static let modelKey = "_OpenCoreDataModel"

    /// What callers neither see nor set.
    static let hiddenKeys: Set = [modelKey, viewsKey, derivationsKey, pushMarkKey, formerKeysKey, migrationsKey, dueStageKey]

    static func migrations(_ metadata: [String: Any]) -> Int { (metadata[migrationsKey] as? NSNumber)?.intValue ?? 0 }

    static func pushMark(_ data: Data) -> UInt64 {
        (metadata(data)?[pushMarkKey] as? NSNumber)?.uint64Value ?? 0
    }

    /// The same metadata with another mark.
    static func marking(_ data: Data, _ mark: UInt64) throws -> Data {
        var metadata = metadata(data) ?? [:]
        metadata[pushMarkKey] = NSNumber(value: mark)
        return try self.data(metadata)
    }

    static func modelHashes(_ data: Data) -> [String: Data] { metadata(data)?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:] }

    static func data(_ metadata: [String: Any]) throws -> Data {
        try PropertyListValue.bytes(metadata, format: .binary)
    }

    static func metadata(_ data: Data) -> [String: Any]? {
        (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [String: Any]
    }

    /// The metadata of a new store.
    static func initial(uuid: String) -> [String: Any] {
        [NSStoreTypeKey: NSSQLiteStoreType, NSStoreUUIDKey: uuid, autoVacuumLevelKey: "2", frameworkVersionKey: frameworkVersion]
    }

    /// Stamps the hashes and identifiers of the model into metadata.
    static func stamp(_ metadata: inout [String: Any], entities: [NSEntityDescription], model: NSManagedObjectModel?) {
        let hashes = hashes(of: entities)
        let digest = VersionChecksum.of(hashes)
        metadata[NSStoreModelVersionHashesKey] = hashes
        metadata[NSStoreModelVersionIdentifiersKey] = (model?.versionIdentifiers ?? []).map { "\($0.base)" }.sorted()
        metadata[hashesVersionKey] = 3
        metadata[hashesDigestKey] = digest
        metadata[modelChecksumKey] = digest
    }

    static func hashes(of entities: [NSEntityDescription]) -> [String: Data] {
        Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { _, last in last })
    }
}
