import CXXHash
import Foundation

/// The format of binary stores, which is our own: Core Data's is an archive of private classes.
///
/// A file is a mark of 8 bytes, the XXH3 of all that follows, and that: fields one after the other, numbers as LEB128, texts and data with their length
/// before them. Names of entities, properties and types stand once, in a table.
struct BinaryStoreFormat: AtomicFormat {
    private static let mark = Array("OCDbin1\n".utf8)

    var type: String { NSBinaryStoreType }

    // MARK: Writing

    func bytes(_ document: AtomicDocument) throws -> Data {
        var body = ByteWriter(), objects = ByteWriter(), names = NameTable()
        objects.number(document.objects.count)
        for object in document.objects { Self.write(object, to: &objects, &names) }
        body.string(document.uuid)
        body.fixed(document.largestKey)
        body.data(try PropertyListValue.bytes(document.metadata.values, format: .binary))
        body.number(names.all.count)
        for name in names.all { body.string(name) }
        body.append(objects.bytes)
        var file = ByteWriter(reserving: body.bytes.count + 16)
        file.append(Self.mark)
        file.fixed(Self.sum(body.bytes[...]))
        file.append(body.bytes)
        return Data(file.bytes)
    }

    private static func write(_ object: AtomicDocument.Object, to writer: inout ByteWriter, _ names: inout NameTable) {
        writer.number(names.number(of: object.entity))
        write(object.name, to: &writer, &names)
        writer.fixed(object.version)
        writer.number(object.attributes.count)
        for attribute in object.attributes {
            writer.number(names.number(of: attribute.name))
            writer.number(names.number(of: attribute.type))
            switch attribute.value {
            case .text(let text):
                writer.byte(0)
                writer.string(text)
            case .data(let data):
                writer.byte(1)
                writer.data(data)
            }
        }
        writer.number(object.relationships.count)
        for relationship in object.relationships {
            writer.number(names.number(of: relationship.name))
            writer.number(names.number(of: relationship.destination))
            writer.fixed(Int64(relationship.minCount))
            writer.fixed(Int64(relationship.maxCount))
            writer.number(relationship.members.count)
            for member in relationship.members { write(member, to: &writer, &names) }
        }
    }

    private static func write(_ name: AtomicDocument.Name, to writer: inout ByteWriter, _ names: inout NameTable) {
        writer.number(UInt64(bitPattern: name.key))
        writer.number(name.tree.map { names.number(of: $0) + 1 } ?? 0)
    }

    private struct NameTable {
        private(set) var all: [String] = []
        private var numbers: [String: Int] = [:]

        mutating func number(of name: String) -> Int {
            if let known = numbers[name] { return known }
            numbers[name] = all.count
            all.append(name)
            return all.count - 1
        }
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { xxh3_64($0.baseAddress, $0.count, 0) }
    }

    // MARK: Reading

    func document(_ bytes: Data, path: String) throws -> AtomicDocument {
        let all = Array(bytes)
        guard all.starts(with: Self.mark) else {
            throw NSError.coreData(
                .persistentStoreInvalidType,
                "\(path) is no store of type \(NSBinaryStoreType) that was written here. Choose another file or type; this one was not touched.")
        }
        do {
            var reader = ByteReader(all[Self.mark.count...])
            guard try reader.fixed(UInt64.self) == Self.sum(reader.rest) else { throw ByteReader.Malformed() }
            return try Self.document(&reader)
        } catch is ByteReader.Malformed {
            throw NSError.coreData(
                .persistentStoreOpen,
                "\(path): the file is not as it was written; it may be cut off or damaged. Restore it from a copy, or move it away. Nothing was changed."
            )
        }
    }

    private static func document(_ reader: inout ByteReader) throws -> AtomicDocument {
        let uuid = try reader.string(), largest = try reader.fixed(Int64.self)
        guard let metadata = try? PropertyListSerialization.propertyList(from: try reader.data(), options: [], format: nil) as? [String: Any] else {
            throw ByteReader.Malformed()
        }
        let names = try many(&reader) { reader in try reader.string() }
        var document = AtomicDocument(uuid: uuid, largestKey: largest, metadata: .init(values: metadata))
        document.objects = try many(&reader) { reader in try object(&reader, names) }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        return document
    }

    private static func object(_ reader: inout ByteReader, _ names: [String]) throws -> AtomicDocument.Object {
        let entity = try text(&reader, names), name = try self.name(&reader, names)
        var object = AtomicDocument.Object(entity: entity, name: name, version: try reader.fixed())
        object.attributes = try many(&reader) { reader in
            let name = try text(&reader, names), type = try text(&reader, names)
            let isData = try reader.byte() == 1
            return AtomicDocument.Attribute(name: name, type: type, value: isData ? .data(try reader.data()) : .text(try reader.string()))
        }
        object.relationships = try many(&reader) { reader in
            let name = try text(&reader, names), destination = try text(&reader, names)
            guard let least = Int(exactly: try reader.fixed(Int64.self)), let most = Int(exactly: try reader.fixed(Int64.self)) else {
                throw ByteReader.Malformed()
            }
            return AtomicDocument.Relationship(
                name: name, minCount: least, maxCount: most, destination: destination,
                members: try many(&reader) { reader in try self.name(&reader, names) })
        }
        return object
    }

    /// As many as it says, as far as there is anything to read: a count alone reserves nothing.
    private static func many<T>(_ reader: inout ByteReader, _ element: (inout ByteReader) throws -> T) throws -> [T] {
        var result: [T] = []
        for _ in 0..<(try reader.count()) { result.append(try element(&reader)) }
        return result
    }

    private static func name(_ reader: inout ByteReader, _ names: [String]) throws -> AtomicDocument.Name {
        let key = Int64(bitPattern: try reader.number())
        guard let tree = Int(exactly: try reader.number()), tree <= names.count else { throw ByteReader.Malformed() }
        return AtomicDocument.Name(key: key, tree: tree == 0 ? nil : names[tree - 1])
    }

    private static func text(_ reader: inout ByteReader, _ names: [String]) throws -> String {
        guard let number = Int(exactly: try reader.number()), number < names.count else { throw ByteReader.Malformed() }
        return names[number]
    }
}
