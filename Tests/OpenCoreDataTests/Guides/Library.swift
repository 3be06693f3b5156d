import Foundation
import OpenCoreData

// What the guides speak of: authors and their books.

// snippet: classes
final class Author: NSManagedObject {
    @Managed var name: String
    @Managed var books: Set<Book>
}

final class Book: NSManagedObject {
    @Managed var title: String
    @Managed var isbn: String?
    @Managed var copies: Int64
    @Managed var price: Double
    @Managed var author: Author?
}
// end

// snippet: model
func libraryModel() -> NSManagedObjectModel {
    let author = NSEntityDescription()
    author.name = "Author"
    author.managedObjectClassName = NSStringFromClass(Author.self)
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = NSStringFromClass(Book.self)
    book.uniquenessConstraints = [["isbn"]]

    let books = NSRelationshipDescription(name: "books", destination: book, toMany: true, deleteRule: .cascadeDeleteRule)
    let writer = NSRelationshipDescription(name: "author", destination: author, toMany: false)
    books.inverseRelationship = writer

    author.properties = [NSAttributeDescription(name: "name", type: .string, isOptional: false), books]
    book.properties = [
        NSAttributeDescription(name: "title", type: .string, isOptional: false),
        NSAttributeDescription(name: "isbn", type: .string),
        NSAttributeDescription(name: "copies", type: .integer64, defaultValue: 0),
        NSAttributeDescription(name: "price", type: .double, defaultValue: 0.0),
        writer,
    ]
    return NSManagedObjectModel(entities: [author, book])
}
// end

/// A folder of one test, and contexts on stores in it.
final class LibraryFixture {
    let folder: URL
    let model = libraryModel()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("guides-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appendingPathComponent("Library.sqlite") }

    /// A coordinator with a store in memory.
    func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    /// The titles that the file holds, read by a stack of its own.
    func storedTitles() throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: libraryModel())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
        defer { try? coordinator.remove(store) }
        let reader = context(on: coordinator)
        return try reader.performAndWait { try titles(in: reader) }
    }
}

/// A private-queue context on a coordinator.
func context(on coordinator: NSPersistentStoreCoordinator, policy: NSMergePolicy = .error) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    return context
}

/// The titles that a context sees, sorted. On its queue.
func titles(in context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request).map(\.title)
}
