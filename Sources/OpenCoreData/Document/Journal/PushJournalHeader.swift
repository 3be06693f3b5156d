import Foundation

/// What a journal's file says of itself first: which stores its objects are in, and the model by name, so that numbers in entries can be read
/// by whatever numbers the model has then.
package struct PushJournalHeader {
    static let magic: [UInt8] = Array("OCDPUSH\u{2}".utf8)

    struct Entity {
        let number: Int
        let name: String
        let slots: [String]
        let toManys: [String]
    }

    let stores: [String]
    /// SHA-256 over the version hashes of the model's entities.
    let model: [UInt8]
    let entities: [Entity]

    init(coordinator: NSPersistentStoreCoordinator) {
        stores = coordinator.persistentStores.compactMap(\.identity.uuid)
        model = SHA256.hash(ofVersionHashes: coordinator.managedObjectModel.entityVersionHashesByName)
        entities = coordinator.managedObjectModel.entities.map { entity in
            Entity(
                number: entity.layout.number, name: entity.name ?? "", slots: entity.layout.names,
                toManys: entity.layout.toManys.map(\.name))
        }
    }

    /// The magic, and the rest sealed.
    var bytes: [UInt8] {
        var body = ByteWriter()
        body.number(stores.count)
        for store in stores { body.string(store) }
        body.append(model)
        body.number(entities.count)
        for entity in entities {
            body.number(entity.number)
            body.string(entity.name)
            for names in [entity.slots, entity.toManys] {
                body.number(names.count)
                for name in names { body.string(name) }
            }
        }
        var result = ByteWriter()
        result.append(Self.magic)
        SealedBytes.write(body.bytes, to: &result)
        return result.bytes
    }

    /// The header of a file and where its entries begin. Nil: the file ends before its header does. Throws if it is something else.
    package static func read(_ bytes: [UInt8]) throws -> (header: PushJournalHeader, end: Int)? {
        guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else { throw ByteReader.Malformed() }
        var reader = ByteReader(bytes[...])
        guard (try? reader.take(magic.count)) != nil else { return nil }
        switch SealedBytes.read(&reader) {
        case .torn: return nil
        case .damaged: throw ByteReader.Malformed()
        case .whole(let body):
            var fields = ByteReader(body)
            return (try PushJournalHeader(&fields), body.endIndex)
        }
    }

    private init(_ reader: inout ByteReader) throws {
        stores = try (0..<reader.count()).map { _ in try reader.string() }
        model = Array(try reader.take(32))
        entities = try (0..<reader.count()).map { _ in
            guard let number = Int(exactly: try reader.number()) else { throw ByteReader.Malformed() }
            let name = try reader.string()
            let slots = try (0..<reader.count()).map { _ in try reader.string() }
            return Entity(number: number, name: name, slots: slots, toManys: try (0..<reader.count()).map { _ in try reader.string() })
        }
    }

    /// Why entries under this header can't be applied to what is open; nil: they can.
    func refusal(by coordinator: NSPersistentStoreCoordinator) -> String? {
        if model != SHA256.hash(ofVersionHashes: coordinator.managedObjectModel.entityVersionHashesByName) {
            return "it was written with another version of the model"
        }
        let open = coordinator.persistentStores.compactMap(\.identity.uuid)
        if let missing = stores.first(where: { !open.contains($0) }) { return "it belongs to the store \(missing), which is not open" }
        return nil
    }
}
