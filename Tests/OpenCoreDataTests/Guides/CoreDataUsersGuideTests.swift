import Foundation
import OpenCoreData
import Testing

// snippet: keyed
final class Traveller: NSManagedObject {
    @Managed var name: String?

    var greeting: String { "Dear \(name ?? "stranger")" }

    func validateName(_ name: inout String?) throws {
        if name == "" { throw CocoaError(.validationStringTooShort) }
        name = name?.trimmingCharacters(in: .whitespaces)
    }

    override class var keyedAccessors: [KeyedAccessor] { [KeyedAccessor("greeting", \Traveller.greeting)] }
    override class var keyedValidators: [KeyedValidator] { [KeyedValidator("name", Traveller.validateName)] }
}
// end

/// The examples of the guide "For Core Data users on Apple platforms".
@Suite struct CoreDataUsersGuideTests {
    // O1, O2, C8
    @Test func codeForApplesPlatformsRunsAsItIs() async throws {
        let library = try LibraryFixture()
        let shelf = try BookShelf(storeURL: library.file)
        try shelf.add("Émile", pages: 600)
        try shelf.add("Emma", pages: 470)
        try shelf.add("Evelina", pages: 455)
        #expect(try shelf.titles(longerThan: 456, containing: "em") == ["Emma", "Émile"])
        #expect(try await shelf.remove("Emma") == 1)
        #expect(try shelf.titles(longerThan: 0, containing: "e") == ["Evelina", "Émile"])
        for store in shelf.container.persistentStoreCoordinator.persistentStores {
            try shelf.container.persistentStoreCoordinator.remove(store)
        }
        // It is in the file.
        let again = try BookShelf(storeURL: library.file)
        #expect(try again.titles(longerThan: 0, containing: "e") == ["Evelina", "Émile"])
    }

    // A1
    @Test func classesAreFoundByModuleAndName() throws {
        let entity = NSEntityDescription()
        entity.name = "Book"
        // snippet: class-name
        entity.managedObjectClassName = NSStringFromClass(Book.self)  // "Module.Book"
        // end
        #expect(entity.managedObjectClassName == "OpenCoreDataTests.Book")
        let context = context(on: try LibraryFixture().coordinator())
        context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            #expect(book is Book)
        }
    }

    // L26, L30
    @Test func whatIsFoundByNameOnApplesPlatformsIsNamed() throws {
        let entity = NSEntityDescription()
        entity.name = "Traveller"
        entity.setManagedObjectClass(Traveller.self)
        entity.properties = [NSAttributeDescription(name: "name", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = context(on: coordinator)
        try context.performAndWait {
            let traveller = Traveller(context: context)
            traveller.name = " Ada "
            try context.save()
            #expect(traveller.name == "Ada" && traveller.value(forKey: "greeting") as? String == "Dear Ada")
            traveller.name = ""
            #expect(throws: NSError.self) { try context.save() }
        }
    }

    // L1, O1
    @Test func theFirstStepsOfTheLandingPageWork() throws {
        let library = try LibraryFixture()
        let file = library.file
        var found: [String] = []
        // snippet: first-steps
        let container = NSPersistentContainer(name: "Library", managedObjectModel: libraryModel())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
        container.loadPersistentStores { _, error in
            if let error { preconditionFailure("the library can't be opened: \(error)") }
        }

        let context = container.newBackgroundContext()
        try context.performAndWait {
            let author = Author(context: context)
            author.name = "Jane Austen"
            let book = Book(context: context)
            book.title = "Emma"
            book.author = author
            try context.save()

            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "author.name BEGINSWITH %@", "Jane")
            found = try context.fetch(request).map(\.title)
        }
        // end
        #expect(found == ["Emma"])
        for store in container.persistentStoreCoordinator.persistentStores { try container.persistentStoreCoordinator.remove(store) }
        #expect(try library.storedTitles() == ["Emma"])
    }
}
