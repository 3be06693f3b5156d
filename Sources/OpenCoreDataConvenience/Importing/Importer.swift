import CoreData
import Foundation

/// One import: everything that may fail first, and only then changes.
struct Importer<Object: NSManagedObject> {
    private let context: NSManagedObjectContext
    private let reader: RecordReader
    private let module: String?

    /// - Parameter type: The class of the objects that are wanted.
    init(_ context: NSManagedObjectContext, as type: Object.Type) {
        self.context = context
        module = type == NSManagedObject.self ? nil : String(reflecting: type).split(separator: ".").first.map(String.init)
        reader = RecordReader(module: module)
    }

    /// The objects of the records, in their order, without those that their classes do not want.
    ///
    /// - Parameter start: The place of the only record; nil for a list.
    func objects(_ records: [[String: Any]], _ entity: NSEntityDescription, from start: InputPlace?) throws -> [Object] {
        let drafts = try records.enumerated().compactMap { try reader.draft($1, entity, at: start ?? InputPlace()[$0]) }
        let index = KeyIndex(context)
        try index.fetch(drafts.flatMap(\.withRelated))
        try drafts.forEach { try resolve($0, index) }
        try drafts.forEach(check)
        // All are: that was checked.
        return drafts.map(fill).compactMap { $0 as? Object }
    }

    /// Finds out which object each draft is about, in the order in which objects are filled.
    private func resolve(_ draft: Draft, _ index: KeyIndex) throws {
        if let key = draft.key, let found = index.target(draft.entity, key) {
            draft.target = found
        } else {
            if draft.entity.isAbstract {
                throw RecordError(
                    entity: draft.entity.name ?? "?", property: draft.key?.attribute, place: draft.place, value: draft.key?.plain,
                    problem: "no object was found, and the entity is abstract, so none can be made",
                    remedy: "say which subentity it is in entityName(for:) of the entity's class, as Importable")
            }
            let made = ImportTarget(entity: draft.entity)
            index.add(made)
            draft.target = made
        }
        if let target = draft.target {
            for (attribute, value) in draft.values { index.note(target, attribute.name, value) }
        }
        for (_, link) in draft.links { try link.drafts.forEach { try resolve($0, index) } }
    }

    /// Refuses an object of another class than the caller wants.
    private func check(_ draft: Draft) throws {
        guard let target = draft.target else { return }
        if target.object.map({ $0 is Object }) ?? target.entity.makesObjects(of: Object.self) { return }
        throw RecordError(
            entity: target.entity.name ?? "?", place: draft.place, problem: "its objects are not of the class \(Object.self)",
            remedy: "give the entity a class that inherits from \(Object.self); if several modules have one of that name, write it with its module")
    }

    /// Makes the object if it is not there, and gives it what the draft says.
    private func fill(_ draft: Draft) -> NSManagedObject {
        let object =
            draft.target?.object ?? NSEntityDescription.insertNewObject(forEntityName: draft.entity.name ?? "", into: context)
        draft.target?.object = object
        let importable = object as? any Importable
        if let record = draft.record { importable?.willImport(record) }
        for (attribute, value) in draft.values { set(attribute, value, of: object) }
        for (relationship, link) in draft.links { set(relationship, link, of: object) }
        if let record = draft.record { importable?.didImport(record) }
        return object
    }

    /// What is so already is not set, so that the same record again changes nothing.
    private func set(_ attribute: NSAttributeDescription, _ value: Any?, of object: NSManagedObject) {
        let old = object.value(forKey: attribute.name)
        if old == nil && value == nil { return }
        if let old = KeyValue(old), old == KeyValue(value) { return }
        object.setValue(value, forKey: attribute.name)
    }

    private func set(_ relationship: NSRelationshipDescription, _ link: Draft.Link, of object: NSManagedObject) {
        let name = relationship.name
        let objects = link.drafts.map(fill)
        let before = object.objectIDs(forRelationshipNamed: name)
        let after = objects.map(\.objectID)
        if !relationship.isToMany {
            if before != after { object.setValue(objects.first, forKey: name) }
        } else if relationship.isOrdered {
            let members = NSOrderedSet(array: objects)
            if before != members.array.compactMap({ ($0 as? NSManagedObject)?.objectID }) { object.setValue(members, forKey: name) }
        } else if Set(before) != Set(after) {
            object.setValue(Set(objects), forKey: name)
        }
    }
}

extension Draft.Link {
    /// The related, in their order.
    var drafts: [Draft] {
        switch self {
        case .nobody: []
        case .one(let draft): [draft]
        case .many(let drafts): drafts
        }
    }
}

extension Draft {
    /// This and everything embedded in it.
    var withRelated: [Draft] { [self] + links.flatMap(\.link.drafts).flatMap(\.withRelated) }
}
