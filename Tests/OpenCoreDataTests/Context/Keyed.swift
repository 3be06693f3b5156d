import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A graph in which most objects have a unique key and every kind of relationship is there: things (some of them special) with a code, on shelves in
/// an order, at spots of a compound key, in boxes that take them along when they go, with tags in an order and a badge of their own; notes in a
/// store apart.
enum Keyed {
    static let codes = ["p", "q", "r", "s"]
    static let numbers = ["a", "b", "c"]

    /// - Parameter isCounted: whether `counts` is a rule of the model.
    static func model(isCounted: Bool = false) -> NSManagedObjectModel {
        let thing = Company.entity("Thing"), special = Company.entity("Special"), spot = Company.entity("Spot")
        let shelf = Company.entity("Shelf"), box = Company.entity("Box"), tag = Company.entity("Tag"), badge = Company.entity("Badge")
        thing.properties = [Company.attribute("code", .string)] + numbers.map { Company.attribute($0, .integer64, default: 0) }
        thing.uniquenessConstraints = [["code"]]
        special.properties = [Company.attribute("d", .integer64, default: 0)]
        thing.subentities = [special]
        spot.properties = [Company.attribute("x", .string), Company.attribute("y", .string), Company.attribute("a", .integer64, default: 0)]
        spot.uniquenessConstraints = [["x", "y"]]
        for entity in [shelf, tag] {
            entity.properties = [Company.attribute("code", .string), Company.attribute("a", .integer64, default: 0)]
            entity.uniquenessConstraints = [["code"]]
        }
        badge.properties = [Company.attribute("a", .integer64, default: 0)]
        box.properties = [Company.attribute("a", .integer64, default: 0)]
        Company.relate(shelf, "things", many: true, thing, "shelf", many: false, ordered: true)
        Company.relate(spot, "things", many: true, thing, "spot", many: false)
        Company.relate(box, "things", many: true, thing, "box", many: false, rule: .cascadeDeleteRule)
        Company.relate(thing, "tags", many: true, tag, "things", many: true, ordered: true)
        Company.relate(thing, "badge", many: false, badge, "thing", many: false)
        Company.relate(thing, "kids", many: true, thing, "parent", many: false)
        for (name, bounds) in isCounted ? counts : [:] {
            thing.relationshipsByName[name]?.minCount = bounds.lowerBound
            thing.relationshipsByName[name]?.maxCount = bounds.upperBound
        }
        let apart = [note()], mine = [thing, special, spot, shelf, box, tag, badge], model = NSManagedObjectModel(entities: mine + apart)
        model.setEntities(mine, forConfigurationName: "Mine")
        model.setEntities(apart, forConfigurationName: "Apart")
        return model
    }

    /// How many members a to-many of a thing has, unless it has none. In sequences where values are compared no thing gets more tags than that: of two
    /// codes a level has at most two tags each.
    static let counts = ["kids": 2...3, "tags": 0...4]

    /// Kept in the second store.
    private static func note() -> NSEntityDescription {
        let note = Company.entity("Note")
        note.properties = [Company.attribute("code", .string), Company.attribute("a", .integer64, default: 0)]
        note.uniquenessConstraints = [["code"]]
        return note
    }

    /// The entities at the roots of their trees.
    static let entities = ["Thing", "Spot", "Shelf", "Box", "Tag", "Badge", "Note"]
    /// To-manys whose other side is a to-one: owner, relationship, member, to-one.
    static let oneToManys = [
        ("Shelf", "things", "Thing", "shelf"), ("Spot", "things", "Thing", "spot"), ("Box", "things", "Thing", "box"),
        ("Thing", "kids", "Thing", "parent"),
    ]
    /// The attributes of each unique key.
    static let keys = ["Thing": ["code"], "Spot": ["x", "y"], "Shelf": ["code"], "Tag": ["code"], "Note": ["code"]]

    /// The attributes of an entity that are numbers.
    static func numbers(of entity: String) -> [String] { entity == "Thing" ? numbers : ["a"] }

    /// The to-ones of a thing that are compared as values.
    static let toOnes = ["box", "shelf", "spot"]

    /// What an object with a key is until something is set; to-ones lead nowhere, which is 0.
    static func defaults(ofKey key: String) -> [String: Int] {
        let isThing = key.hasPrefix("Thing ")
        return Dictionary(uniqueKeysWithValues: (numbers(of: isThing ? "Thing" : "") + (isThing ? toOnes : [])).map { ($0, 0) })
    }

    /// What an object is called where values are compared: its unique key, or, of a box, the number in it.
    static func name(_ object: NSManagedObject) -> String? {
        object.entity.name == "Box" ? name(ofBox: object.value(forKey: "a") as? Int ?? 0) : key(object)
    }

    static func name(ofBox number: Int) -> String { "Box \(number)" }

    /// The unique key of an object in words; nil where it has none.
    static func key(_ object: NSManagedObject) -> String? {
        guard let root = entities.first(where: { object.entity.name == $0 || object.entity.superentity?.name == $0 }) else { return nil }
        guard let names = keys[root] else { return nil }
        let values = names.compactMap { object.value(forKey: $0) as? String }
        return values.count == names.count ? "\(root) \(values.joined(separator: "/"))" : nil
    }
}
