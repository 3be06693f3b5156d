import CoreData
import Foundation

extension EntityObject {
    /// A new object of this class's entity, with the model's defaults.
    ///
    /// - Throws: `RecordError` if the context's model has no entity of this class, or an abstract one.
    public static func create(in context: NSManagedObjectContext) throws -> Self {
        try create(entity(in: context), in: context)
    }

    /// The object with a value in an attribute, made if there is none: `Person.findOrCreate(by: "id", value: 7, in: context)`.
    ///
    /// What is not saved yet is found, too: two calls in one context give one object. Two contexts may each make one, unless a uniqueness constraint of
    /// the model refuses or unifies them at the save.
    ///
    /// - Parameter value: Converted as an import does it. Not nil.
    /// - Throws: `RecordError` for an attribute that the entity does not have or a value that it can't have, and what the fetch throws.
    public static func findOrCreate(by attribute: String, value: Any, in context: NSManagedObjectContext) throws -> Self {
        try findOrCreate(by: attribute, values: [value], in: context)[0]
    }

    /// The objects with these values in an attribute, in the same order, made where there are none. Found by one fetch; the same value twice is the same
    /// object. Otherwise as `findOrCreate(by:value:in:)`.
    public static func findOrCreate(by attribute: String, values: [Any], in context: NSManagedObjectContext) throws -> [Self] {
        let entity = try entity(in: context)
        let conversion = try AttributeConversion(entity.attribute(attribute))
        let drafts = try values.map { given in
            let value = try conversion.value(given, of: entity)
            guard let key = Draft.Key(attribute, value) else {
                throw RecordError(
                    entity: entity.name ?? "?", property: attribute, value: given, problem: "nothing can be found by it",
                    remedy: "give a value that is not null and can be compared")
            }
            let draft = Draft(entity: entity, place: InputPlace(), key: key, record: nil)
            draft.values = [(conversion.attribute, value)]
            return draft
        }
        let index = KeyIndex(context)
        try index.fetch(drafts)
        // Nothing is made before everything that may fail has not.
        for draft in drafts {
            if let key = draft.key, let object = index.target(entity, key)?.object { _ = try cast(object) }
        }
        return try drafts.map { draft in
            if let key = draft.key, let object = index.target(entity, key)?.object { return try cast(object) }
            let object = try create(entity, in: context)
            let target = ImportTarget(entity: entity, object: object)
            for (attribute, value) in draft.values {
                index.note(target, attribute.name, value)
                object.setValue(value, forKey: attribute.name)
            }
            return object
        }
    }

    private static func create(_ entity: NSEntityDescription, in context: NSManagedObjectContext) throws(RecordError) -> Self {
        if entity.isAbstract {
            throw RecordError(entity: entity.name ?? "?", problem: "the entity is abstract", remedy: "make an object of one of its subentities")
        }
        return try cast(NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context))
    }

    private static func cast(_ object: NSManagedObject) throws(RecordError) -> Self {
        if let object = object as? Self { return object }
        throw RecordError(
            entity: object.entity.name ?? "?", problem: "its objects are of the class \(type(of: object)), which is no \(self)",
            remedy: "give the entity a class that inherits from \(self)")
    }
}
