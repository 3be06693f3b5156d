import Foundation

extension NSEntityDescription {
    /// A new object of the named entity. Traps if there is no such entity.
    public class func insertNewObject(forEntityName name: String, into context: NSManagedObjectContext) -> NSManagedObject {
        let entity = context.entity(named: name)
        return entity.makeObject(in: context)
    }

    /// The named entity in the context's model.
    public class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.endOfChain?.managedObjectModel.entitiesByName[name]
    }

    /// The class of this entity's objects.
    var objectClass: NSManagedObject.Type {
        if let known = explicitClass as? NSManagedObject.Type { return known }
        guard let name = managedObjectClassName, name != "NSManagedObject" else { return NSManagedObject.self }
        // Asked for every object that is made: what is there under this very name is not looked for any further.
        if !mayLackItsClass, let found = NSClassFromString(name) as? NSManagedObject.Type { return found }
        let found = Self.objectClasses(named: name)
        guard let only = found.first, found.count == 1 else {
            if mayLackItsClass { return NSManagedObject.self }
            Violation.misuse(
                found.isEmpty
                    ? "entity \(self.name ?? "?") names the class \(name), which does not exist or is not an NSManagedObject; write it as Module.Class, "
                        + "or name a class within another type by setManagedObjectClass(_:)"
                    : "entity \(self.name ?? "?") names the class \(name), which is "
                        + "\(found.map { String(reflecting: $0) }.joined(separator: " or ")); write it with its module")
        }
        return only
    }

    private static func objectClasses(named name: String) -> [NSManagedObject.Type] {
        ClassNames.classes(named: name).compactMap { $0 as? NSManagedObject.Type }
    }

    /// Names the class as a model's file does. If the program has none or several of the name, objects are of `NSManagedObject`, as with Core Data.
    ///
    /// - Parameter modules: whose class it is if several have one of the name.
    func takeClass(named name: String, preferring modules: [String] = []) {
        var found = Self.objectClasses(named: name)
        if found.count > 1 { found = found.filter { type in modules.contains { String(reflecting: type).hasPrefix($0 + ".") } } }
        managedObjectClassName = name.hasPrefix(".") ? String(name.dropFirst()) : name
        mayLackItsClass = true
        if found.count == 1 { setManagedObjectClass(found[0]) }
    }

    /// Whether that is `type`: asked of an entity whose class may not be there.
    func isOf(_ type: NSManagedObject.Type) -> Bool {
        if let explicitClass { return explicitClass == type }
        return managedObjectClassName.map { Self.objectClasses(named: $0) }.map { $0.count == 1 && $0[0] == type } == true
    }

    /// Makes `type` the class of this entity's objects, without a look-up by name: it may also be private, or stand within another type.
    /// `managedObjectClassName` is then what Swift calls it, with its module: `Module.Outer.Class`.
    public func setManagedObjectClass(_ type: NSManagedObject.Type) {
        // NSStringFromClass stops the program at a class within another type.
        managedObjectClassName = String(reflecting: type)
        explicitClass = type
    }

    /// Whether objects of this entity are made of this class, or of one that inherits from it. False, too, where the entity names a class that the
    /// program lacks, or has in several modules, so that its objects are plain ones.
    public func makesObjects<Object: NSManagedObject>(of type: Object.Type) -> Bool {
        if type == NSManagedObject.self { return true }
        if let explicitClass { return explicitClass is Object.Type }
        guard let name = managedObjectClassName else { return false }
        let found = Self.objectClasses(named: name)
        return found.count == 1 && found[0] is Object.Type
    }
}

extension NSManagedObjectModel {
    /// The one entity of a class.
    /// - Parameter what: who needs it, for the message.
    func entity(for type: NSManagedObject.Type, doing what: String) -> NSEntityDescription {
        let matches = entities.filter { $0.objectClass == type }
        guard matches.count == 1 else { Violation.misuse("\(matches.count) entities have the class \(type); \(what) needs exactly one") }
        return matches[0]
    }

    /// The one entity of a class in the newest model in use that knows the class.
    static func entityInUse(of type: NSManagedObject.Type) -> NSEntityDescription {
        guard let model = ModelsInUse.all.first(where: { model in model.entities.contains { $0.isOf(type) } }) else {
            Violation.misuse("no model that a coordinator uses has an entity of the class \(type); entity() needs one")
        }
        return model.entity(for: type, doing: "entity()")
    }
}
