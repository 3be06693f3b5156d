import JSONPaths

extension Assembly {
    /// The entities, in the order of the files.
    mutating func assembleModel(_ top: Layer) -> ModelConfiguration {
        let (model, origins) = resolve(ModelConfiguration.self, [top.table("model")])
        var result = model
        resolved.sections.append(.init(header: "[model]", settings: settings(of: model, origins, path: "model")))
        guard let node = top.node?.table?["entity"] else { return result }
        guard let entities = node.table else {
            complaints.add(
                at: node.place, Subject.root.key("entity"), "expected tables, found \(node.found)", "write [entity.NAME.attributes]")
            return result
        }
        var check = ModelCheck(complaints: complaints)
        for (name, node) in entities.ordered {
            let layer = Layer(node: node, subject: Subject.root.element("entity", name))
            guard node.table != nil else {
                complaints.add(
                    at: node.place, layer.subject, "expected a table, found \(node.found)", "write [entity.\(tomlKey(name)).attributes]")
                continue
            }
            if let entity = assembleEntity(name, layer, &check, &result) { result.entities.append(entity) }
        }
        check.finish(&result)
        for entity in result.entities { addSections(entity, result, check) }
        addDroppedEntities(result)
        return result
    }

    /// Nil for one that is dropped, whatever else is said of it.
    private func assembleEntity(
        _ name: String, _ layer: Layer, _ check: inout ModelCheck, _ model: inout ModelConfiguration
    ) -> EntityConfiguration? {
        let (table, origins) = resolve(EntityTable.self, [layer])
        if table.isDropped {
            model.dropped.insert(name)
            return nil
        }
        model.renamed[name] = table.renamedFrom
        var entity = EntityConfiguration(name: name, key: [])
        if case .attributes(let names)? = table.key { entity.key = names }
        check.places[[name]] = layer.node?.place
        entity.versionField = table.versionField
        check.places[[name, "key"]] = origins["key"]
        // No property has an empty name.
        check.places[[name, "", "version_field"]] = origins["version_field"]
        for (property, node) in properties("attributes", layer) {
            let inner = Layer(node: node, subject: layer.subject.element("attribute", property, keyed: "attributes"))
            check.places[[name, property]] = node.place
            guard isTable(node, inner, "{ type = \"string\" }") else { continue }
            let (values, _) = resolve(AttributeTable.self, [inner])
            if values.isDropped {
                model.dropped.insert("\(name).\(property)")
                continue
            }
            model.renamed["\(name).\(property)"] = values.renamedFrom
            entity.attributes.append(attribute(property, values, inner))
        }
        for (property, node) in properties("relationships", layer) {
            let inner = Layer(node: node, subject: layer.subject.element("relationship", property, keyed: "relationships"))
            if let first = check.places[[name, property]] {
                complaints.add(
                    at: node.place, inner.subject, "an attribute already has this name\(first.line.map { ", line \($0)" } ?? "")",
                    "rename one of them")
                continue
            }
            check.places[[name, property]] = node.place
            guard isTable(node, inner, "{ to = \"…\" }") else { continue }
            let (values, origins) = resolve(RelationshipTable.self, [inner])
            if values.isDropped {
                model.dropped.insert("\(name).\(property)")
                continue
            }
            model.renamed["\(name).\(property)"] = values.renamedFrom
            if let relationship = relationship(property, values, inner) {
                entity.relationships.append(relationship)
                for (key, place) in origins { check.places[[name, property, key]] = place }
            }
        }
        if case .derived(let kind)? = table.key { entity.deriveKey(kind) }
        return entity
    }

    private func properties(_ key: String, _ layer: Layer) -> [(key: String, value: DocumentNode)] {
        guard let node = layer.node?.table?[key] else { return [] }
        guard let table = node.table else {
            complaints.add(
                at: node.place, layer.subject.key(key), "expected a table, found \(node.found)", "write [\(layer.subject.keyPath).\(key)]")
            return []
        }
        return table.ordered
    }

    private func isTable(_ node: DocumentNode, _ layer: Layer, _ example: String) -> Bool {
        if node.table != nil { return true }
        let better = node.string.flatMap { word in AttributeType.all.first { $0.description == word } }.map { "{ type = \"\($0)\" }" }
        complaints.add(at: node.place, layer.subject, "expected a table, found \(node.found)", "write \(better ?? example)")
        return false
    }

    private func attribute(_ name: String, _ values: AttributeTable, _ layer: Layer) -> AttributeConfiguration {
        let table = layer.node?.table ?? [:]
        if table["type"] == nil {
            let known = AttributeType.all.map(\.description).joined(separator: ", ")
            complaints.add(at: layer.node?.place, layer.subject, key: "type", "\"type\" is missing", "one of \(known)")
        }
        var attribute = AttributeConfiguration(name: name, type: values.type ?? .string)
        attribute.paths = values.paths
        attribute.isRead = values.isRead
        checkRead(values.isRead, values.paths, layer)
        attribute.isOptional = values.isOptional
        attribute.isIndexed = values.isIndexed
        attribute.format = values.format
        attribute.transforms = values.transforms
        attribute.longest = values.longest
        guard let type = values.type else { return attribute }
        if let format = table["format"], type != .date {
            complaints.add(
                at: format.place, layer.subject, key: "format", "only dates have a format, and the type is \(type)",
                "remove it, or write type = \"date\"")
        }
        if type == .json, !values.transforms.isEmpty {
            complaints.add(
                at: table["transform"]?.place, layer.subject, key: "transform", "JSON is kept as it is, and is no text to transform",
                "remove it, or write type = \"string\"")
        } else if type != .string, type != .uri, let odd = values.transforms.first(where: { $0.isForTextOnly }) {
            complaints.add(
                at: table["transform"]?.place, layer.subject, key: "transform", "\"\(odd)\" is for texts, and the type is \(type)",
                "remove it, or write type = \"string\"")
        }
        if values.longest != nil, !type.hasLength {
            complaints.add(
                at: table["max"]?.place, layer.subject, key: "max", "values of the type \(type) have no length", "remove it")
        }
        if values.isIndexed, !type.mayBeIndexed {
            complaints.add(at: table["index"]?.place, layer.subject, key: "index", "the type \(type) cannot be indexed", "remove it")
        }
        if let node = values.defaultValue {
            do throws(AttributeDefault.Complaint) {
                attribute.defaultValue = try AttributeDefault(node, type)
            } catch {
                complaints.add(at: node.place, layer.subject.key("default"), error.message, error.suggestion)
            }
        }
        return attribute
    }

    private func checkRead(_ isRead: Bool, _ paths: [JSONPath], _ layer: Layer) {
        guard !isRead, !paths.isEmpty else { return }
        complaints.add(
            at: layer.node?.table?["path"]?.place, layer.subject, key: "path", "it has a path, and read = false", "remove one of them")
    }

    private func relationship(_ name: String, _ values: RelationshipTable, _ layer: Layer) -> RelationshipConfiguration? {
        let table = layer.node?.table ?? [:]
        guard let destination = values.destination else {
            if table["to"] == nil {
                complaints.add(at: layer.node?.place, layer.subject, key: "to", "\"to\" is missing", "write to = \"…\", the target entity")
            }
            return nil
        }
        var relationship = RelationshipConfiguration(name: name, destination: destination)
        relationship.paths = values.paths
        relationship.isRead = values.isRead
        checkRead(values.isRead, values.paths, layer)
        relationship.isToMany = values.isToMany
        relationship.isOrdered = values.isOrdered
        relationship.inverse = values.inverse.map { .declared($0) } ?? .none
        relationship.onDelete = values.onDelete
        relationship.match = values.match
        relationship.mode = values.mode
        relationship.partialPath = values.partialPath
        checkMembers(values, layer)
        if values.isOrdered, !values.isToMany {
            complaints.add(
                at: table["ordered"]?.place, layer.subject, key: "ordered", "only a to-many relationship can be ordered", "write many = true")
        }
        if values.match == .keys, !values.isToMany {
            complaints.add(at: table["match"]?.place, layer.subject.key("match"), "\"keys\" needs many = true", "did you mean \"key\"?")
        }
        if values.match == .key, values.isToMany {
            complaints.add(
                at: table["match"]?.place, layer.subject.key("match"), "\"key\" is for one target, but many = true",
                "did you mean \"keys\"?")
        }
        return relationship
    }

    /// What is said of members needs a list of them, that is read.
    private func checkMembers(_ values: RelationshipTable, _ layer: Layer) {
        let table = layer.node?.table ?? [:]
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: table[key]?.place, layer.subject, key: key, message, suggestion)
        }
        for (key, isSaid) in [("mode", values.mode != .replace), ("partial_if", values.partialPath != nil)] where isSaid {
            if !values.isToMany {
                complain(key, "only a to-many relationship has members to keep or to replace", "write many = true, or remove it")
            } else if !values.isRead {
                complain(key, "with read = false records say nothing of the members", "remove one of them")
            }
        }
        if values.mode == .append, !values.isOrdered {
            complain("mode", "members without an order have no end to append to", "write ordered = true, or mode = \"merge\"")
        }
        if values.mode != .replace, values.partialPath != nil {
            complain("partial_if", "with mode = \"\(values.mode.rawValue)\" no member is taken away in any case", "remove one of them")
        }
    }

    private mutating func addDroppedEntities(_ model: ModelConfiguration) {
        for name in model.dropped.sorted() where !name.contains(".") {
            let path = "entity.\(tomlKey(name))"
            resolved.sections.append(.init(header: "[\(path)]", settings: [setting("drop", path: path, "true", .derived)]))
        }
    }

    /// The table of a property with what it was called.
    private func inline(_ toml: String, _ property: String, _ entity: EntityConfiguration, _ model: ModelConfiguration) -> String {
        guard let former = model.renamed["\(entity.name).\(property)"] else { return toml }
        return "\(toml.dropLast(2)), renamed_from = \(tomlQuoted(former)) }"
    }

    private mutating func addSections(_ entity: EntityConfiguration, _ model: ModelConfiguration, _ check: ModelCheck) {
        let path = "entity.\(tomlKey(entity.name))"
        func origin(_ names: [String]) -> ResolvedConfiguration.Origin {
            check.places[names].map(Self.origin) ?? .derived
        }
        let key = entity.derivedKey.map { tomlQuoted($0.rawValue) } ?? "[" + entity.key.map(tomlQuoted).joined(separator: ", ") + "]"
        let former = model.renamed[entity.name].map { [setting("renamed_from", path: path, tomlQuoted($0), .derived)] } ?? []
        let version = entity.versionField.map {
            [setting("version_field", path: path, tomlQuoted($0), origin([entity.name, "", "version_field"]))]
        }
        resolved.sections.append(
            .init(header: "[\(path)]", settings: [setting("key", path: path, key, origin([entity.name, "key"]))] + (version ?? []) + former))
        let dropped = model.dropped.filter { $0.hasPrefix(entity.name + ".") }.map { String($0.dropFirst(entity.name.count + 1)) }.sorted()
        let attributes =
            entity.attributes.filter { entity.derivedKey == nil || $0.name != EntityConfiguration.keyAttribute }.map {
                setting(tomlKey($0.name), path: "\(path).attributes", inline($0.toml, $0.name, entity, model), origin([entity.name, $0.name]))
            } + dropped.map { setting(tomlKey($0), path: "\(path).attributes", "{ drop = true }", origin([entity.name, $0])) }
        let relationships = entity.relationships.map {
            setting(tomlKey($0.name), path: "\(path).relationships", inline($0.toml, $0.name, entity, model), origin([entity.name, $0.name]))
        }
        if !attributes.isEmpty { resolved.sections.append(.init(header: "[\(path).attributes]", settings: attributes)) }
        if !relationships.isEmpty { resolved.sections.append(.init(header: "[\(path).relationships]", settings: relationships)) }
    }
}

/// Where the entities of a model and their properties stand in it, by name.
struct ModelIndex {
    private struct Places {
        var attributes: [String: Int]
        var relationships: [String: Int]
    }

    private var entities: [String: Int]
    private var properties: [Places]

    init(_ model: ModelConfiguration) {
        func places(_ names: [String]) -> [String: Int] {
            Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        }
        entities = places(model.entities.map(\.name))
        properties = model.entities.map { Places(attributes: places($0.attributes.map(\.name)), relationships: places($0.relationships.map(\.name))) }
    }

    func entity(_ name: String) -> Int? { entities[name] }

    func attribute(_ name: String, of entity: String) -> Int? {
        entities[entity].flatMap { properties[$0].attributes[name] }
    }

    func relationship(_ name: String, of entity: String) -> Int? {
        entities[entity].flatMap { properties[$0].relationships[name] }
    }
}

/// A property as the table that declares it.
extension AttributeConfiguration {
    var toml: String {
        var entries: [String] = []
        if let paths = Codec<[JSONPath]>.jsonPaths.toml(paths) { entries.append("path = \(paths)") }
        if !isRead { entries.append("read = false") }
        entries.append("type = \"\(type)\"")
        entries.append("optional = \(isOptional)")
        if let defaultValue { entries.append("default = \(defaultValue.toml)") }
        entries.append("index = \(isIndexed)")
        if type == .date { entries.append("format = \(tomlQuoted(format.description))") }
        if let transforms = Codec<[TextTransform]>.transforms.toml(transforms) { entries.append("transform = \(transforms)") }
        if let longest { entries.append("max = \"\(longest)\"") }
        return "{ \(entries.joined(separator: ", ")) }"
    }
}

extension RelationshipConfiguration {
    var toml: String {
        var entries = ["to = \(tomlQuoted(destination))"]
        if let paths = Codec<[JSONPath]>.jsonPaths.toml(paths) { entries.append("path = \(paths)") }
        if !isRead { entries.append("read = false") }
        entries.append("many = \(isToMany)")
        entries.append("ordered = \(isOrdered)")
        if case .declared(let name) = inverse { entries.append("inverse = \(tomlQuoted(name))") }
        entries.append("on_delete = \"\(onDelete.rawValue)\"")
        entries.append("match = \"\(match.rawValue)\"")
        entries.append("mode = \"\(mode.rawValue)\"")
        if let partialPath { entries.append("partial_if = \(tomlQuoted(partialPath.description))") }
        entries.append("unresolved = \"stub\"")
        return "{ \(entries.joined(separator: ", ")) }"
    }
}
