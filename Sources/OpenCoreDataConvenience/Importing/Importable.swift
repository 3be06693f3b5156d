import CoreData
import Foundation

/// A class that has a say when its objects are imported. Every method does something sensible by itself; implement those that you need.
///
/// The static methods are asked while the input is read, before anything is changed: what they throw refuses the whole import, and the context stays as
/// it was. The methods of objects run while the objects are filled, when nothing can be refused any more; so they throw nothing.
///
/// Classes of related objects are asked, too, where records are embedded. An object that a record only refers to by its key is not asked.
public protocol Importable: NSManagedObject {
    /// Whether a record is imported at all. Of a to-one that is not, the relationship stays as it is; of a to-many it is left out.
    static func shouldImport(_ record: [String: Any]) throws -> Bool
    /// The name of the entity that a record becomes an object of: this class's or one of its subentities. Nil: that which the import or the relationship
    /// names. Abstract entities need an answer.
    static func entityName(for record: [String: Any]) throws -> String?
    /// What is read in place of a value that a record has for an attribute: of the attribute's own type, or to be converted to it. Not asked for null.
    static func importedValue(_ value: Any, for attribute: String) throws -> Any
    /// Called on the object, found or new, before its values are set.
    func willImport(_ record: [String: Any])
    /// Called on the object when its values and relationships are set.
    func didImport(_ record: [String: Any])
}

extension Importable {
    /// Every record.
    public static func shouldImport(_ record: [String: Any]) throws -> Bool { true }
    /// The entity that the import or the relationship names.
    public static func entityName(for record: [String: Any]) throws -> String? { nil }
    /// The value itself.
    public static func importedValue(_ value: Any, for attribute: String) throws -> Any { value }
    /// Nothing.
    public func willImport(_ record: [String: Any]) {}
    /// Nothing.
    public func didImport(_ record: [String: Any]) {}
}
