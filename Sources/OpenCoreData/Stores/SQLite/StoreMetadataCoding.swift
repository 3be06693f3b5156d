import Foundation

/// The model as it was when the store was made, kept in `Z_MODELCACHE`, so that a store of another version can say what differs.
struct StoredModel: Codable, Equatable, Sendable {
    struct Entity: Codable, Equatable, Sendable {
        let name: String
        let parent: String?
        let isAbstract: Bool
        /// By name, each in words: "String, optional", "to-many Pet, inverse owner".
        let properties: [String: String]
        let constraints: [[String]]
    }

    var format = 1
    let entities: [Entity]

    init(_ entities: [NSEntityDescription]) {
        self.entities = entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.map { entity in
            Entity(
                name: entity.name ?? "", parent: entity.superentity?.name, isAbstract: entity.isAbstract,
                properties: Dictionary(
                    entity.properties.filter { !$0.isTransient }.map { ($0.name, Self.words(for: $0)) }, uniquingKeysWith: { _, last in last }),
                constraints: entity.constraintNames)
        }
    }

    private static func words(for property: NSPropertyDescription) -> String {
        var words: [String] = []
        switch property {
        case let attribute as NSAttributeDescription: words.append(attribute.kind.name)
        case let relationship as NSRelationshipDescription:
            words.append("\(relationship.isToMany ? "to-many" : "to-one") \(relationship.destinationEntity?.name ?? "?")")
            if let inverse = relationship.inverseRelationship { words.append("inverse \(inverse.name)") }
            if relationship.isToMany && relationship.isOrdered { words.append("ordered") }
        default: words.append("fetched")
        }
        if property.isOptional { words.append("optional") }
        if let modifier = property.versionHashModifier { words.append("modifier \(modifier)") }
        return words.joined(separator: ", ")
    }

    static func decode(_ data: Data) -> StoredModel? { try? JSONDecoder().decode(StoredModel.self, from: data) }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(self)
    }

    /// What `newer` has that this has not, and the other way round, in words.
    func differences(to newer: StoredModel) -> [String] {
        var result: [String] = []
        let old = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        let new = Dictionary(newer.entities.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        for name in Set(old.keys).union(new.keys).sorted() {
            switch (old[name], new[name]) {
            case (nil, _?): result.append("entity \(name) is only in the model")
            case (_?, nil): result.append("entity \(name) is only in the store")
            case (let before?, let after?):
                for key in Set(before.properties.keys).union(after.properties.keys).sorted() {
                    switch (before.properties[key], after.properties[key]) {
                    case (nil, let words?): result.append("\(name).\(key) (\(words)) is only in the model")
                    case (let words?, nil): result.append("\(name).\(key) (\(words)) is only in the store")
                    case (let was?, let now?) where was != now: result.append("\(name).\(key) was \(was) and is now \(now)")
                    default: break
                    }
                }
                if before.parent != after.parent { result.append("the superentity of \(name) changed") }
                if before.isAbstract != after.isAbstract { result.append("\(name) changed between abstract and concrete") }
                if before.constraints != after.constraints { result.append("the uniqueness constraints of \(name) changed") }
            case (nil, nil): break
            }
        }
        return result
    }
}

/// The property list in `Z_METADATA.Z_PLIST`, and what a store stamps into it.
enum StoreMetadataCoding {
    static let autoVacuumLevelKey = "_NSAutoVacuumLevel"
    static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
    static let hashesDigestKey = "NSStoreModelVersionHashesDigest"
    static let modelChecksumKey = "NSStoreModelVersionChecksumKey"
    static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
    /// What made the views last: not shown to callers.
    static let viewsKey = "_OpenCoreDataViews"

    /// Through which entry of a push journal everything has been committed: not shown to callers.
    static let pushMarkKey = "_OpenCoreDataPushMark"

    static func pushMark(_ data: Data) -> UInt64 {
        (metadata(data)?[pushMarkKey] as? NSNumber)?.uint64Value ?? 0
    }

    /// The same metadata with another mark.
    static func marking(_ data: Data, _ mark: UInt64) throws -> Data {
        var metadata = metadata(data) ?? [:]
        metadata[pushMarkKey] = NSNumber(value: mark)
        return try self.data(metadata)
    }

    static func data(_ metadata: [String: Any]) throws -> Data {
        try PropertyListValue.bytes(metadata, format: .binary)
    }

    static func metadata(_ data: Data) -> [String: Any]? {
        (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [String: Any]
    }

    /// The metadata of a new store.
    static func initial(uuid: String) -> [String: Any] {
        [NSStoreTypeKey: NSSQLiteStoreType, NSStoreUUIDKey: uuid, autoVacuumLevelKey: "2", frameworkVersionKey: 1]
    }

    /// Stamps the hashes and identifiers of the model into metadata.
    static func stamp(_ metadata: inout [String: Any], entities: [NSEntityDescription], model: NSManagedObjectModel?) {
        let hashes = hashes(of: entities)
        let digest = Data(SHA256.hash(ofVersionHashes: hashes)).base64EncodedString()
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
