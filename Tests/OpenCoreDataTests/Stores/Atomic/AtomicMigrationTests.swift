import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Files that are written as a whole, and another version of the model.
@Suite struct AtomicMigrationTests {
    private static func first() -> NSManagedObjectModel {
        let author = StoreModels.entity("Author", [StoreModels.attribute("name", .string), StoreModels.attribute("age", .integer16)])
        let book = StoreModels.entity("Book", [StoreModels.attribute("title", .string)])
        StoreModels.relate(author, "books", toMany: true, ordered: true, book, "author", inverseToMany: false)
        StoreModels.relate(author, "likes", toMany: true, book, "likedBy", inverseToMany: true)
        return NSManagedObjectModel(entities: [author, book])
    }

    /// Author is Writer, its name is fullName, its age is gone, it has a mood.
    private static func second() -> NSManagedObjectModel {
        let mood = StoreModels.attribute("mood", .string), name = StoreModels.attribute("fullName", .string)
        mood.defaultValue = "calm"
        name.renamingIdentifier = "name"
        let writer = StoreModels.entity("Writer", [name, mood]), book = StoreModels.entity("Book", [StoreModels.attribute("title", .string)])
        writer.renamingIdentifier = "Author"
        StoreModels.relate(writer, "books", toMany: true, ordered: true, book, "author", inverseToMany: false)
        StoreModels.relate(writer, "likes", toMany: true, book, "likedBy", inverseToMany: true)
        return NSManagedObjectModel(entities: [writer, book])
    }

    private static let migrating = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]

    private func filled(_ type: String) throws -> (AtomicWorld, [URL]) {
        let world = try AtomicWorld(type, Self.first())
        var uris: [URL] = []
        try world.open().saving { context in
            let ada = context.make("Author", ["name": "Ada", "age": 36]), books = ["b", "a"].map { context.make("Book", ["title": $0]) }
            ada.setValue(NSOrderedSet(array: books), forKey: "books")
            ada.setValue(Set([books[1]]), forKey: "likes")
            try context.save()
            ada.setValue(37, forKey: "age")
            try context.save()
            uris = [ada].map { $0.objectID.uriRepresentation() } + books.map { $0.objectID.uriRepresentation() }
        }
        return (world, uris)
    }

    // G1
    @Test(arguments: AtomicWorld.types) func rowsKeysAndOrdersComeToTheNewVersion(_ type: String) throws {
        let (world, uris) = try filled(type)
        let old = try world.open(), before = try old.onlyStore.identifier
        var gone: Int64 = 0
        try old.saving { context in
            let book: NSManagedObject = context.make("Book")
            try context.save()
            gone = book.objectID.key
            context.delete(book)
        }
        let context = try world.open(Self.second(), options: Self.migrating)
        #expect(try context.onlyStore.identifier == before && world.files == ["Store"])
        try context.saving { context in
            let ada = try #require(try context.all("Writer").first), books = try #require(ada.value(forKey: "books") as? NSOrderedSet)
            #expect(ada.value(forKey: "fullName") as? String == "Ada" && ada.value(forKey: "mood") as? String == "calm")
            #expect((books.array as? [NSManagedObject])?.map { $0.value(forKey: "title") as? String } == ["b", "a"])
            #expect(((ada.value(forKey: "likes") as? Set<NSManagedObject>)?.first?.value(forKey: "title") as? String) == "a")
            #expect((books.array as? [NSManagedObject])?.map { $0.objectID.uriRepresentation() } == Array(uris[1...]))
            let bea: NSManagedObject = context.make("Writer", ["fullName": "Bea"])
            // No key is given twice, also that of a book that is no more.
            #expect(bea.objectID.key > gone)
        }
        // It is of the new version now.
        #expect(try world.open(Self.second()).count("Writer") == 2)
        #expect(told { _ = try world.open(Self.first()) }.code == 134100)
    }

    // G1
    @Test(arguments: AtomicWorld.types) func withoutTheOptionItIsRefusedAndUntouched(_ type: String) throws {
        let (world, _) = try filled(type)
        let before = try Data(contentsOf: world.file)
        let refused = told { _ = try world.open(Self.second()) }
        #expect(refused.code == 134100 && refused.sentence.contains(world.file.path) && refused.sentence.contains("Author"), "\(refused)")
        #expect(told { _ = try world.open(Self.second(), options: [NSMigratePersistentStoresAutomaticallyOption: true]) }.code == 134140)
        let readOnly = Self.migrating.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        #expect(told { _ = try world.open(Self.second(), options: readOnly) }.sentence.contains("read-only"))
        // What can't be inferred is said of this file, not of the one in between.
        let other = Self.second()
        other.entitiesByName["Book"]?.attributesByName["title"]?.attributeType = .dateAttributeType
        let impossible = told { _ = try world.open(other, options: Self.migrating) }
        #expect(impossible.code == 134190 && !impossible.sentence.contains(".sqlite"), "\(impossible)")
        #expect(try Data(contentsOf: world.file) == before && world.files == ["Store"])
    }

    // A8
    @Test(arguments: AtomicWorld.types) func derivedAttributesAreRefused(_ type: String) throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "folded"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "canonical:(name)")
        let model = NSManagedObjectModel(entities: [StoreModels.entity("Item", [StoreModels.attribute("name", .string), derived])])
        let world = try AtomicWorld(type, model)
        #expect(told { _ = try world.open() }.code == 134020 && world.files == [])
    }

    // S1
    @Test(arguments: AtomicWorld.types) func theFileSaysWhichModelItWasMadeWith(_ type: String) throws {
        let (world, _) = try filled(type)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: world.file)
        #expect(Self.first().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!Self.second().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let file = try StoreTypes.file(at: world.file, type, nil)
        #expect(try file.model()?.entityVersionHashesByName == Self.first().entityVersionHashesByName)
    }
}
