import Foundation
import ModelFiles

/// The format of Core Data's XML stores, so that both read each other's files: `<object>` elements with names in one case, IDs `z102`, attributes as
/// text, relationships as lists of IDs on both sides, and the metadata as a property list.
///
/// What that format has no place for stands in the metadata (versions), or is marked: a string with characters that XML can't hold has
/// `encoding="base64"`.
struct XMLStoreFormat: AtomicFormat {
    private static let formatVersion = "134481920"
    /// In the metadata: the versions of objects that were changed, by ID.
    private static let versionsKey = "_OpenCoreDataVersions"

    /// In the metadata: all of them as a binary property list, where they hold characters that XML lacks.
    private static let metadataKey = "_OpenCoreDataMetadata"

    var type: String { NSXMLStoreType }
    // In a list of IDs a space ends one.
    func canName(_ entity: String) -> Bool { !entity.contains(where: \.isWhitespace) }
    func entityName(_ name: String) -> String { name.uppercased() }
    func propertyName(_ name: String) -> String { name.lowercased() }

    // MARK: Writing

    func bytes(_ document: AtomicDocument) throws -> Data {
        var metadata = document.metadata.values
        let versions = document.objects.filter { $0.version > 1 }.map { ("\($0.name)", $0.version) }
        metadata[Self.versionsKey] = versions.isEmpty ? nil : Dictionary(versions) { first, _ in first }
        if !XMLText.holdsAll(metadata) {
            metadata = [Self.metadataKey: try PropertyListValue.bytes(metadata, format: .binary)]
        }
        var text = XMLText()
        text.raw(
            "<?xml version=\"1.0\" standalone=\"yes\"?>\n<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n\n<database>\n")
        text.raw("    <databaseInfo>\n        <version>\(Self.formatVersion)</version>\n        <UUID>")
        text.content(document.uuid)
        text.raw("</UUID>\n        <nextObjectID>\(document.largestKey)</nextObjectID>\n        <metadata>\n")
        text.raw(try propertyList(metadata))
        text.raw("        </metadata>\n    </databaseInfo>\n")
        for object in document.objects { write(object, to: &text) }
        text.raw("</database>\n")
        guard text.bytes.count < Int(Int32.max) else {
            throw NSError.coreData(
                .persistentStoreSave,
                "The file would be \(text.bytes.count) bytes long, and files of XML of 2 GiB and more are not read. Use a store of type \(NSSQLiteStoreType)."
            )
        }
        return Data(text.bytes)
    }

    private func write(_ object: AtomicDocument.Object, to text: inout XMLText) {
        text.open("    <object", ("type", object.entity), ("id", "\(object.name)"))
        text.raw(">\n")
        for attribute in object.attributes {
            text.open("        <attribute", ("name", attribute.name), ("type", attribute.type))
            switch attribute.value {
            case .text(let value) where XMLText.holds(value):
                text.raw(">")
                text.content(value)
            case .text(let value):
                text.raw(" encoding=\"base64\">\(Self.base64(Data(value.utf8)))")
            case .data(let data): text.raw(">\(Self.base64(data))")
            }
            text.raw("</attribute>\n")
        }
        for relationship in object.relationships {
            text.open(
                "        <relationship", ("name", relationship.name), ("type", "\(relationship.minCount)/\(relationship.maxCount)"),
                ("destination", relationship.destination))
            if !relationship.members.isEmpty { text.open("", ("idrefs", relationship.members.map(\.description).joined(separator: " "))) }
            text.raw("></relationship>\n")
        }
        text.raw("    </object>\n")
    }

    private static func base64(_ data: Data) -> String {
        data.isEmpty ? "" : data.base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed]) + "\n"
    }

    /// Without what stands before it in a file of its own.
    private func propertyList(_ values: [String: Any]) throws -> String {
        let whole = String(decoding: try PropertyListValue.bytes(values, format: .xml), as: UTF8.self)
        guard let start = whole.range(of: "<plist") else { return "" }
        return String(whole[start.lowerBound...])
    }

    // MARK: Reading

    func document(_ bytes: Data, path: String) throws -> AtomicDocument {
        guard bytes.prefix(512).contains(UInt8(ascii: "<")), !bytes.prefix(512).contains(0) else { throw Self.isNone(path) }
        let root: Markup
        do { root = try Markup(bytes, path: path) } catch {
            throw Self.damaged(path, error.line, error.message)
        }
        guard root.name == "database", let info = root.all("databaseInfo").first else { throw Self.isNone(path) }
        func field(_ name: String) -> String? { info.all(name).first?.text.trimmingCharacters(in: .whitespacesAndNewlines) }
        let version = field("version") ?? ""
        guard version == Self.formatVersion else {
            throw Self.damaged(path, info.line, "has the format \(version.isEmpty ? "–" : version), of which nothing is known here")
        }
        guard let uuid = field("UUID"), !uuid.isEmpty else { throw Self.damaged(path, info.line, "has no UUID") }
        guard let largest = Int64(field("nextObjectID") ?? "0") else { throw Self.damaged(path, info.line, "has a nextObjectID that is no number") }
        var metadata: [String: Any] = [:]
        if let list = info.all("metadata").first?.all("plist").first {
            guard let found = list.children.first.flatMap(PropertyListMarkup.value) as? [String: Any] else {
                throw Self.damaged(path, list.line, "has metadata that are no property list")
            }
            metadata = found
            if let whole = found[Self.metadataKey] as? Data {
                guard let found = try? PropertyListSerialization.propertyList(from: whole, options: [], format: nil) as? [String: Any] else {
                    throw Self.damaged(path, list.line, "has metadata that are no property list")
                }
                metadata = found
            }
        }
        let versions = metadata.removeValue(forKey: Self.versionsKey) as? [String: Any] ?? [:]
        var document = AtomicDocument(uuid: uuid, largestKey: largest, metadata: .init(values: metadata))
        document.objects = try root.all("object").map { markup in
            var object = try self.object(markup, path)
            object.version = (versions["\(object.name)"] as? NSNumber)?.int64Value ?? 1
            return object
        }
        return document
    }

    private func object(_ markup: Markup, _ path: String) throws -> AtomicDocument.Object {
        guard let entity = markup.attributes["type"], let name = markup.attributes["id"].flatMap({ AtomicDocument.Name($0) }) else {
            throw Self.damaged(path, markup.line, "has an object without a type or an ID")
        }
        var object = AtomicDocument.Object(entity: entity, name: name, line: markup.line)
        for child in markup.children {
            guard let name = child.attributes["name"] else { throw Self.damaged(path, child.line, "has a \(child.name) without a name") }
            switch child.name {
            case "attribute":
                let type = child.attributes["type"] ?? "string", isEncoded = child.attributes["encoding"] == "base64"
                guard isEncoded || type == "binary" else {
                    object.attributes.append(.init(name: name, type: type, value: .text(child.text)))
                    continue
                }
                // An empty element is empty data.
                guard let data = Data(base64Encoded: child.text, options: .ignoreUnknownCharacters) else {
                    throw Self.damaged(path, child.line, "has a value of \(entity).\(name) that is not in Base64")
                }
                object.attributes.append(.init(name: name, type: type, value: isEncoded ? .text(String(decoding: data, as: UTF8.self)) : .data(data)))
            case "relationship":
                let counts = (child.attributes["type"] ?? "").split(separator: "/").compactMap { Int($0) }
                let members = try (child.attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace).map { text in
                    guard let name = AtomicDocument.Name(text) else { throw Self.damaged(path, child.line, "refers to \(text), which is no ID") }
                    return name
                }
                object.relationships.append(
                    .init(
                        name: name, minCount: counts.first ?? 0, maxCount: counts.count > 1 ? counts[1] : 0,
                        destination: child.attributes["destination"] ?? "", members: members))
            default: throw Self.damaged(path, child.line, "has an element <\(child.name)> in an object, which means nothing here")
            }
        }
        return object
    }

    private static func damaged(_ path: String, _ line: Int?, _ what: String) -> NSError {
        .coreData(
            .persistentStoreOpen,
            "\(path)\(line.map { ", line \($0)" } ?? ""): the file \(what). Mend it, restore it from a copy, or move it away. Nothing was changed.")
    }

    private static func isNone(_ path: String) -> NSError {
        .coreData(
            .persistentStoreInvalidType, "\(path) is no store of type \(NSXMLStoreType). Choose another file or type; this one was not touched.")
    }
}

/// Text of an XML file.
private struct XMLText {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// The beginning of a tag.
    mutating func open(_ start: String, _ attributes: (String, String)...) {
        raw(start)
        for (name, value) in attributes {
            raw(" \(name)=\"")
            escape(value, alsoSpaces: true)
            raw("\"")
        }
    }

    mutating func content(_ text: String) { escape(text, alsoSpaces: false) }

    private mutating func escape(_ text: String, alsoSpaces: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): raw("&amp;")
            case UInt8(ascii: "<"): raw("&lt;")
            case UInt8(ascii: ">"): raw("&gt;")
            case UInt8(ascii: "\""): raw(alsoSpaces ? "&quot;" : "\"")
            // Readers take it for the end of a line, and make it another.
            case 0x0D: raw("&#13;")
            case 0x0A where alsoSpaces, 0x09 where alsoSpaces: raw("&#\(byte);")
            default: bytes.append(byte)
            }
        }
    }

    /// Whether all texts of a property list come back as they are.
    static func holdsAll(_ value: Any) -> Bool {
        switch value {
        case let text as String: holds(text) && !text.utf8.contains(0x0D)
        case let list as [Any]: list.allSatisfy(holdsAll)
        case let dictionary as [String: Any]: dictionary.allSatisfy { holdsAll($0.key) && holdsAll($0.value) }
        default: true
        }
    }

    /// Whether XML 1.0 has all of these characters.
    static func holds(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
            default: false
            }
        }
    }
}

/// A property list that stands within another file.
private enum PropertyListMarkup {
    /// Nil for what is none.
    static func value(_ markup: Markup) -> Any? {
        let text = markup.text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch markup.name {
        case "string": return markup.text
        case "integer": return Int64(text).map { NSNumber(value: $0) } ?? UInt64(text).map { NSNumber(value: $0) }
        case "real": return Double(text).map { NSNumber(value: $0) }
        case "true": return NSNumber(value: true)
        case "false": return NSNumber(value: false)
        case "date": return ISO8601DateFormatter().date(from: text)
        case "data": return Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        case "array":
            let values = markup.children.compactMap(value)
            return values.count == markup.children.count ? values : nil
        case "dict":
            var result: [String: Any] = [:]
            for index in stride(from: 0, to: markup.children.count, by: 2) {
                guard markup.children[index].name == "key", index + 1 < markup.children.count, let value = value(markup.children[index + 1]) else {
                    return nil
                }
                result[markup.children[index].text] = value
            }
            return result
        default: return nil
        }
    }
}
