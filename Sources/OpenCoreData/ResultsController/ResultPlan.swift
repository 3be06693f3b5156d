import Foundation

/// A fetch plan as a controller uses it: how the results are named into sections, and what they depend on besides their own rows.
struct ResultPlan {
    /// Whose changes change the results, although they are not results themselves.
    enum Dependency {
        case nobody
        case entities([NSEntityDescription])
        case anybody

        /// Nil for any; an empty list for none.
        var entities: [NSEntityDescription]? {
            switch self {
            case .nobody: []
            case .entities(let entities): entities
            case .anybody: nil
            }
        }
    }

    let fetch: FetchPlan
    let order: ResultOrder
    private let sectionKeys: [String]?
    /// The section's name is not in the rows: the object is asked.
    private let asksObjects: Bool
    let dependency: Dependency
    private let members: Set<Int>
    private let related: Set<Int>

    init(_ fetch: FetchPlan, sectionNameKeyPath: String?) throws {
        var fetch = fetch
        fetch.includesRows = true
        self.fetch = fetch
        order = ResultOrder(keys: fetch.sort)
        sectionKeys = sectionNameKeyPath.map { fetch.entity.folded($0.split(separator: ".").map(String.init)) }
        asksObjects = try sectionKeys.map { try !Self.isInRows($0, of: fetch.entity) } ?? false
        dependency = Self.dependency(of: fetch, sectionKeys: asksObjects ? nil : sectionKeys)
        members = Set(fetch.members.map(\.number))
        related = Set((dependency.entities ?? []).map(\.number))
    }

    var isSectioned: Bool { sectionKeys != nil }
    var isWindowed: Bool { fetch.limit > 0 || fetch.offset > 0 }

    /// Whether this object could be a result.
    func concerns(_ id: NSManagedObjectID) -> Bool { members.contains(id.layout.number) }

    /// Whether a change of this object may change other results.
    func dependsOn(_ id: NSManagedObjectID) -> Bool {
        if case .anybody = dependency { return true }
        return related.contains(id.layout.number)
    }

    // MARK: Entries

    func matches(_ view: RowView) throws -> Bool { try fetch.predicate?.selects(view) ?? true }

    func entry(_ view: RowView, in context: NSManagedObjectContext) -> ResultEntry {
        let keys = fetch.sort.map { $0.sortable(value($0.path, of: view)) }
        guard let sectionKeys else { return ResultEntry(id: view.id, keys: keys, section: "") }
        let name =
            asksObjects
            ? Self.name(context.object(with: view.id).value(forKeyPath: sectionKeys.joined(separator: ".")))
            : Self.name(value(sectionKeys, of: view).any)
        return ResultEntry(id: view.id, keys: keys, section: name)
    }

    private func value(_ path: [String], of view: RowView) -> AttributeValue {
        var view = view
        for key in path.dropLast() {
            guard case .objectID(let target) = view.row[key], let next = view.view(of: target) else { return .null }
            view = next
        }
        return path.last.map { view.row[$0] } ?? .null
    }

    /// Brings the rows that sort keys and section names go over into memory, with a request per step instead of one per row.
    func warm(_ rows: [FetchedRow], in context: NSManagedObjectContext) throws {
        for path in fetch.sort.map(\.path) + [asksObjects ? [] : sectionKeys ?? []] where path.count > 1 {
            var rows = rows.compactMap(\.row)
            for key in path.dropLast() {
                let targets = Set(rows.compactMap { $0[key].objectID })
                rows = Array(try context.rows(for: Array(targets)).values)
            }
        }
    }

    /// A section's name: the value as text, empty for nil.
    private static func name(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: ""
        case let string as String: string
        case let number as NSNumber: number.stringValue
        case let data as Data: data.base64EncodedString()
        case let url as URL: url.absoluteString
        case let value?: "\(value)"
        }
    }

    // MARK: What it depends on

    /// Whether a section's name can be read from rows. Throws 134060 for a relationship, which has no name.
    private static func isInRows(_ keys: [String], of entity: NSEntityDescription) throws -> Bool {
        var entity = entity
        for (index, key) in keys.enumerated() {
            let isLast = index == keys.count - 1
            switch entity.layout.place(of: key) {
            case .slot(let slot)?:
                guard let relationship = entity.layout.relationship(atSlot: slot) else { return isLast && !entity.layout.isTransient[slot] }
                guard !isLast, let destination = relationship.destinationEntity else { throw noSection(keys) }
                entity = destination
            case .toMany?, .composite?: throw noSection(keys)
            case nil: return false
            }
        }
        return false
    }

    private static func noSection(_ keys: [String]) -> NSError {
        .coreData(
            .coreData, "\(keys.joined(separator: ".")) is no single value, and can't name a section. Use a key path to an attribute.")
    }

    private static func dependency(of fetch: FetchPlan, sectionKeys: [String]?) -> Dependency {
        var paths = fetch.sort.map(\.path) + [sectionKeys ?? []], isOpen = fetch.predicate?.containsOpaque ?? false
        _ = fetch.predicate?.mapExpressions { expression in
            switch expression {
            case .keyPath(let path):
                paths.append(
                    path.steps.compactMap { step in
                        if case .key(let key) = step { return key }
                        return nil
                    })
            case .constant, .evaluatedObject, .aggregate, .function, .cast, .setOperation, .conditional, .anyKey: break
            case .variable, .keyPathOf, .index, .message, .subquery, .opaque, .unanswerable: isOpen = true
            }
            return expression
        }
        if isOpen { return .anybody }
        var entities: [NSEntityDescription] = []
        for path in paths {
            guard let found = entitiesReached(by: path, from: fetch.entity) else { return .anybody }
            entities += found.flatMap(\.withDescendants)
        }
        return entities.isEmpty ? .nobody : .entities(entities)
    }

    /// Whose rows are read on the way; nil if it can't be told from the model.
    private static func entitiesReached(by path: [String], from entity: NSEntityDescription) -> [NSEntityDescription]? {
        var entity = entity, result: [NSEntityDescription] = []
        for (index, key) in path.enumerated() {
            let relationship: NSRelationshipDescription
            switch entity.layout.place(of: key) {
            case .slot(let slot)?:
                guard let toOne = entity.layout.relationship(atSlot: slot) else { return result }
                // The last step of a to-one is a value of the row before it.
                if index == path.count - 1 { return result }
                relationship = toOne
            case .toMany(let number)?: relationship = entity.layout.toManys[number]
            case .composite?: return result
            case nil:
                if key == "self" || key == "objectID" { continue }
                return nil
            }
            guard let destination = relationship.destinationEntity else { return nil }
            result.append(destination)
            entity = destination
        }
        return result
    }
}
