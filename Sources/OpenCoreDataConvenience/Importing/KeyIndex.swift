import CoreData
import Foundation

/// Which object has which key: one fetch for each attribute that is a key, then in memory, while drafts give new values to keys.
final class KeyIndex {
    /// An attribute, of the highest entity that has it: subentities share their keys with their parents.
    private struct Column: Hashable {
        let entity: ObjectIdentifier
        let attribute: String
    }

    private let context: NSManagedObjectContext
    private var targets: [Column: [KeyValue: [ImportTarget]]] = [:]
    private var known: [ObjectIdentifier: ImportTarget] = [:]

    init(_ context: NSManagedObjectContext) { self.context = context }

    private static func owner(_ entity: NSEntityDescription, _ attribute: String) -> NSEntityDescription {
        var owner = entity
        while let parent = owner.superentity, parent.attributesByName[attribute] != nil { owner = parent }
        return owner
    }

    private static func column(_ entity: NSEntityDescription, _ attribute: String) -> Column {
        Column(entity: ObjectIdentifier(owner(entity, attribute)), attribute: attribute)
    }

    /// Finds the objects that have the keys of drafts. Their to-many relationships that the drafts change are loaded along.
    func fetch(_ drafts: [Draft]) throws {
        struct Question {
            let entity: NSEntityDescription
            let attribute: String
            var values: [KeyValue: Any] = [:]
            var relationships: Set<String> = []
        }
        var questions: [Column: Question] = [:]
        var order: [Column] = []
        for draft in drafts {
            guard let key = draft.key else { continue }
            let column = Self.column(draft.entity, key.attribute)
            if questions[column] == nil {
                questions[column] = Question(entity: Self.owner(draft.entity, key.attribute), attribute: key.attribute)
                order.append(column)
            }
            questions[column]?.values[key.value] = key.plain
            let toMany = draft.links.map(\.relationship).filter { $0.isToMany && questions[column]?.entity.relationshipsByName[$0.name] != nil }
            questions[column]?.relationships.formUnion(toMany.map(\.name))
        }
        for (column, question) in order.compactMap({ column in questions[column].map { (column, $0) } }) {
            let request = NSFetchRequest<NSManagedObject>()
            request.entity = question.entity
            request.predicate = NSPredicate(format: "%K IN %@", question.attribute, Array(question.values.values))
            request.returnsObjectsAsFaults = false
            request.relationshipKeyPathsForPrefetching = question.relationships.sorted()
            targets[column] = [:]
            for object in try context.fetch(request) {
                guard let value = KeyValue(object.value(forKey: question.attribute)) else { continue }
                targets[column]?[value, default: []].append(target(of: object))
            }
        }
    }

    private func target(of object: NSManagedObject) -> ImportTarget {
        let id = ObjectIdentifier(object)
        if let target = known[id] { return target }
        let target = ImportTarget(entity: object.entity, object: object)
        known[id] = target
        return target
    }

    /// The object of an entity that has a key.
    func target(_ entity: NSEntityDescription, _ key: Draft.Key) -> ImportTarget? {
        targets[Self.column(entity, key.attribute)]?[key.value]?.first { $0.entity.isKindOf(entity: entity) }
    }

    /// Notes an object that is to be made: where its keys have defaults, it can be found by them.
    func add(_ target: ImportTarget) {
        for (name, attribute) in target.entity.attributesByName where targets[Self.column(target.entity, name)] != nil {
            note(target, name, attribute.defaultValue)
        }
    }

    /// Notes that an object gets a value, which may be one of a key.
    func note(_ target: ImportTarget, _ attribute: String, _ value: Any?) {
        let column = Self.column(target.entity, attribute)
        guard targets[column] != nil else { return }
        let new = KeyValue(value)
        let old = target.value(attribute)
        target.given[attribute] = .some(new)
        guard old != new else { return }
        if let old { targets[column]?[old]?.removeAll { $0 === target } }
        if let new { targets[column]?[new, default: []].append(target) }
    }
}
