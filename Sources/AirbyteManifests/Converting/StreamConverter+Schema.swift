import JSONPaths

/// What is kept of records.
extension StreamConverter {
    func convertSchema() throws {
        guard let schema = try schema(), let properties = schema["properties"]?.mapping, !properties.entries.isEmpty else {
            // Nothing says which fields there are: all of a record is kept.
            draft.entity.add("document", paths: [.root], type: "json")
            let loader = try stream.value("schema_loader")
            findings.remark("schema_loader", loader, "the manifest does not say which fields there are: each record is kept whole, as \"document\"")
            try addConstants(nil)
            return
        }
        for entry in properties.entries where !removed.contains(entry.key) {
            let property = try context.manifest.resolved(entry.value)
            // What is set has its attribute from there.
            if constants.contains(where: { $0.name == entry.key }) { continue }
            let kind = try attributeKind(property, named: entry.key)
            draft.entity.add(entry.key, paths: draft.paths(of: [entry.key]), type: kind.type, format: kind.format)
        }
        for (name, path) in draft.copies.sorted(by: { $0.key < $1.key }) where properties[name] == nil && !removed.contains(name) {
            draft.entity.add(name, paths: [path], type: "json")
        }
        try addConstants(properties)
    }

    private func addConstants(_ properties: ManifestMapping?) throws {
        for constant in constants {
            var type = "string"
            if let property = try properties?[constant.name].map({ try context.manifest.resolved($0) }) {
                type = try attributeKind(property, named: constant.name).type
            }
            // What cannot be set from a text becomes one.
            if ["json", "date"].contains(type) { type = "string" }
            let name = draft.entity.add(constant.name, paths: [], type: type)
            draft.assigned[name] = .text(constant.text)
        }
    }

    /// The JSON schema that stands in the manifest; nil: it is elsewhere.
    private func schema() throws -> ManifestMapping? {
        let loaders = try stream.components("schema_loader", "JsonFileSchemaLoader").filter { $0.type == "InlineSchemaLoader" }
        var merged: ManifestMapping?
        for loader in loaders {
            guard let schema = try loader.value("schema")?.mapping else { continue }
            guard let known = merged else {
                merged = schema
                continue
            }
            // Those that come first win, property by property.
            guard let first = known["properties"]?.mapping, let other = schema["properties"]?.mapping else { continue }
            let both = ManifestValue(.mapping(first.over(other)), line: loader.line)
            merged = ManifestMapping([.init(key: "properties", value: both, line: loader.line)]).over(known)
        }
        guard let properties = try merged?["properties"].map({ try context.manifest.resolved($0) }) else { return nil }
        return ManifestMapping([.init(key: "properties", value: properties, line: properties.line)])
    }

    /// The types of a field of the records, without null, sorted; empty: nothing is known.
    func schemaTypes(of names: [String]) throws -> [String] {
        guard names.count == 1, let property = try schema()?["properties"]?.mapping?[names[0]] else { return [] }
        return types(of: try context.manifest.resolved(property)).sorted()
    }

    private func types(of property: ManifestValue) -> Set<String> {
        guard let mapping = property.mapping else { return [] }
        var types = Set((mapping["type"]?.list ?? [mapping["type"]].compactMap { $0 }).compactMap(\.text))
        for key in ["anyOf", "oneOf"] {
            for choice in mapping[key]?.list ?? [] { types.formUnion(self.types(of: choice)) }
        }
        types.remove("null")
        return types
    }

    /// The type of an attribute for a property of a JSON schema.
    private func attributeKind(_ property: ManifestValue, named name: String) throws -> (type: String, format: String?) {
        let types = types(of: property)
        if let plan = increment, !plan.isCounting, name == plan.field, types == ["string"], property.mapping?["format"]?.text != nil {
            return ("date", plan.recordFormat == "rfc3339" ? nil : plan.recordFormat)
        }
        switch types.sorted().joined(separator: " ") {
        case "string":
            let format = property.mapping?["format"]?.text
            return (format == "date-time" || format == "date" ? "date" : "string", nil)
        // How wide the numbers of things are is not known.
        case "integer": return (Self.namesThing(name) ? "decimal" : "int64", nil)
        case "number", "integer number": return ("decimal", nil)
        case "boolean": return ("bool", nil)
        default:
            let isText = types.contains("string") && types.isSubset(of: ["string", "integer", "number", "boolean"])
            return (isText ? "string" : "json", nil)
        }
    }

    private static func namesThing(_ name: String) -> Bool {
        name == "id" || name == "_id" || ["_id", "Id", "ID"].contains { name.hasSuffix($0) }
    }

    // MARK: Key

    func convertKey() throws {
        guard let value = try stream.value("primary_key"), value.isTruthy else { return }
        var fields: [[String]] = []
        for element in value.list ?? [value] {
            let names = try names(context.manifest.resolved(element), in: stream)
            if names != [""] { fields.append(names) }
        }
        if fields.contains(where: { $0.first.map(clocked.contains) ?? false }) {
            return findings.remark("primary_key", value, "the time of a run recognises nothing: records are recognised by all that they say")
        }
        for names in fields {
            guard let attribute = draft.attribute(for: names) else { throw Unsayable("a field of the key has no name") }
            // A key is compared exactly, and cannot be a list.
            if ["json", "double"].contains(attribute.type) { draft.entity.change(attribute.name) { $0.type = "string" } }
            if attribute.type == "int64" { draft.entity.change(attribute.name) { $0.type = "decimal" } }
            draft.entity.key.append(attribute.name)
        }
        guard Set(draft.entity.key).count == draft.entity.key.count else { throw Unsayable("a field occurs twice in it") }
        let moving = Set(constants.filter { $0.text.contains("{since") || $0.text.contains("{until") }.map(\.name))
        if !moving.isDisjoint(with: draft.entity.key) {
            findings.remark("primary_key", value, "the beginning of a step is part of what records are recognised by")
        }
    }
}
