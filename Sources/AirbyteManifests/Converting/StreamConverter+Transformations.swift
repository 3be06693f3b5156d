import JSONPaths

/// What is made of records before they are kept.
extension StreamConverter {
    func convertTransformations() throws {
        for transformation in try stream.components("transformations", "Transformation") {
            _ = findings.refusing("transformations", line: transformation.line) { try convert(transformation) }
        }
    }

    private func convert(_ transformation: Component) throws {
        switch transformation.type {
        case "AddFields":
            expect(transformation, handled: ["fields", "condition"])
            if let condition = try transformation.value("condition"), condition.isTruthy {
                return findings.refuse("AddFields.condition", condition, "fields that only some records get cannot be said")
            }
            for field in try transformation.components("fields", "AddedFieldDefinition") {
                let value = try field.value("value")
                _ = findings.refusing("AddFields", value, line: field.line) { try add(field, value) }
            }
        case "RemoveFields":
            expect(transformation, handled: ["field_pointers", "condition"])
            try remove(transformation)
        case "DpathFlattenFields": try flatten(transformation)
        default: findings.refuse("transformations", named(transformation), "this transformation cannot be carried over")
        }
    }

    private func add(_ field: Component, _ value: ManifestValue?) throws {
        expect(field, handled: ["path", "value", "value_type"])
        guard let path = try field.value("path"), let value else { throw Unsayable("path and value are needed") }
        let names = try names(path, in: field)
        guard names.count == 1, let name = names.first else { throw Unsayable("a field inside of another one cannot be set") }
        let term = try evaluator(for: field).term(value)
        switch term {
        case .reference(let reference) where reference.root == .record:
            guard let keys = reference.keys, !keys.isEmpty else { throw Unsayable("which field is copied is not known") }
            if removed.contains(keys[0]) || constants.contains(where: { $0.name == keys[0] }) {
                throw Unsayable("\(keys[0]) is not what records have there: another transformation has changed it before")
            }
            guard let source = draft.paths(of: keys).first else { return }
            forget(name)
            draft.copies[name] = source
        case .moment:
            clocked.insert(name)
            findings.remark("AddFields.\(name)", value, "the time of the run is not kept in records; the database knows when each row changed last")
        case .none: throw Unsayable("a field without a value cannot be set")
        default:
            let before = (increment?.saysSince, increment?.saysUntil)
            increment?.saysSince = false
            increment?.saysUntil = false
            let text = try template(term)
            if increment?.saysSince == true || increment?.saysUntil == true { increment?.isInFields = true }
            // What fields say is not said by requests.
            increment?.saysSince = before.0 ?? false
            increment?.saysUntil = before.1 ?? false
            forget(name)
            constants.append((name, text))
        }
    }

    /// The last transformation of a field is the one that counts.
    private func forget(_ name: String) {
        removed.remove(name)
        clocked.remove(name)
        draft.copies[name] = nil
        constants.removeAll { $0.name == name }
    }

    private func remove(_ transformation: Component) throws {
        for pointer in try transformation.value("field_pointers")?.list ?? [] {
            let names = try names(context.manifest.resolved(pointer), in: transformation)
            if names.count == 1, let name = names.first, !name.contains("*"), try transformation.value("condition")?.isTruthy != true {
                forget(name)
                removed.insert(name)
            } else {
                findings.remark("RemoveFields", pointer, "what is inside of a value is kept with it")
            }
        }
    }

    private func flatten(_ transformation: Component) throws {
        expect(transformation, handled: ["field_path", "delete_origin_value", "replace_record", "key_transformation"])
        if let keys = try transformation.value("key_transformation"), keys.isTruthy {
            return findings.refuse("DpathFlattenFields.key_transformation", keys, "other names for what is taken out cannot be said")
        }
        guard let path = try transformation.value("field_path") else { throw Unsayable("field_path is missing") }
        let names = try names(path, in: transformation)
        guard !names.isEmpty, !names.contains(where: { $0.contains("*") }) else { throw Unsayable("field_path: a wildcard cannot be said there") }
        draft.flattened = [JSONPath(keys: names)] + draft.flattened
    }
}
