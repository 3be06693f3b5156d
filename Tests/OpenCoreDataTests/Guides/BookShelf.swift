// snippet: plain
import CoreData
import Foundation

/// As it is written for Apple's platforms: nothing here knows which Core Data it is.
final class BookShelf {
    let container: NSPersistentContainer

    init(storeURL: URL) throws {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.isOptional = false
        let pages = NSAttributeDescription()
        pages.name = "pages"
        pages.attributeType = .integer32AttributeType
        pages.defaultValue = 0
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = "NSManagedObject"
        book.properties = [title, pages]
        let model = NSManagedObjectModel()
        model.entities = [book]

        container = NSPersistentContainer(name: "BookShelf", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: storeURL)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    func add(_ title: String, pages: Int) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue(title, forKey: "title")
            book.setValue(pages, forKey: "pages")
            if context.hasChanges { try context.save() }
        }
    }

    func titles(longerThan pages: Int, containing text: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages > %d AND title CONTAINS[cd] %@", pages, text)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        request.fetchLimit = 10
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
        }
    }

    func remove(_ title: String) async throws -> Int {
        try await container.performBackgroundTask { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "%K == %@", "title", title)
            let books = try context.fetch(request)
            books.forEach(context.delete)
            try context.save()
            return books.count
        }
    }
}
// end
