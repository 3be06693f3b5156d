import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct RefusedImportTests {
    /// A context with what is saved, changed, new and deleted, so that there is something to be spoilt.
    private func using(_ block: (NSManagedObjectContext) throws -> Void) throws {
        try Library().using { context in
            let seed: [[String: Any]] = [["id": 1, "name": "Ada", "books": ["1", "2"], "publishedBy": "T"], ["id": 2, "books": ["3"]], ["id": 3]]
            try context.importObjects(Author.self, from: seed)
            try context.save()
            try context.importObjects(Author.self, from: [["id": 1, "name": "changed"], ["id": 4, "books": ["4"]]] as [[String: Any]])
            try Author.findFirst(by: "id", value: 3, in: context)?.delete()
            try block(context)
        }
    }

    @Test func failingImportsLeaveTheContextUntouched() throws {
        let good: [String: Any] = ["id": 1, "name": "Lost", "books": ["3", ["isbn": "9", "tags": ["x"]]] as [Any], "publishedBy": ["code": "N"]]
        let bad: [[String: Any]] = [
            ["id": 5, "age": "old"], ["id": 5, "refuse": true], ["id": 5, "books": "1"], ["id": 5, "publishedBy": ["T"]],
            ["id": 5, "publishedBy": ["code": ["nested"]]], ["id": 5, "books": [["isbn": "1"], NSNull()] as [Any]],
            ["id": 5, "books": [["isbn": "1", "chapters": ["no key"]] as [String: Any]]], ["id": Double.nan], ["id": "5.5"],
        ]
        for record in bad {
            try using { context throws in
                let before = try ContextState(context)
                #expect(throws: (any Error).self) { try context.importObjects(Author.self, from: [good, record]) }
                #expect(try ContextState(context) == before)
                try context.save()
            }
        }
    }

    @Test func anErrorSaysWhereWhatAndWhatToDo() throws {
        try using { context throws in
            let record: [String: Any] = [
                "id": 5, "publishedBy": ["code": "N", "authors": [6, ["id": 7, "address": ["city": true]]] as [Any]] as [String: Any],
            ]
            let error = #expect(throws: RecordError.self) { try context.importObjects(Author.self, from: [["id": 1], record]) }
            #expect(error?.place == "$[1].publishedBy.authors[1].address.city")
            #expect(error?.entity == "Author")
            #expect(error?.property == "city")
            #expect(error?.value == "true")
            #expect(error?.description == "$[1].publishedBy.authors[1].address.city: Author.city: true: is no text; give text or a number")
            #expect(error?.localizedDescription == error?.description)
        }
    }

    @Test func aKeyOfSomethingWithoutAKeyIsRefused() throws {
        try using { context throws in
            let error = #expect(throws: RecordError.self) { try context.importObject(Book.self, from: ["isbn": "1", "chapters": ["first"]]) }
            #expect(error?.place == "$.chapters[0]")
            #expect(error?.problem == "is a key, but nothing says by which attribute objects are recognised")
        }
    }

    @Test func aSubclassThatTheEntityDoesNotHaveIsRefusedBeforeAnythingIsMade() throws {
        try Library().using { context throws in
            let error = #expect(throws: RecordError.self) { try context.importObjects(Dog.self, from: [["kind": "cat", "name": "Tom"]]) }
            #expect(error?.entity == "Dog")
            let other = #expect(throws: RecordError.self) { try context.importObjects(Dog.self, from: [["name": "Rex"], ["kind": "wolf"]]) }
            #expect(other?.problem == "its objects are not of the class Dog")
            #expect(!context.hasChanges)
        }
    }

    @Test func objectsOfAClassThatSeveralModulesDeclareAreNotLeftOutOfTheAnswer() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("several-\(UUID().uuidString)/Twofold.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let text = """
            <model><entity name="Twofold" representedClassName="Twofold">
            <attribute name="name" optional="YES" attributeType="String"/></entity></model>
            """
        try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        let model = try #require(NSManagedObjectModel(contentsOf: folder))
        let container = NSPersistentContainer(name: "Twofold", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let error = #expect(throws: RecordError.self) { try context.importObjects(Twofold.self, from: [["name": "a"]]) }
            #expect(error?.problem == "its objects are not of the class Twofold" && error?.remedy.contains("write it with its module") == true)
            #expect(!context.hasChanges)
            #expect(try context.importObjects(entityName: "Twofold", from: [["name": "a"]]).count == 1)
            // Nor are they when they are looked for.
            #expect(throws: (any Error).self) { try Twofold.findAll(in: context) }
        }
    }
}

/// Other modules of the tests have classes of this name, too.
final class Twofold: NSManagedObject {}
