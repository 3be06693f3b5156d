import CoreData
import Foundation

/// Records to objects.
///
/// A record fills the attributes and relationships of its entity by the conventions of MagicalRecord, which the model's user info states:
///
/// - `mappedKeyName`, and `mappedKeyName.0` to `.9`, on an attribute or relationship: the paths into the record (`owner.name`), of which the first that is
///   there counts. Without any the property's own name is the path.
/// - `relatedByAttribute`, on an entity or, for one relationship, on that: the attribute by which objects are recognised. Without it: the attribute
///   of a uniqueness constraint, `personID` of `Person`, `id`, `remoteID`; if there is none of them every record is a new object.
///   Two contexts that import the same at the same time may each make an object, unless a uniqueness constraint refuses or unifies them at the save.
/// - `dateFormat`, and `dateFormat.0` to `.9`, on a date: patterns, or `UnixTime` for milliseconds. Without any: ISO 8601, or a number of seconds.
/// - `useDefaultValueWhenNotPresent`, on an attribute: its default is set where the record has nothing at its paths.
///
/// What is absent leaves the property alone; null empties it. A relationship takes a record or the key of an object, a to-many a list of them: afterwards
/// its members are those of the list. Objects are found by their keys, unsaved ones too, or made.
///
/// An import that throws has changed nothing: the input is read and all objects are found before the first is touched. Nothing is validated before the
/// context is saved.
extension NSManagedObjectContext {
    /// Imports a record, and gives the object; nil if its class, as `Importable`, does not want it.
    ///
    /// - Throws: `RecordError`, what an `Importable` class throws, and what the fetch throws.
    @discardableResult
    public func importObject<Object: NSManagedObject>(_ type: Object.Type, from record: [String: Any]) throws -> Object? {
        try Importer(self, as: type).objects([record], type.entity(in: self), from: InputPlace()).first
    }

    /// Imports records, and gives their objects in the same order, without those that their class, as `Importable`, does not want. Existing objects are
    /// found by one fetch for each attribute that is a key, however many records there are.
    ///
    /// - Throws: As `importObject(_:from:)`; the error's place says which record (`$[3]`).
    @discardableResult
    public func importObjects<Object: NSManagedObject>(_ type: Object.Type, from records: [[String: Any]]) throws -> [Object] {
        try Importer(self, as: type).objects(records, type.entity(in: self), from: nil)
    }

    /// Imports what a JSON text says: an array of objects, or one object.
    ///
    /// `JSONSerialization` reads the text: whole numbers of 64 bits, and others with up to 38 digits, are kept as they are written. It accepts a comma too
    /// many, and of a key that is there twice takes the last.
    ///
    /// - Throws: As `importObject(_:from:)`, and `RecordError` for what is no JSON.
    @discardableResult
    public func importObjects<Object: NSManagedObject>(_ type: Object.Type, from json: Data) throws -> [Object] {
        try importJSON(json, type.entity(in: self), as: type)
    }

    /// Imports records as objects of the named entity, which needs no class of its own. Otherwise as `importObjects(_:from:)`.
    @discardableResult
    public func importObjects(entityName name: String, from records: [[String: Any]]) throws -> [NSManagedObject] {
        try Importer(self, as: NSManagedObject.self).objects(records, entity(named: name), from: nil)
    }

    /// Imports what a JSON text says as objects of the named entity, which needs no class of its own. Otherwise as `importObjects(_:from:)`.
    @discardableResult
    public func importObjects(entityName name: String, from json: Data) throws -> [NSManagedObject] {
        try importJSON(json, entity(named: name), as: NSManagedObject.self)
    }

    private func importJSON<Object: NSManagedObject>(_ json: Data, _ entity: NSEntityDescription, as type: Object.Type) throws -> [Object] {
        let importer = Importer(self, as: type)
        let root = try parsed(json, entity)
        if let record = root as? [String: Any] { return try importer.objects([record], entity, from: InputPlace()) }
        let problem = "is no object", remedy = "give a JSON object, or an array of objects"
        guard let list = root as? [Any] else {
            throw RecordError(entity: entity.name ?? "?", place: InputPlace(), value: root, problem: problem, remedy: remedy)
        }
        let records = try list.enumerated().map { number, element throws(RecordError) in
            if let record = element as? [String: Any] { return record }
            throw RecordError(entity: entity.name ?? "?", place: InputPlace()[number], value: element, problem: problem, remedy: remedy)
        }
        return try importer.objects(records, entity, from: nil)
    }

    private func parsed(_ json: Data, _ entity: NSEntityDescription) throws(RecordError) -> Any {
        do {
            return try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
        } catch {
            // Where in the text it went wrong is only said there.
            let detail = (error as NSError).userInfo["NSDebugDescription"] as? String ?? error.localizedDescription
            throw RecordError(
                entity: entity.name ?? "?", place: InputPlace(), problem: "the text is no JSON (\(detail))",
                remedy: "mend the text, or give parsed records")
        }
    }
}
