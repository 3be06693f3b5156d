import CoreData
import Foundation
import OpenCoreDataConvenience

final class Author: NSManagedObject, Importable {
    @Managed var id: Int64
    @Managed var name: String?
    @Managed var age: Int32
    @Managed var rating: Double
    @Managed var balance: Decimal
    @Managed var born: Date?
    @Managed var city: String?
    @Managed var note: String?
    @Managed var books: Set<Book>
    @Managed var publisher: Publisher?
    /// What the hooks saw, in order.
    var calls: [String] = []

    static func shouldImport(_ record: [String: Any]) throws -> Bool {
        if record["refuse"] != nil { throw CocoaError(.validationMultipleErrors) }
        return record["skip"] == nil
    }

    func willImport(_ record: [String: Any]) { calls.append("will \(name ?? "nobody")") }
    func didImport(_ record: [String: Any]) { calls.append("did \(name ?? "nobody") with \(books.count) books") }
}

final class Book: NSManagedObject {
    @Managed var isbn: String?
    @Managed var title: String?
    @Managed var author: Author?
    @Managed var tags: Set<Tag>
    @Managed var chapters: [Chapter]
}

final class Publisher: NSManagedObject {
    @Managed var code: String?
    @Managed var country: String?
    @Managed var authors: Set<Author>
}

final class Tag: NSManagedObject {
    @Managed var name: String?
    @Managed var books: Set<Book>
}

final class Chapter: NSManagedObject {
    @Managed var heading: String?
    @Managed var book: Book?
}

class Animal: NSManagedObject, Importable {
    @Managed var name: String?

    class func entityName(for record: [String: Any]) throws -> String? { (record["kind"] as? String)?.capitalized }
}

final class Dog: Animal {}
final class Cat: Animal {}

final class Setting: NSManagedObject {
    @Managed var remoteID: String?
    @Managed var value: Int64
}

/// Values of every type.
final class Sample: NSManagedObject, Importable {
    @Managed var small: Int16
    @Managed var medium: Int32
    @Managed var large: Int64
    @Managed var exact: Decimal
    @Managed var double: Double
    @Managed var float: Float
    @Managed var flag: Bool
    @Managed var text: String?
    @Managed var date: Date?
    @Managed var data: Data?
    @Managed var uuid: UUID?
    @Managed var uri: URL?
    @Managed var day: Date?
    @Managed var instant: Date?

    static func importedValue(_ value: Any, for attribute: String) throws -> Any {
        attribute == "colour" ? (value as? String)?.split(separator: ",").compactMap { Int($0) } ?? value : value
    }
}

enum LibraryModel {
    private static func point() -> NSCompositeAttributeDescription {
        let point = NSCompositeAttributeDescription()
        point.name = "point"
        point.elements = [attribute("x", .double), attribute("label", .string)]
        return point
    }

    static func make() -> NSManagedObjectModel {
        let author = entity("Author", Author.self, userInfo: ["relatedByAttribute": "id"])
        let book = entity("Book", Book.self)
        let publisher = entity("Publisher", Publisher.self)
        let tag = entity("Tag", Tag.self, userInfo: ["relatedByAttribute": "name"])
        let chapter = entity("Chapter", Chapter.self)
        let animal = entity("Animal", Animal.self, userInfo: ["relatedByAttribute": "name"])
        animal.isAbstract = true
        animal.properties = [attribute("name", .string)]
        let dog = entity("Dog", Dog.self), cat = entity("Cat", Cat.self)
        animal.subentities = [dog, cat]
        // Its objects are no dogs to Swift.
        let wolf = entity("Wolf", NSManagedObject.self)
        dog.subentities = [wolf]

        author.properties = [
            attribute("id", .integer64), attribute("name", .string), attribute("age", .integer32), attribute("rating", .double),
            attribute("balance", .decimal),
            attribute("born", .date, userInfo: ["dateFormat": "d.M.yyyy", "dateFormat.1": "yyyy-MM-dd"]),
            attribute("city", .string, userInfo: ["mappedKeyName": "address.city", "mappedKeyName.1": "town"]),
            attribute("note", .string, defaultValue: "none", userInfo: ["useDefaultValueWhenNotPresent": "YES"]),
        ]
        book.properties = [attribute("isbn", .string), attribute("title", .string)]
        book.uniquenessConstraints = [["isbn"]]
        publisher.properties = [attribute("publisherID", .integer32), attribute("code", .string), attribute("country", .string)]
        tag.properties = [attribute("name", .string)]
        chapter.properties = [attribute("heading", .string)]
        join(author, "books", toMany: true, book, "author", toMany: false)
        join(author, "publisher", toMany: false, publisher, "authors", toMany: true)
        author.relationshipsByName["publisher"]?.userInfo = ["relatedByAttribute": "code", "mappedKeyName": "publishedBy"]
        join(book, "tags", toMany: true, tag, "books", toMany: true)
        join(book, "chapters", toMany: true, chapter, "book", toMany: false)
        book.relationshipsByName["chapters"]?.isOrdered = true

        let sample = entity("Sample", Sample.self)
        // As a model's file names it: without the module.
        sample.managedObjectClassName = "Sample"
        sample.properties = [
            attribute("small", .integer16), attribute("medium", .integer32), attribute("large", .integer64), attribute("exact", .decimal),
            attribute("double", .double), attribute("float", .float), attribute("flag", .boolean), attribute("text", .string),
            attribute("date", .date), attribute("data", .binaryData), attribute("uuid", .uuid), attribute("uri", .uri),
            attribute("day", .date, userInfo: ["dateFormat": "d.M.yyyy", "dateFormat.1": "yyyy-MM-dd"]),
            attribute("instant", .date, userInfo: ["dateFormat": "UnixTime"]), attribute("colour", .transformable), point(),
        ]
        let setting = entity("Setting", Setting.self)
        setting.properties = [attribute("remoteID", .string, defaultValue: "main"), attribute("value", .integer64, defaultValue: 0)]
        return NSManagedObjectModel(entities: [author, book, publisher, tag, chapter, animal, dog, cat, wolf, sample, setting])
    }

    static func entity(_ name: String, _ type: NSManagedObject.Type, userInfo: [AnyHashable: Any]? = nil) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.setManagedObjectClass(type)
        entity.userInfo = userInfo
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, defaultValue: Any? = nil, userInfo: [AnyHashable: Any]? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription(name: name, type: type, defaultValue: defaultValue)
        attribute.userInfo = userInfo
        return attribute
    }

    private static func join(
        _ left: NSEntityDescription, _ there: String, toMany: Bool, _ right: NSEntityDescription, _ back: String, toMany backToMany: Bool
    ) {
        let forth = NSRelationshipDescription(name: there, destination: right, toMany: toMany)
        let inverse = NSRelationshipDescription(name: back, destination: left, toMany: backToMany)
        forth.inverseRelationship = inverse
        inverse.inverseRelationship = forth
        left.properties += [forth]
        right.properties += [inverse]
    }
}
