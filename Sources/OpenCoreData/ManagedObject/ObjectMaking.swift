/// What an object is made of by Core Data itself, which learns the class at run time. Only this module makes one.
///
/// In Swift only a `required` initialiser can make an object of such a class. Subclasses inherit it, and it goes on to
/// `init(entity:insertInto:)`, which they may override as with Apple: for objects that exist it runs, too.
public struct ObjectMaking {
    let entity: NSEntityDescription
    let context: NSManagedObjectContext?
    /// The identity of an object that exists; nil: a new one.
    let existing: NSManagedObjectID?
}

extension NSEntityDescription {
    /// A new object of this entity's class in `context`; nil: in none.
    func makeObject(in context: NSManagedObjectContext?) -> NSManagedObject {
        objectClass.init(ObjectMaking(entity: self, context: context, existing: nil))
    }
}

extension NSManagedObject {
    /// An instance of this class for an object that exists: a fault, which the context does not know yet.
    static func make(existing id: NSManagedObjectID, in context: NSManagedObjectContext) -> Self {
        let object = Self(ObjectMaking(entity: id.entity, context: context, existing: id))
        guard object.objectID === id else {
            Violation.misuse("\(Self.self) makes its objects without handing entity and context on to init(entity:insertInto:) of its superclass")
        }
        object.wasMade()
        return object
    }
}

extension NSManagedObjectContext {
    /// The object whose instance is being made, for the initialiser that makes it. Another entity: somebody's initialiser makes a new object first.
    func takeObjectToMake(of entity: NSEntityDescription) -> NSManagedObjectID? {
        guard let id = objectToMake, id.entity === entity else { return nil }
        objectToMake = nil
        return id
    }
}
