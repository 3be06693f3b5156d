import OpenCoreData
import Testing

/// Authors, books and tags with values that are derived in every way that there is.
enum DerivedLibrary {
    static func derived(_ name: String, _ type: NSAttributeDescription.AttributeType, _ expression: String) -> NSDerivedAttributeDescription {
        let made = NSDerivedAttributeDescription()
        made.name = name
        made.type = type
        made.derivationExpression = NSExpression(format: expression)
        return made
    }

    static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let country = StoreModels.entity("Country", [attribute("name", .string), derived("books", .integer64, "authors.books.@count")])
        let author = StoreModels.entity(
            "Author",
            [
                attribute("name", .string), derived("bookCount", .integer32, "books.@count"), derived("pages", .integer64, "books.pages.@sum"),
                derived("worth", .decimal, "books.price.@sum"), derived("longest", .integer64, "books.@max.pages"),
                derived("shortest", .integer64, "books.pages.@min"), derived("middle", .double, "books.@avg.pages"),
                derived("mentorName", .string, "mentor.name"), derived("friendCount", .integer16, "friends.@count"),
                derived("tagCount", .integer64, "books.tags.@count"),
            ])
        let book = StoreModels.entity(
            "Book",
            [
                attribute("title", .string), attribute("pages", .integer64), attribute("price", .decimal),
                derived("key", .string, "canonical:(title)"), derived("loud", .string, "uppercase:(author.name)"),
                derived("copy", .string, "title"), derived("countryName", .string, "author.country.name"),
                derived("tagCount", .integer64, "tags.@count"), derived("halves", .double, "pages / 2.0"),
            ])
        let novel = StoreModels.entity("Novel", [attribute("hero", .string), derived("heroKey", .string, "lowercase:(hero)")])
        let tag = StoreModels.entity("Tag", [attribute("name", .string), derived("pages", .double, "books.@sum.pages")])
        book.subentities = [novel]
        StoreModels.relate(country, "authors", toMany: true, author, "country", inverseToMany: false)
        StoreModels.relate(author, "books", toMany: true, book, "author", inverseToMany: false)
        StoreModels.relate(author, "pupils", toMany: true, author, "mentor", inverseToMany: false)
        StoreModels.relate(book, "tags", toMany: true, tag, "books", inverseToMany: true)
        let friends = NSRelationshipDescription(name: "friends", destination: author, toMany: true)
        friends.inverseRelationship = friends
        author.properties += [friends]
        author.relationshipsByName["books"]?.deleteRule = .cascadeDeleteRule
        return NSManagedObjectModel(entities: [country, author, book, novel, tag])
    }

    /// What is wrong with the derived values of an object: each is what its expression gives in memory.
    static func faults(of object: NSManagedObject) -> [String] {
        object.entity.attributesByName.values.compactMap { attribute in
            guard let attribute = attribute as? NSDerivedAttributeDescription, let expression = attribute.derivationExpression else { return nil }
            let kept = text(object.value(forKey: attribute.name)), computed = text(expression.expressionValue(with: object, context: nil))
            return kept == computed ? nil : "\(object.entity.name ?? "").\(attribute.name) is \(kept) instead of \(computed)"
        }
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: "nil"
        case let decimal as Decimal: "\(NSDecimalNumber(decimal: decimal).doubleValue)"
        case let number as NSNumber: "\(number.doubleValue)"
        case let integer as any BinaryInteger: "\(Double(integer))"
        case let value?: "\(value)"
        }
    }
}
