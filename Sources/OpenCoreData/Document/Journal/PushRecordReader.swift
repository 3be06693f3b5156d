import Foundation

/// Decodes entries that were written under a header, into IDs and rows of the model that is open now.
struct PushRecordReader {
    private struct Form {
        let entity: NSEntityDescription
        /// Slot numbers of the file → slot numbers now.
        let slots: [Int]
        let toManys: [Int]
    }

    private let forms: [Int: Form]
    private let stores: [StoreIdentity]
    private let coordinator: NSPersistentStoreCoordinator

    /// Throws where the model does not have what the header names.
    init(_ header: PushJournalHeader, coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        var forms: [Int: Form] = [:]
        for named in header.entities {
            guard let entity = coordinator.managedObjectModel.entitiesByName[named.name] else { throw ByteReader.Malformed() }
            let layout = entity.layout
            let slots = named.slots.compactMap { layout.slot(of: $0) }
            let toManys = named.toManys.compactMap { name in layout.toManys.firstIndex { $0.name == name } }
            guard slots.count == named.slots.count, slots.count == layout.count, toManys.count == named.toManys.count else {
                throw ByteReader.Malformed()
            }
            forms[named.number] = Form(entity: entity, slots: slots, toManys: toManys)
        }
        self.forms = forms
        stores = header.stores.compactMap { uuid in coordinator.persistentStores.first { $0.identity.uuid == uuid }?.identity }
        if stores.count != header.stores.count { throw ByteReader.Malformed() }
    }

    func records(_ payload: ArraySlice<UInt8>) throws -> [PushRecord] {
        var reader = ByteReader(payload)
        return try records(&reader)
    }

    func turn(_ payload: ArraySlice<UInt8>) throws -> PushJournalFolder.Turn {
        var reader = ByteReader(payload)
        let entry: UInt64 = try reader.fixed(), isCommitted = try reader.byte() == 1
        let ids = try ids(&reader), others = try self.ids(&reader)
        guard ids.count == others.count else { throw ByteReader.Malformed() }
        return PushJournalFolder.Turn(
            entry: entry, isCommitted: isCommitted, identities: Dictionary(zip(ids, others)) { $1 }, records: try records(&reader))
    }

    private func records(_ reader: inout ByteReader) throws -> [PushRecord] {
        var result: [PushRecord] = []
        while !reader.isAtEnd {
            guard let tag = PushRecord.Tag(rawValue: try reader.byte()) else { throw ByteReader.Malformed() }
            let (id, form) = try reference(&reader, isTemporary: tag == .insert || tag == .foundation)
            switch tag {
            case .insert:
                let set = try slots(&reader, form)
                result.append(.insert(id, try row(&reader, form), set: SlotSet(set)))
            case .foundation: result.append(.foundation(id, try row(&reader, form)))
            case .update:
                let changed = try slots(&reader, form)
                result.append(.update(id, try changed.map { ($0, try value(&reader, form.entity.layout.attribute(atSlot: $0))) }))
            case .delete: result.append(.delete(id))
            case .pairs:
                let key = try relationship(&reader, id, form)
                var pairs = PairChanges()
                for id in try ids(&reader) { pairs.remove(id) }
                for id in try ids(&reader) { pairs.add(id) }
                result.append(.pairs(key, pairs))
            case .order: result.append(.order(try relationship(&reader, id, form), try ids(&reader)))
            }
        }
        return result
    }

    func forget(_ payload: ArraySlice<UInt8>) throws -> PushForget {
        var reader = ByteReader(payload)
        let first: UInt64 = try reader.fixed(), last: UInt64 = try reader.fixed()
        guard first <= last else { throw ByteReader.Malformed() }
        return PushForget(entries: first...last, ids: try reader.byte() == 0 ? nil : Set(try ids(&reader)))
    }

    private func reference(_ reader: inout ByteReader, isTemporary: Bool = false) throws -> (NSManagedObjectID, Form) {
        guard let number = Int(exactly: try reader.number()), let form = forms[number] else { throw ByteReader.Malformed() }
        let key = Int64(bitPattern: try reader.number()), place = Int(clamping: try reader.number())
        let identity: StoreIdentity?
        if place == 0 {
            // Made before any store was open: it would have gone to the first that takes it.
            identity = coordinator.store(for: form.entity)?.identity
        } else if place <= stores.count {
            identity = stores[place - 1]
        } else {
            let uuid = try reader.string()
            identity = coordinator.persistentStores.first { $0.identity.uuid == uuid }?.identity
        }
        guard let identity else { throw ByteReader.Malformed() }
        return (NSManagedObjectID(entity: form.entity, key: key, store: identity, isTemporary: isTemporary), form)
    }

    private func ids(_ reader: inout ByteReader) throws -> [NSManagedObjectID] {
        try (0..<reader.count()).map { _ in try reference(&reader).0 }
    }

    private func slots(_ reader: inout ByteReader, _ form: Form) throws -> [Int] {
        try (0..<reader.count()).map { _ in
            guard let slot = Int(exactly: try reader.number()), slot < form.slots.count else { throw ByteReader.Malformed() }
            return form.slots[slot]
        }
    }

    private func relationship(_ reader: inout ByteReader, _ id: NSManagedObjectID, _ form: Form) throws -> RelationshipKey {
        guard let number = Int(exactly: try reader.number()), number < form.toManys.count else { throw ByteReader.Malformed() }
        return RelationshipKey(owner: id, toMany: form.toManys[number])
    }

    private func row(_ reader: inout ByteReader, _ form: Form) throws -> RowSnapshot {
        let row = RowSnapshot.make(form.entity.layout)
        for slot in form.slots { row.update(slot, to: try value(&reader, form.entity.layout.attribute(atSlot: slot))) }
        return row
    }

    private func value(_ reader: inout ByteReader, _ attribute: NSAttributeDescription?) throws -> AttributeValue {
        guard let tag = PushRecord.ValueTag(rawValue: try reader.byte()) else { throw ByteReader.Malformed() }
        switch tag {
        case .null: return .null
        case .int64:
            let raw = try reader.number()
            return .int64(Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1))
        case .double: return .double(Double(bitPattern: try reader.fixed()))
        case .no: return .bool(false)
        case .yes: return .bool(true)
        case .date: return .date(Double(bitPattern: try reader.fixed()))
        case .string: return .string(try reader.string())
        case .data: return .data(try reader.data())
        case .uuid: return .uuid(UUID(uuid: try reader.take(16).withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case .decimal:
            guard let decimal = Decimal(string: try reader.string()) else { throw ByteReader.Malformed() }
            return .decimal(decimal)
        case .objectID: return .objectID(try reference(&reader).0)
        case .url:
            guard let url = URL(string: try reader.string()) else { throw ByteReader.Malformed() }
            return .object(ObjectBox(url))
        case .archive:
            let data = try reader.data()
            // Journals of earlier versions hold archives, whatever the attribute names.
            guard let value = TransformableCoding.value(data, of: attribute) ?? TransformableCoding.value(data, of: nil) else {
                throw ByteReader.Malformed()
            }
            return .object(ObjectBox(value))
        }
    }
}
