import Foundation
import ModelFiles

/// A model of Xcode's editor as the tables `[entity.…]` that say the same, which the configuration's own tables are merged over.
///
/// Every concrete entity becomes a table with the properties that it inherits: there is no inheritance among tables. What tables can't say is left
/// out, with a warning where that could be missed.
struct ModelDocument {
    private let file: ModelFile
    private let rank: Int
    private let complaints: Complaints
    private let keys: ImporterKeys
    /// The configuration's own tables.
    private let tables: [String: DocumentNode]
    /// The entities that become tables.
    private var tabled: Set<String> = []

    /// - Parameters:
    ///   - rank: the place of the file in the order of merging.
    ///   - tables: the configuration's own tables of entities, by name, which come after the model.
    init(_ file: ModelFile, rank: Int, tables: [String: DocumentNode] = [:], complaints: Complaints) {
        self.file = file
        self.rank = rank
        self.complaints = complaints
        self.tables = tables
        keys = ImporterKeys(file: file, rank: rank, complaints: complaints)
        for entity in file.entities where !entity.isAbstract {
            guard !Self.isDropped(tables[entity.name]?.table), let lineage = lineage(of: entity) else { continue }
            if tables[entity.name] == nil, let lack = keys.lackOfKey(entity, lineage, among: attributeNames(entity, lineage)) {
                warn(lack.line, subject(entity), "\(lack.reason): it is left out", "write [entity.\(tomlKey(entity.name))] with a key")
            } else {
                tabled.insert(entity.name)
            }
        }
    }

    /// `{ entity = { … } }`. Mistakes go to the complaints.
    func document() -> DocumentNode {
        var entities: [String: DocumentNode] = [:]
        for entity in file.entities where tabled.contains(entity.name) {
            guard let lineage = lineage(of: entity) else { continue }
            if entities[entity.name] != nil {
                complain(entity.line, subject(entity), "two entities are named \(entity.name)", "rename one of them in the model")
            }
            entities[entity.name] = node(.table(table(of: entity, lineage)), entity.line)
        }
        return node(.table(["entity": node(.table(entities), 1)]), 1)
    }

    /// The entity and its ancestors, the topmost first; nil if there is something wrong with them.
    private func lineage(of entity: ModelFile.Entity) -> [ModelFile.Entity]? {
        var lineage = [entity]
        while let name = lineage[0].parent {
            let isDescendant = lineage.contains { $0.name == name }
            guard let parent = file.entities.first(where: { $0.name == name }), !isDescendant else {
                complain(
                    lineage[0].line, subject(entity),
                    "\(lineage[0].name) has the parent \(name), which is \(isDescendant ? "its own descendant" : "not in the model")",
                    "choose another parent in the model")
                return nil
            }
            if !parent.isAbstract {
                warn(
                    entity.line, subject(entity), "\(entity.name) inherits from \(name), which has objects of its own",
                    "both become tables with nothing in common: a query of \(name) does not find what is in \(entity.name)")
            }
            lineage.insert(parent, at: 0)
        }
        return lineage
    }

    private func table(of entity: ModelFile.Entity, _ lineage: [ModelFile.Entity]) -> [String: DocumentNode] {
        var table: [String: DocumentNode] = [:]
        let said = tables[entity.name]?.table?["key"]?.array?.compactMap(\.string)
        let key = keys.key(of: entity, lineage, among: attributeNames(entity, lineage), isSaid: said != nil)
        if let key { table["key"] = node(.array(key.names.map { node(.string($0), key.line) }), key.line) }
        checkConstraints(entity, lineage, key: said ?? key?.names)
        if let former = formerName(entity.renamingIdentifier, entity.name) { table["renamed_from"] = node(.string(former), entity.line) }
        var attributes: [String: DocumentNode] = [:], relationships: [String: DocumentNode] = [:]
        let isMappedByPaths = keys.mapsByPathsOnly(lineage)
        let indexed = Set(lineage.flatMap(\.indexes).filter { $0.elements.count == 1 }.flatMap(\.elements).map(\.property))
        var seen: Set<String> = []
        for ancestor in lineage {
            keys.warnOfOthers(ancestor.userInfo, ancestor.line, self.subject(entity))
            for property in ancestor.attributes.map(\.property) + ancestor.relationships.map(\.property) where !seen.insert(property.name).inserted {
                complain(property.line, self.subject(entity), "it has two properties named \(property.name)", "rename one of them in the model")
            }
            for (number, attribute) in ancestor.attributes.enumerated() {
                let subject = subject(entity).element("attribute", attribute.property.name, keyed: "attributes")
                attributes[attribute.property.name] = self.attribute(
                    attribute, of: entity, isIndexed: attribute.property.isIndexed || indexed.contains(attribute.property.name), isMappedByPaths,
                    subject)
                // In one line they keep their order.
                attributes[attribute.property.name]?.place.column = number
            }
            for (number, relationship) in ancestor.relationships.enumerated() {
                let subject = subject(entity).element("relationship", relationship.property.name, keyed: "relationships")
                relationships[relationship.property.name] = self.relationship(
                    relationship, isInherited: ancestor.name != entity.name, entity, isMappedByPaths, subject)
                relationships[relationship.property.name]?.place.column = number
            }
        }
        table["attributes"] = node(.table(attributes), entity.line)
        table["relationships"] = node(.table(relationships), entity.line)
        return table
    }

    /// The names of the attributes that its table has, with those that the configuration says beside the model.
    private func attributeNames(_ entity: ModelFile.Entity, _ lineage: [ModelFile.Entity]) -> Set<String> {
        let kept = lineage.flatMap(\.attributes).filter {
            !$0.property.isTransient && $0.derivation == nil && $0.type.flatMap(Self.type) != nil
        }
        return Set(kept.map(\.property.name)).union(tables[entity.name]?.table?["attributes"]?.table?.keys.map(\.self) ?? [])
    }

    // MARK: Properties

    /// Nil for what is left out.
    private func attribute(
        _ attribute: ModelFile.Attribute, of entity: ModelFile.Entity, isIndexed: Bool, _ isMappedByPaths: Bool, _ subject: Subject
    ) -> DocumentNode? {
        let property = attribute.property, line = property.line
        guard !property.isTransient else { return nil }
        guard attribute.derivation == nil, let type = attribute.type.flatMap(Self.type) else {
            let what = attribute.derivation == nil ? "has the type \(attribute.type?.rawValue ?? "Undefined")" : "is derived"
            warn(line, subject, "the attribute \(what), which no table can say: it is left out", nil)
            return nil
        }
        let own = own(entity, "attributes", property.name)
        let paths = keys.paths(property, isAttribute: true, isSaid: own["path"] != nil, subject)
        var table = ["type": node(.string(type.description), line), "optional": node(.boolean(property.isOptional), line)]
        if isIndexed, type.mayBeIndexed { table["index"] = node(.boolean(true), line) }
        if let former = formerName(property.renamingIdentifier, property.name) { table["renamed_from"] = node(.string(former), line) }
        if let path = pathNode(paths, line) { table["path"] = path }
        if isMappedByPaths, paths.isEmpty, own["path"] == nil { table["read"] = node(.boolean(false), line) }
        if let text = attribute.defaultValue, !text.isEmpty || type == .string, let value = Self.defaultValue(text, type) {
            table["default"] = node(value, line)
        }
        // Of another type it has none.
        if type == .date, own["type"]?.string ?? "date" == "date", own["format"] == nil, let format = keys.dateFormat(property, subject) {
            table["format"] = node(.string(format), line)
        }
        if attribute.minimum != nil || attribute.maximum != nil || attribute.regularExpression != nil {
            warn(line, subject, "the model bounds its values, which is not checked when records are read", nil)
        }
        keys.warnOfOthers(property.userInfo, line, subject)
        return node(.table(table), line)
    }

    /// Nil for what is left out.
    private func relationship(
        _ relationship: ModelFile.Relationship, isInherited: Bool, _ entity: ModelFile.Entity, _ isMappedByPaths: Bool, _ subject: Subject
    ) -> DocumentNode? {
        let property = relationship.property, line = property.line
        guard !property.isTransient else { return nil }
        if !tabled.contains(relationship.destination), file.entities.contains(where: { $0.name == relationship.destination }) {
            warn(
                line, subject, "it leads to \(relationship.destination), which becomes no table: it is left out",
                "lead it to another entity, in a table of its own here")
            return nil
        }
        var table = [
            "to": node(.string(relationship.destination), line), "many": node(.boolean(relationship.isToMany), line),
            "on_delete": node(.string(Self.deleteRule(relationship.deletionRule).rawValue), line),
        ]
        if relationship.isOrdered, relationship.isToMany { table["ordered"] = node(.boolean(true), line) }
        let own = own(entity, "relationships", property.name)
        if !isInherited, own["to"] == nil, let inverse = inverse(of: relationship, entity) { table["inverse"] = node(.string(inverse), line) }
        if let former = formerName(property.renamingIdentifier, property.name) { table["renamed_from"] = node(.string(former), line) }
        let paths = keys.paths(property, isAttribute: false, isSaid: own["path"] != nil, subject)
        if let path = pathNode(paths, line) { table["path"] = path }
        if isMappedByPaths, paths.isEmpty, own["path"] == nil { table["read"] = node(.boolean(false), line) }
        keys.warnOfOthers(property.userInfo, line, subject)
        return node(.table(table), line)
    }

    /// The inverse, if both sides are declared by the tables that they lead to.
    private func inverse(of relationship: ModelFile.Relationship, _ entity: ModelFile.Entity) -> String? {
        guard let name = relationship.inverse, relationship.inverseEntity ?? relationship.destination == relationship.destination,
            let target = file.entities.first(where: { $0.name == relationship.destination }),
            let inverse = target.relationships.first(where: { $0.property.name == name })
        else { return nil }
        let isOther = own(target, "relationships", name)["to"] != nil || Self.isDropped(own(target, "relationships", name))
        return inverse.destination == entity.name && !inverse.property.isTransient && !isOther ? name : nil
    }

    private static func isDropped(_ table: [String: DocumentNode]?) -> Bool {
        if case .boolean(true)? = table?["drop"]?.value { true } else { false }
    }

    /// What the configuration says of a property itself.
    private func own(_ entity: ModelFile.Entity, _ kind: String, _ name: String) -> [String: DocumentNode] {
        tables[entity.name]?.table?[kind]?.table?[name]?.table ?? [:]
    }

    /// One key is kept unique.
    private func checkConstraints(_ entity: ModelFile.Entity, _ lineage: [ModelFile.Entity], key: [String]?) {
        for constraint in lineage.flatMap(\.constraints) where !constraint.isEmpty && Set(constraint) != Set(key ?? []) {
            warn(
                entity.line, subject(entity), "that \(constraint.joined(separator: ", ")) is unique is not kept",
                key.map { "the key is \($0.joined(separator: ", "))" })
        }
    }

    // MARK: Values

    private static func type(_ type: ModelFile.AttributeType) -> AttributeType? {
        switch type {
        case .integer16: .int16
        case .integer32: .int32
        case .integer64: .int64
        case .decimal: .decimal
        case .double, .float: .double
        case .string: .string
        case .boolean: .bool
        case .date: .date
        case .binary: .data(.base64)
        case .uuid: .uuid
        case .uri: .uri
        case .transformable: .json
        case .objectID, .composite: nil
        }
    }

    /// As a table writes it; the text itself where that is no such value, which is complained of later. Nil for a type without default values.
    private static func defaultValue(_ text: String, _ type: AttributeType) -> DocumentNode.Value? {
        switch type {
        case .int16, .int32, .int64:
            Int64(text).map { .integer($0) } ?? Double(text).flatMap { Int64(exactly: $0) }.map { .integer($0) } ?? .string(text)
        case .double: Double(text).map { .number($0) } ?? .string(text)
        case .bool: ModelFile.truth(text).map { .boolean($0) } ?? .string(text)
        case .date:
            Double(text).flatMap { AttributeDefault.text(of: Date(timeIntervalSinceReferenceDate: $0)) }.map { .string($0) } ?? .string(text)
        case .decimal, .string, .uuid, .uri: .string(text)
        case .data, .json: nil
        }
    }

    private static func deleteRule(_ rule: ModelFile.DeletionRule) -> RelationshipConfiguration.DeleteRule {
        switch rule {
        case .noAction: .noAction
        case .nullify: .nullify
        case .cascade: .cascade
        case .deny: .deny
        }
    }

    private func formerName(_ identifier: String?, _ name: String) -> String? { identifier.flatMap { $0 == name ? nil : $0 } }

    private func pathNode(_ paths: [String], _ line: Int) -> DocumentNode? {
        switch paths.count {
        case 0: nil
        case 1: node(.string(paths[0]), line)
        default: node(.array(paths.map { node(.string($0), line) }), line)
        }
    }

    private func node(_ value: DocumentNode.Value, _ line: Int) -> DocumentNode {
        DocumentNode(value: value, place: .init(file: file.path, rank: rank, line: line))
    }

    private func subject(_ entity: ModelFile.Entity) -> Subject { Subject.root.element("entity", entity.name) }

    private func complain(_ line: Int, _ subject: Subject, _ message: String, _ suggestion: String) {
        complaints.add(at: .init(file: file.path, rank: rank, line: line), subject, message, suggestion)
    }

    private func warn(_ line: Int, _ subject: Subject, _ message: String, _ suggestion: String?) {
        complaints.add(.warning, at: .init(file: file.path, rank: rank, line: line), subject, message, suggestion)
    }
}
