import CoreData
import Foundation

/// Codegen "Manual/None": the class and its properties are written by hand.
final class Book: NSManagedObject {
    enum Genre: Int16 {
        case novel, essay, poetry
    }

    @NSManaged var title: String
    @NSManaged var pages: Int32
    @NSManaged var price: NSDecimalNumber?
    @NSManaged var isbn: String?
    @NSManaged private(set) var addedAt: Date?
    @NSManaged private var genreValue: Int16
    @NSManaged var author: Author?
    @NSManaged var shelf: Shelf?
    @NSManaged var tags: Set<Tag>

    var genre: Genre {
        get { Genre(rawValue: genreValue) ?? .novel }
        set { genreValue = newValue.rawValue }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveAddedAt = Date()
    }
}

// MARK: Generated accessors for tags

extension Book {
    @NSManaged func addToTags(_ value: Tag)
    @NSManaged func removeFromTags(_ value: Tag)
    @NSManaged func addToTags(_ values: NSSet)
    @NSManaged func removeFromTags(_ values: NSSet)

    @NSManaged private var primitiveAddedAt: Date?

    class func fetchRequest() -> NSFetchRequest<Book> {
        NSFetchRequest<Book>(entityName: "Book")
    }
}

extension Book: Identifiable {}
