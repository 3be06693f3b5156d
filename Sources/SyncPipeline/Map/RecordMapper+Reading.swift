import JSONReader
import OpenCoreData
import SyncConfiguration

/// What a record says, as drafts: its own, and those of the objects that it holds or names.
extension RecordMapper {
    func draft(
        of record: JSONRecord, _ mapping: EntityMapping, knowledge: Draft.Knowledge, constants: RecordConstants = RecordConstants()
    ) throws -> Draft {
        try noteUnknown(of: record, mapping)
        let draft = try mapping.draft(of: record, knowledge: knowledge, constants: constants)
        note(draft.mismatches)
        for (slot, target) in constants.targets { draft.targets[slot] = .some(try gather(Draft(target))) }
        for (index, field) in mapping.relationships.enumerated() {
            let cell = record[field.field]
            var token: JSONRawValue?
            if case .double = cell { token = record.rawValue(of: field.field) }
            try read(cell, token: token, field, index: index, of: draft)
            if draft.members[index] != nil, field.addsOnly(record) { draft.additions.insert(index) }
        }
        return draft
    }

    private func read(
        _ cell: JSONCell, token: JSONRawValue?, _ field: EntityMapping.RelationshipField, index: Int, of draft: Draft
    ) throws {
        guard let destination = mapping.entities[field.destination] else { return }
        switch field.place {
        case .slot(let slot):
            if cell.isMissing && (draft.knowledge != .record || draft.mapping.schema.missingField == .keep) { return }
            switch try target(cell, token: token, field, destination) {
            case .none: draft.targets[slot] = .some(nil)
            case .object(let object): draft.targets[slot] = .some(object)
            // An object is meant, but it is unknown which: the relationship stays as it is.
            case .unidentified: break
            }
        // No relationship lives there.
        case .composite: break
        case .toMany:
            // A missing list says nothing; an empty one says that there are no members.
            if cell.isMissing { return }
            var members: [Draft] = []
            func add(_ cell: JSONCell, _ token: JSONRawValue?) throws {
                switch try target(cell, token: token, field, destination) {
                case .none: break
                case .object(let member): members.append(member)
                case .unidentified: draft.openLists.insert(index)
                }
            }
            if case .array(let items) = cell {
                guard items.count <= limits.maxMembers else {
                    throw ConversionProblem(path: field.path, message: "\(items.count) members, more than limits.max_members = \(limits.maxMembers)")
                }
                try items.forEachRaw { try add($0, $1) }
            } else {
                try add(cell, token)
            }
            draft.members[index] = members
        }
    }

    /// What a cell of a relationship means.
    private enum Target {
        case none
        case object(Draft)
        /// An object without a key that can be read.
        case unidentified
    }

    /// The object that a cell names: an embedded one by its own record, a scalar by its key.
    private func target(
        _ cell: JSONCell, token: JSONRawValue?, _ field: EntityMapping.RelationshipField, _ destination: EntityMapping
    ) throws -> Target {
        switch cell {
        case .missing, .null: return .none
        case .object(let record):
            guard field.mayHold else {
                throw ConversionProblem(path: field.path, message: "expected the key of a \(destination.name), found an object", isMismatch: true)
            }
            // What is gone is nobody's, and nothing is made of what is said to be gone. Its row, if there is one, its own record removes.
            if destination.deletionSign?.isMet(byHeld: record) == true { return .none }
            do {
                return .object(try gather(try draft(of: record, destination, knowledge: .embedded)))
            } catch let problem as ConversionProblem {
                // Only it is lost, not its owner.
                try report(inside: record, problem.moved(to: field.path, problem.message))
                guard let key = try? destination.key(of: record) else { return .unidentified }
                return .object(try gather(Draft(mapping: destination, key: key, knowledge: .stub)))
            }
        case .array:
            throw ConversionProblem(path: field.path, message: "expected one \(destination.name), found a list", isMismatch: true)
        default:
            guard field.match != .embedded else {
                throw ConversionProblem(
                    path: field.path, message: "expected a \(destination.name) object, found \(cell.brief)", isMismatch: true, cutText: cell.cutText)
            }
            guard let key = destination.onlyKey else {
                throw ConversionProblem(
                    path: field.path,
                    message:
                        "\(destination.name) has a key of \(destination.keyParts.count) attributes, or of one that is set; one value can't name it")
            }
            let value: AttributeValue
            do {
                value = try key.value(cell, token: token)
            } catch {
                throw error.moved(to: field.path, "key of \(destination.name): \(error.message)")
            }
            return .object(try gather(Draft(mapping: destination, key: UniqueKey([value]), knowledge: .stub)))
        }
    }

    /// One draft for each object of the batch; where versions are compared, the one that is given, which waits.
    func gather(_ draft: Draft) throws -> Draft {
        if comparesVersions {
            waitingObjects += 1
            return draft
        }
        return try join(draft)
    }

    /// One draft for each object of the batch, that of what waited as well.
    func join(_ draft: Draft) throws -> Draft {
        if let known = drafts[draft.name] {
            known.absorb(draft)
            return known
        }
        try countObjects(1)
        drafts[draft.name] = draft
        order.append(draft)
        return draft
    }

    /// So many more objects of the page.
    func countObjects(_ count: Int) throws {
        objects += count
        if objects > limits.maxObjectsPerPage {
            throw SyncError.page("the page names more objects than limits.max_objects_per_page = \(limits.maxObjectsPerPage); none of it was kept")
        }
        try checkCancellation(objects)
    }
}

extension JSONRecord {
    /// The key that is made of all that it says, and of the part whose listing it is in.
    private func hash(in part: String) -> JSONHash {
        let content = raw.contentHash
        if part.isEmpty { return content }
        return JSONHash(of: Array("\(content) \(part)".utf8))
    }

    func contentKey(_ constants: RecordConstants) -> String {
        let hash = hash(in: constants.part)
        guard constants.name != nil, let memberName else { return "\(hash)" }
        return "\(JSONHash(of: Array("\(hash) \(memberName)".utf8)))"
    }
}

extension EntityMapping {
    func key(of record: JSONRecord, constants: RecordConstants = RecordConstants()) throws -> UniqueKey {
        var key: [AttributeValue] = []
        for part in keyParts {
            guard let field = part.field else {
                if part.slot == contentSlot {
                    key.append(.string(record.contentKey(constants)))
                    continue
                }
                if let name = constants.name, part.slot == name.slot {
                    key.append(try name.value(of: record))
                    continue
                }
                guard let value = constants.values[part.slot] else {
                    throw ConversionProblem(path: "$", message: "\(name) has no \(layout.names[part.slot]), which is of its key and is set elsewhere")
                }
                key.append(value)
                continue
            }
            let value = try field.conversion.value(record[field.field], token: record.rawValue(of: field.field))
            if value.isNull {
                throw ConversionProblem(path: field.conversion.path, message: "\(name) has no \(field.conversion.attribute.name), which is its key")
            }
            key.append(value)
        }
        return UniqueKey(key)
    }

    /// What a record says of its own values.
    func draft(of record: JSONRecord, knowledge: Draft.Knowledge, constants: RecordConstants = RecordConstants()) throws -> Draft {
        let draft = Draft(mapping: self, key: try key(of: record, constants: constants), knowledge: knowledge)
        if let contentSlot {
            draft.row.update(contentSlot, to: draft.key.values[0])
            draft.present.insert(contentSlot)
        }
        if let name = constants.name {
            draft.row.update(name.slot, to: try name.value(of: record))
            draft.present.insert(name.slot)
        }
        for (slot, value) in constants.values {
            draft.row.update(slot, to: value)
            draft.present.insert(slot)
        }
        for field in attributes {
            guard let value = try self.value(of: field, record[field.field], in: record, knowledge: knowledge, noting: &draft.mismatches) else {
                continue
            }
            draft.row.update(field.slot, to: value)
            draft.present.insert(field.slot)
        }
        return draft
    }
}
