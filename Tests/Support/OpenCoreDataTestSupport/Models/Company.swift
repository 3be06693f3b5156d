import Foundation
import OpenCoreData

/// The model that most tests use: departments, persons (engineers among them), badges, skills; playlists with ordered tracks; folders that
/// cascade; accounts that deny; items with a unique key and three numbers.
public enum Company {
    public static func model() -> NSManagedObjectModel {
        let department = entity("Department", Department.self), person = entity("Person", Person.self)
        let engineer = entity("Engineer", Engineer.self), badge = entity("Badge"), skill = entity("Skill")
        department.properties = [
            attribute("name", .string, optional: false, default: "unnamed"), attribute("code", .string),
            attribute("budget", .double, default: 0.0),
        ]
        department.uniquenessConstraints = [["code"]]
        person.properties = [
            attribute("name", .string, optional: false, default: "nobody"), attribute("age", .integer32, default: 18),
            attribute("nick", .string), transient("note", .string),
        ]
        engineer.properties = [attribute("language", .string, default: "Swift")]
        person.subentities = [engineer]
        badge.properties = [attribute("number", .integer64, default: 0)]
        skill.properties = [attribute("name", .string)]
        relate(department, "employees", many: true, person, "department", many: false)
        relate(person, "reports", many: true, person, "manager", many: false)
        relate(person, "badge", many: false, badge, "person", many: false)
        relate(person, "skills", many: true, skill, "people", many: true)
        return NSManagedObjectModel(entities: [department, person, engineer, badge, skill] + library() + [item()])
    }

    private static func library() -> [NSEntityDescription] {
        let playlist = entity("Playlist"), track = entity("Track"), folder = entity("Folder")
        let account = entity("Account"), order = entity("Order")
        for entity in [playlist, track, folder, account, order] { entity.properties = [attribute("title", .string)] }
        relate(playlist, "tracks", many: true, track, "playlist", many: false, ordered: true)
        relate(folder, "children", many: true, folder, "parent", many: false, rule: .cascadeDeleteRule)
        relate(account, "orders", many: true, order, "account", many: false, rule: .denyDeleteRule)
        relate(account, "archive", many: true, order, "archiveAccount", many: false, rule: .noActionDeleteRule)
        return [playlist, track, folder, account, order]
    }

    private static func item() -> NSEntityDescription {
        let item = entity("Item")
        item.properties = [
            attribute("key", .string), attribute("a", .integer64, default: 0), attribute("b", .integer64, default: 0),
            attribute("c", .integer64, default: 0),
        ]
        item.uniquenessConstraints = [["key"]]
        return item
    }

    // MARK: Descriptions in one line

    public static func entity(_ name: String, _ type: NSManagedObject.Type? = nil) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        if let type { entity.setManagedObjectClass(type) }
        return entity
    }

    public static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, optional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type, isOptional: optional, defaultValue: value)
    }

    public static func transient(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        let attribute = attribute(name, type)
        attribute.isTransient = true
        return attribute
    }

    /// A relationship and its inverse. `rule` is what deleting `owner` does.
    public static func relate(
        _ owner: NSEntityDescription, _ name: String, many: Bool, _ target: NSEntityDescription, _ inverse: String, many inverseMany: Bool,
        ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let there = NSRelationshipDescription(name: name, destination: target, toMany: many, deleteRule: rule, isOrdered: ordered)
        let back = NSRelationshipDescription(name: inverse, destination: owner, toMany: inverseMany)
        owner.properties += [there]
        target.properties += [back]
        there.inverseRelationship = back
    }
}
