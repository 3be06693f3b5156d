import CoreData
import Foundation

/// Reads records by the rules of their entities. Changes nothing and asks no store: whatever is wrong with the input is found here.
final class RecordReader {
    /// Where classes are looked for that entities name without their module.
    private let module: String?
    private var known: [ObjectIdentifier: EntityRules] = [:]

    init(module: String?) { self.module = module }

    /// The rules of an entity, made once.
    func rules(_ entity: NSEntityDescription) -> EntityRules {
        let id = ObjectIdentifier(entity)
        if let rules = known[id] { return rules }
        let rules = EntityRules(entity, module: module)
        known[id] = rules
        return rules
    }

    /// What a record says; nil if its class does not want it.
    ///
    /// - Parameter key: By what the relationship that leads here recognises objects, if it says so.
    /// - Throws: `RecordError`, and what an `Importable` class throws.
    func draft(_ record: [String: Any], _ named: NSEntityDescription, key said: String? = nil, at place: InputPlace) throws -> Draft? {
        let rules = try chosen(record, rules(named), at: place)
        if try rules.importable?.shouldImport(record) == false { return nil }
        var values: [(attribute: NSAttributeDescription, value: Any?)] = []
        for attribute in rules.attributes {
            if let value = try value(of: attribute, in: record, rules, at: place) { values.append((attribute.attribute, value.value)) }
        }
        let keyName = try rules.key(said)?.attribute.name
        let keyed = keyName.flatMap { name in values.first { $0.attribute.name == name } }
        let draft = Draft(
            entity: rules.entity, place: place, key: keyed.flatMap { Draft.Key($0.attribute.name, $0.value) }, record: record)
        draft.values = values
        for relationship in rules.relationships {
            if let link = try link(relationship, in: record, rules, at: place) { draft.links.append((relationship.relationship, link)) }
        }
        return draft
    }

    /// The entity that a record belongs to: the class may choose a subentity.
    private func chosen(_ record: [String: Any], _ named: EntityRules, at place: InputPlace) throws -> EntityRules {
        guard let name = try named.importable?.entityName(for: record), name != named.name else { return named }
        guard let entity = named.entity.managedObjectModel?.entitiesByName[name], entity.isKindOf(entity: named.entity) else {
            throw RecordError(
                entity: named.name, place: place, value: name, problem: "entityName(for:) says a name that is no subentity",
                remedy: "say the name of \(named.name) or of one of its subentities")
        }
        return rules(entity)
    }

    // MARK: Attributes

    /// A value that an attribute gets: there may be none.
    private struct Given {
        let value: Any?
    }

    /// What an attribute gets; nil if it is left alone.
    private func value(
        of rule: EntityRules.Attribute, in record: [String: Any], _ rules: EntityRules, at place: InputPlace
    ) throws -> Given? {
        guard let (path, given) = Self.first(rule.paths, in: record) else {
            return rule.takesDefault ? Given(value: Self.defaultValue(of: rule.attribute)) : nil
        }
        let wanted = given is NSNull ? given : try rules.importable?.importedValue(given, for: rule.attribute.name) ?? given
        return Given(value: try rule.conversion.value(wanted, of: rules.entity, at: place[path]))
    }

    /// That of a composite has those of its elements.
    private static func defaultValue(of attribute: NSAttributeDescription) -> Any? {
        guard let composite = attribute as? NSCompositeAttributeDescription else { return attribute.defaultValue }
        var values = composite.defaultValue as? [String: Any] ?? [:]
        for element in composite.elements where values[element.name] == nil { values[element.name] = defaultValue(of: element) }
        return values.isEmpty ? nil : values
    }

    /// The first of the paths that the record has, and what is there. Null in the middle of a path is no end of it.
    private static func first(_ paths: [[String]], in record: [String: Any]) -> (path: [String], value: Any)? {
        for path in paths {
            var value: Any? = record
            for key in path { value = (value as? [String: Any])?[key] }
            if let value { return (path, value) }
        }
        return nil
    }

    // MARK: Relationships

    /// What a relationship gets; nil if it is left alone.
    private func link(
        _ rule: EntityRules.Relationship, in record: [String: Any], _ rules: EntityRules, at place: InputPlace
    ) throws -> Draft.Link? {
        guard let (path, given) = Self.first(rule.paths, in: record) else { return nil }
        let place = place[path]
        if given is NSNull { return .nobody }
        guard rule.relationship.isToMany else {
            if given is [Any] {
                throw RecordError(
                    entity: rules.name, property: rule.relationship.name, place: place, value: given,
                    problem: "is a list, but the relationship is to-one",
                    remedy: "make the relationship to-many, or give one object or key")
            }
            return try related(given, rule, at: place).map { .one($0) }
        }
        guard let list = given as? [Any] else {
            throw RecordError(
                entity: rules.name, property: rule.relationship.name, place: place, value: given,
                problem: "is no list, but the relationship is to-many",
                remedy: "make the relationship to-one, or give a list of objects or keys")
        }
        return .many(try list.enumerated().compactMap { try related($1, rule, at: place[$0]) })
    }

    /// A related object: an embedded record, or a key. Nil if its class does not want the record.
    private func related(_ given: Any, _ rule: EntityRules.Relationship, at place: InputPlace) throws -> Draft? {
        if let record = given as? [String: Any] { return try draft(record, rule.destination, key: rule.key, at: place) }
        let rules = rules(rule.destination)
        guard let key = try rules.key(rule.key) else {
            throw RecordError(
                entity: rules.name, place: place, value: given, problem: "is a key, but nothing says by which attribute objects are recognised",
                remedy: "say so with relatedByAttribute in the user info of the entity or of the relationship \(rule.relationship.name)")
        }
        guard !(given is [Any]), let value = try key.conversion.value(given, of: rules.entity, at: place) else {
            throw RecordError(
                entity: rules.name, property: key.attribute.name, place: place, value: given, problem: "is neither an object nor a key",
                remedy: "leave it out, or give an object or the value of \(key.attribute.name)")
        }
        let draft = Draft(entity: rules.entity, place: place, key: Draft.Key(key.attribute.name, value), record: nil)
        draft.values = [(key.attribute, value)]
        return draft
    }
}
