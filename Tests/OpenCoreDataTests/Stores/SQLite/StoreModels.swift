import Foundation
import OpenCoreData

/// Models for the tests of stores.
enum StoreModels {
    static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type)
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    /// Relates two entities both ways.
    static func relate(
        _ first: NSEntityDescription, _ name: String, toMany: Bool, ordered: Bool = false, _ second: NSEntityDescription, _ inverseName: String,
        inverseToMany: Bool, inverseOrdered: Bool = false
    ) {
        let forth = NSRelationshipDescription(name: name, destination: second, toMany: toMany, isOrdered: ordered)
        let back = NSRelationshipDescription(name: inverseName, destination: first, toMany: inverseToMany, isOrdered: inverseOrdered)
        forth.inverseRelationship = back
        first.properties += [forth]
        second.properties += [back]
    }

    /// The example of the numbering: roots Animal and Person, Animal ← Dog ← Puppy.
    static func animals() -> NSManagedObjectModel {
        let animal = entity("Animal", [attribute("name", .string), attribute("born", .date)])
        let dog = entity("Dog", [attribute("breed", .string)])
        let puppy = entity("Puppy", [attribute("weeks", .integer16)])
        let person = entity("Person", [attribute("name", .string), attribute("age", .integer32)])
        animal.subentities = [dog]
        dog.subentities = [puppy]
        relate(animal, "owner", toMany: false, person, "pets", inverseToMany: true)
        let favourite = NSRelationshipDescription(name: "favourite", destination: animal, toMany: false)
        person.properties += [favourite]
        return NSManagedObjectModel(entities: [person, puppy, animal, dog])
    }

    /// One attribute of every type.
    static func everything() -> NSManagedObjectModel {
        let hidden = attribute("hidden", .string)
        hidden.isTransient = true
        return NSManagedObjectModel(entities: [
            entity(
                "Thing",
                [
                    attribute("small", .integer16), attribute("medium", .integer32), attribute("large", .integer64), attribute("flag", .boolean),
                    attribute("real", .double), attribute("short", .float), attribute("money", .decimal), attribute("text", .string),
                    attribute("when", .date), attribute("bytes", .binaryData), attribute("uuid", .uuid), attribute("link", .uri),
                    attribute("list", .transformable), hidden,
                ])
        ])
    }

    /// Uniqueness constraints: single, of two attributes, of a UUID, inherited, and of a subentity alone.
    static func keys() -> NSManagedObjectModel {
        let city = entity("City", [attribute("code", .string), attribute("number", .integer64), attribute("name", .string)])
        city.uniquenessConstraints = [["code"], ["number"]]
        let pair = entity("Pair", [attribute("left", .string), attribute("right", .date), attribute("note", .string)])
        pair.uniquenessConstraints = [["left", "right"]]
        let token = entity("Token", [attribute("uuid", .uuid), attribute("amount", .decimal)])
        token.uniquenessConstraints = [["uuid"], ["amount"]]
        let item = entity("Item", [attribute("serial", .integer64), attribute("tag", .string)])
        item.uniquenessConstraints = [["serial"]]
        let labelled = entity("Labelled"), plain = entity("Plain")
        item.subentities = [labelled, plain]
        labelled.uniquenessConstraints = [["tag"]]
        return NSManagedObjectModel(entities: [city, pair, token, item, labelled, plain])
    }

    /// Every way in which a to-many is kept.
    static func relations() -> NSManagedObjectModel {
        let author = entity("Author", [attribute("name", .string)]), book = entity("Book", [attribute("title", .string)])
        let tag = entity("Tag", [attribute("word", .string)])
        relate(author, "books", toMany: true, ordered: true, book, "author", inverseToMany: false)
        relate(book, "tags", toMany: true, tag, "books", inverseToMany: true)
        relate(book, "chapters", toMany: true, ordered: true, tag, "chapterOf", inverseToMany: true)
        let seen = NSRelationshipDescription(name: "seen", destination: book, toMany: true)
        let friends = NSRelationshipDescription(name: "friends", destination: author, toMany: true)
        author.properties += [seen, friends]
        friends.inverseRelationship = friends
        return NSManagedObjectModel(entities: [author, book, tag])
    }
}
