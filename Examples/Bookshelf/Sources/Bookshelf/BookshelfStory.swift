import CoreData
import Foundation

/// What one does with a store of books: make, find, change, and delete them.
public struct BookshelfStory {
    private let controller: PersistenceController
    private var context: NSManagedObjectContext { controller.container.viewContext }
    private let tell: (String) -> Void

    public init(storeURL: URL, tell: @escaping (String) -> Void) throws {
        controller = try PersistenceController(storeURL: storeURL)
        self.tell = tell
    }

    public func run() throws {
        try insert()
        try fetch()
        try arrange()
        try update()
        try delete()
    }

    private func insert() throws {
        let woolf = Author(context: context)
        woolf.id = UUID()
        woolf.name = "Virginia Woolf"
        let kafka = Author(context: context)
        kafka.id = UUID()
        kafka.name = "Franz Kafka"
        let classic = Tag(context: context)
        classic.name = "classic"

        for (title, pages, genre, author) in [
            ("Mrs Dalloway", 194, Book.Genre.novel, woolf), ("The Waves", 228, .novel, woolf), ("A Room of One's Own", 111, .essay, woolf),
            ("The Trial", 255, .novel, kafka), ("The Castle", 316, .novel, kafka),
        ] {
            let book = Book(context: context)
            book.title = title
            book.pages = Int32(pages)
            book.genre = genre
            book.price = NSDecimalNumber(string: "12.50")
            author.addToBooks(book)
            if pages > 200 { book.addToTags(classic) }
        }
        try context.save()
        tell("saved \(try context.count(for: Book.fetchRequest())) books of \(try context.count(for: Author.fetchRequest())) authors")
    }

    private func fetch() throws {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = NSPredicate(format: "pages > %d AND author.name BEGINSWITH %@", 150, "Virginia")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
        tell("long ones of Virginia's: \(try context.fetch(request).map(\.title).joined(separator: ", "))")

        let tags: NSFetchRequest<Tag> = Tag.fetchRequest()
        for tag in try context.fetch(tags) { tell("\(tag.name ?? "?"): \(tag.books?.count ?? 0) books") }
    }

    private func arrange() throws {
        let shelf = Shelf(context: context)
        shelf.name = "By the window"
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
        for book in try context.fetch(request).prefix(3) { shelf.addToBooks(book) }
        guard let first = shelf.books?.firstObject as? Book else { return }
        shelf.removeFromBooks(at: 0)
        shelf.insertIntoBooks(first, at: 2)
        try context.save()
        tell("\(shelf.name ?? "?"): \(shelf.titles.joined(separator: ", "))")
    }

    private func update() throws {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = NSPredicate(format: "%K == %@", "title", "The Trial")
        guard let book = try context.fetch(request).first else { return }
        book.pages += 1
        book.removeFromTags(NSSet(set: book.tags))
        tell("changed: \(book.changedValues().keys.sorted().joined(separator: ", "))")
        try context.save()
        context.refresh(book, mergeChanges: false)
        tell("\(book.title) has \(book.pages) pages, \(book.tags.count) tags and costs \(book.price ?? 0); added: \(book.addedAt != nil)")
    }

    private func delete() throws {
        let request: NSFetchRequest<Author> = Author.fetchRequest()
        request.predicate = NSPredicate(format: "name == %@", "Franz Kafka")
        for author in try context.fetch(request) { context.delete(author) }
        try context.save()
        tell("without Kafka \(try context.count(for: Book.fetchRequest())) books are left")
        let shelves: NSFetchRequest<Shelf> = Shelf.fetchRequest()
        for shelf in try context.fetch(shelves) { tell("\(shelf.name ?? "?"): \(shelf.titles.joined(separator: ", "))") }
    }
}
