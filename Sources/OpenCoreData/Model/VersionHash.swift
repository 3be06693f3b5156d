import Foundation

/// Version hashes: 32 bytes that tell whether two models can use the same store. Apple's algorithm is not published; this one is ours.
///
/// A hash is the SHA-256 of a canonical text, one `key=value` a line, strings with `%`, `=`, line feed and comma percent-escaped.
/// What does not change the form of stored data (indexes, user info, defaults, validation, delete rules, class names) is left out.
/// `docs/FILE_FORMAT.md` gives the lines.
extension NSPropertyDescription {
    /// The hash of this property.
    public var versionHash: Data { Data(SHA256.hash(hashText.utf8)) }

    var hashText: String {
        var lines = ["name=\(escaped(name))", "optional=\(isOptional)", "transient=\(isTransient)"]
        if let versionHashModifier { lines.append("modifier=\(escaped(versionHashModifier))") }
        switch self {
        case let attribute as NSAttributeDescription:
            lines.append("attribute=\(attribute.attributeType.rawValue)")
            if let transformer = attribute.valueTransformerName { lines.append("transformer=\(escaped(transformer))") }
            if let derived = attribute as? NSDerivedAttributeDescription {
                lines.append("derived=\(escaped(derived.derivationExpression?.description ?? ""))")
            }
            if let composite = attribute as? NSCompositeAttributeDescription {
                for element in composite.elements.sorted(by: { $0.name < $1.name }) { lines.append("element=\(element.versionHash.hex)") }
            }
        case let relationship as NSRelationshipDescription:
            lines.append("relationship=\(escaped(relationship.destinationEntity?.name ?? ""))")
            lines.append("inverse=\(escaped(relationship.inverseRelationship?.name ?? ""))")
            lines.append("toMany=\(relationship.isToMany)")
            lines.append("ordered=\(relationship.isToMany && relationship.isOrdered)")
        default: lines += hashLines.map(escapedLine)
        }
        return lines.joined(separator: "\n")
    }
}

extension NSEntityDescription {
    /// The hash of this entity: its name, its superentity's name, whether it is abstract, its stored properties with the inherited ones, its
    /// uniqueness constraints and modifiers. 32 bytes.
    public var versionHash: Data {
        var lines = ["entity=\(escaped(name ?? ""))", "super=\(escaped(superentity?.name ?? ""))", "abstract=\(isAbstract)"]
        if let versionHashModifier { lines.append("modifier=\(escaped(versionHashModifier))") }
        for property in properties.sorted(by: { $0.name < $1.name }) {
            lines.append("property=\(property.versionHash.hex)")
        }
        for constraint in constraintNames.map({ $0.map(escaped).joined(separator: ",") }).sorted() {
            lines.append("unique=\(constraint)")
        }
        return Data(SHA256.hash(lines.joined(separator: "\n").utf8))
    }
}

/// Metadata key: the version hash of each entity by its name, `[String: Data]`. It must agree with the model when a store is opened.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"

extension SHA256 {
    /// Over names and version hashes of entities, in the order of the names.
    static func hash(ofVersionHashes hashes: [String: Data]) -> [UInt8] {
        hash(hashes.sorted { $0.key < $1.key }.flatMap { Array($0.key.utf8) + Array($0.value) })
    }
}

/// What tells one version of a model from others: a hash of the version hashes of its entities, in Base64.
enum VersionChecksum {
    static func of(_ hashes: [String: Data]) -> String { Data(SHA256.hash(ofVersionHashes: hashes)).base64EncodedString() }
}

extension NSManagedObjectModel {
    /// Tells one version of the model from others, as the version hashes of its entities do: in Base64. Stores of the whole model have it in their metadata
    /// under `NSStoreModelVersionChecksumKey`. Not that of Apple's framework, whose recipe is not published.
    public var versionChecksum: String { VersionChecksum.of(entityVersionHashesByName) }

    /// The version hash of every entity.
    public var entityVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.versionHash) }

    /// Whether a store with this metadata can be opened with the entities of a configuration: they are the same by name, and so are their hashes.
    public func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
            let entities = entities(forConfigurationName: configuration)
        else { return false }
        return stored == Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { _, last in last })
    }
}

extension Data {
    fileprivate var hex: String { map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined() }
}

/// A line whose value may hold anything.
private func escapedLine(_ line: String) -> String {
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 ? "\(parts[0])=\(escaped(String(parts[1])))" : escaped(line)
}

private func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "%": result += "%25"
        case "=": result += "%3D"
        case "\n": result += "%0A"
        case ",": result += "%2C"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}
