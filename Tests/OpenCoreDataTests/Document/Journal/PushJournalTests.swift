import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct PushJournalTests {
    // GB31
    @Test(arguments: [PushJournaling.written, .synchronized])
    func aPushedSaveIsThereAfterACrash(_ journaling: PushJournaling) throws {
        let fixture = try JournalFixture(), document = try fixture.opened(journaling)
        try document.push { $0.make("Item", ["key": "a", "a": 7]) }
        let again = try fixture.recovered(document)
        #expect(try again.look { try $0.all("Item").map { $0.value(forKey: "a") as? Int } } == [7])
        #expect(again.pushRecovery?.pushes == 1 && again.pushRecovery?.objects == 1 && again.pushRecovery?.isCommitted == true)
        #expect(!again.hasUnsavedChanges && again.errors.isEmpty && again.documentState == .normal)
        #expect(again.journalFiles.isEmpty && again.keptAside.isEmpty)
    }

    // GB31
    @Test func withoutAJournalNothingIsWrittenAndACrashLosesThePush() throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.off)
        try document.push { $0.make("Item") }
        #expect(!FileManager.default.fileExists(atPath: document.pushJournalURL.path))
        let again = try fixture.recovered(document)
        #expect(try again.look { try $0.all("Item").isEmpty } && again.pushRecovery == nil)
    }

    // GB31
    @Test func aJournalIsAppliedAlsoByADocumentThatKeepsNone() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        let again = try fixture.reopened(try fixture.crashed(document), .off)
        #expect(try again.look { try $0.values("Item", "key") } == ["a"])
        #expect(again.pushJournalSize == nil && again.journalFiles.isEmpty)
    }

    // GB31
    @Test func everyKindOfValueComesBack() throws {
        let fixture = try JournalFixture(StoreModels.everything()), document = try fixture.opened()
        let uuid = UUID(), link = try #require(URL(string: "https://example.org/a?b=c"))
        let values: [String: Any] = [
            "small": Int16.min, "medium": Int32.max, "large": Int64.min, "flag": true, "real": -0.0, "short": Float(1.5),
            "money": try #require(Decimal(string: "12345678901234567890.123456789")), "text": "e\u{301}\0\u{1F600}",
            "when": Date(timeIntervalSinceReferenceDate: -1.25), "bytes": Data([0, 255, 1]), "uuid": uuid, "link": link, "list": ["a", "b"],
            "hidden": "not kept",
        ]
        try document.push { $0.make("Thing", values) }
        try document.push { $0.make("Thing") }
        let again = try fixture.recovered(document)
        try again.look { context throws in
            let thing = try #require(try context.all("Thing", "text != nil").first)
            #expect(thing.value(forKey: "small") as? Int16 == .min && thing.value(forKey: "medium") as? Int32 == .max)
            #expect(thing.value(forKey: "large") as? Int64 == .min && thing.value(forKey: "flag") as? Bool == true)
            #expect(thing.value(forKey: "real") as? Double == 0 && thing.value(forKey: "short") as? Float == 1.5)
            #expect(thing.value(forKey: "money") as? Decimal == values["money"] as? Decimal)
            #expect((thing.value(forKey: "text") as? String).map { Array($0.utf8) } == Array("e\u{301}\0\u{1F600}".utf8))
            #expect(thing.value(forKey: "when") as? Date == Date(timeIntervalSinceReferenceDate: -1.25))
            #expect(thing.value(forKey: "bytes") as? Data == Data([0, 255, 1]) && thing.value(forKey: "uuid") as? UUID == uuid)
            #expect(thing.value(forKey: "link") as? URL == link && thing.value(forKey: "list") as? [String] == ["a", "b"])
            #expect(thing.value(forKey: "hidden") == nil)
            let empty = try #require(try context.all("Thing", "text == nil").first)
            #expect(["small", "flag", "money", "when", "bytes", "uuid", "link", "list"].allSatisfy { empty.value(forKey: $0) == nil })
        }
    }

    // GB31, A7, A8
    @Test func whatATransformerMakesComesBackAndWhatIsDerivedIsFound() throws {
        let colour = StoreModels.attribute("colour", .transformable), name = NSValueTransformerName("Colour \(UUID().uuidString)")
        ValueTransformer.setValueTransformer(ValueTransformerTests.ColourTransformer(), forName: name)
        colour.valueTransformerName = name.rawValue
        let pen = StoreModels.entity(
            "Pen", [StoreModels.attribute("name", .string), colour, DerivedLibrary.derived("key", .string, "canonical:(name)")])
        let fixture = try JournalFixture(NSManagedObjectModel(entities: [pen])), document = try fixture.opened()
        try document.push { $0.make("Pen", ["name": "ÄRGER", "colour": ValueTransformerTests.Colour(red: 1, green: 2)]) }
        let again = try fixture.recovered(document)
        try again.look { context throws in
            let pen = try #require(try context.all("Pen").first)
            #expect(pen.value(forKey: "colour") as? ValueTransformerTests.Colour == ValueTransformerTests.Colour(red: 1, green: 2))
            context.refresh(pen, mergeChanges: true)
            #expect(pen.value(forKey: "key") as? String == "arger")
        }
        #expect(again.errors.isEmpty && again.keptAside.isEmpty)
    }

    // GB31
    @Test func everyKindOfRelationshipComesBackInOrder() throws {
        let fixture = try JournalFixture(StoreModels.relations()), document = try fixture.opened()
        let books = try document.push { context -> [NSManagedObjectID] in
            let author = context.make("Author", ["name": "A"]), friend = context.make("Author", ["name": "B"])
            let books = (0..<4).map { context.make("Book", ["title": "\($0)"]) }
            author.setValue(NSOrderedSet(array: [books[2], books[0], books[3]]), forKey: "books")
            author.setValue(NSSet(array: [friend]), forKey: "friends")
            author.setValue(NSSet(array: [books[1], books[2]]), forKey: "seen")
            let tags = ["x", "y"].map { context.make("Tag", ["word": $0]) }
            books[0].setValue(NSSet(array: tags), forKey: "tags")
            books[0].setValue(NSOrderedSet(array: [tags[1], tags[0]]), forKey: "chapters")
            return books.map(\.objectID)
        }
        try document.push { context in
            let author = try #require(try context.all("Author", "name == 'A'").first)
            author.setValue(NSOrderedSet(array: [books[3], books[2]].map { context.object(with: $0) }), forKey: "books")
            author.setValue(NSSet(array: [context.object(with: books[1])]), forKey: "seen")
        }
        let before = try document.look { try Self.picture($0) }, again = try fixture.recovered(document)
        #expect(before == "A: 3 2 | seen 1 | friends B; 0: tags x y | chapters y x")
        #expect(try again.look { try Self.picture($0) } == before)
    }

    private static func picture(_ context: NSManagedObjectContext) throws -> String {
        func names(_ object: NSManagedObject?, _ relationship: String, _ key: String, sorted: Bool) -> String {
            let found = (object?.objectIDs(forRelationshipNamed: relationship) ?? []).map {
                context.object(with: $0).value(forKey: key) as? String ?? "nil"
            }
            return (sorted ? found.sorted() : found).joined(separator: " ")
        }
        let author = try context.all("Author", "name == 'A'").first, book = try context.all("Book", "title == '0'").first
        return "A: \(names(author, "books", "title", sorted: false)) | seen \(names(author, "seen", "title", sorted: true)) | "
            + "friends \(names(author, "friends", "name", sorted: true)); 0: tags \(names(book, "tags", "word", sorted: true)) | "
            + "chapters \(names(book, "chapters", "word", sorted: false))"
    }

    // GB31
    @Test func updatesAndDeletionsOfStoredObjectsComeBack() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { context in for key in ["a", "b", "c"] { context.make("Item", ["key": key, "a": 1, "b": 1]) } }
        try await document.save()
        try document.push { try $0.all("Item", "key == 'a'").first?.setValue(2, forKey: "a") }
        try document.push { try $0.all("Item", "key == 'a'").first?.setValue(3, forKey: "b") }
        try document.push { context in try context.all("Item", "key == 'b'").forEach(context.delete) }
        let again = try fixture.recovered(document)
        #expect(
            try again.look { try $0.all("Item", sort: "key").map { "\($0.value(forKey: "a") ?? "")\($0.value(forKey: "b") ?? "")" } } == ["23", "11"])
    }

    // GB31
    @Test func aPushBringsWhatItLeansOnOfTheMainContextsOwnUnsavedObjects() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        let (department, manager) = await main.perform {
            let department = main.make("Department", ["name": "R"]), manager = main.make("Person", ["name": "M"])
            manager.setValue(department, forKey: "department")
            main.make("Item", ["key": "alone"])
            main.processPendingChanges()
            return (department.objectID, manager.objectID)
        }
        try document.push { $0.make("Person", ["name": "P", "manager": $0.object(with: manager)]) }
        try document.push { $0.object(with: department).setValue(5.0, forKey: "budget") }
        let again = try fixture.recovered(document)
        try again.look { context throws in
            let person = try #require(try context.all("Person", "name == 'P'").first)
            #expect(person.value(forKeyPath: "manager.department.name") as? String == "R")
            #expect(try context.all("Department").map { $0.value(forKey: "budget") as? Double } == [5])
            // Its own edits are the document's to save: nobody was told that they are safe.
            #expect(try context.all("Item").isEmpty)
        }
        #expect(again.errors.isEmpty)
    }

    // GB31, D3
    @Test func aCommitEmptiesTheJournalAndNothingElseDoes() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        let one = try #require(document.pushJournalSize)
        try await document.pushMain()
        try document.push { $0.make("Item", ["key": "b"]) }
        #expect(try #require(document.pushJournalSize) > one)
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["a", "b"])
        let root = document.root
        // The root alone: the second push is still in main.
        try await root.perform { try root.save() }
        #expect(try #require(document.pushJournalSize) > one)
        let between = try fixture.recovered(document)
        #expect(try between.look { try $0.values("Item", "key") } == ["a", "b"] && between.pushRecovery?.pushes == 1)
        try await document.save()
        #expect(try #require(document.pushJournalSize) < one)
        #expect(try fixture.recovered(document).pushRecovery == nil)
        #expect(document.store(0)?.metadata.keys.contains { $0.contains("Push") } == false)
    }

    // GB31
    @Test func theJournalIsBoundedByWhatIsUnsaved() async throws {
        let fixture = try JournalFixture(StoreModels.everything()), document = try fixture.opened()
        let megabyte = Data(repeating: 7, count: 1 << 20)
        for round in 0..<12 {
            try document.push { $0.make("Thing", ["bytes": megabyte]) }
            if round % 2 == 1 {
                // A push that comes between hand-over and commit keeps the file from being empty at any time.
                try await document.pushMain()
                try document.push { $0.make("Thing", ["small": 1]) }
                let root = document.root
                try await root.perform { try root.save() }
                #expect(try #require(document.pushJournalSize) < 6 << 20)
            }
        }
        #expect(try fixture.recovered(document).look { try $0.all("Thing").count } == 18)
    }

    // D8
    @Test func closingTakesTheJournalAway() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item") }
        try document.push { context in try context.all("Item").forEach(context.delete) }
        try await document.close()
        #expect(document.journalFiles.isEmpty && document.pushJournalSize == nil)
        try document.openStore(creating: false)
        try document.push { $0.make("Item", ["key": "later"]) }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["later"])
    }

    // GB31
    @Test func twoDocumentsDoNotShareAJournal() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        #expect(throws: NSError.self) { try fixture.reopened(document.fileURL) }
        // Without a journal of its own it may read beside; the entries are not its.
        let other = try fixture.reopened(document.fileURL, .off)
        #expect(try other.look { try $0.all("Item").isEmpty } && other.pushRecovery == nil)
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["a"])
    }

    // GB31
    @Test func manyWorkersAtOnceLoseNothing() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<25 {
                        try document.push { $0.make("Item", ["key": "\(worker)-\(number)"]) }
                        if number % 10 == worker { try await document.save() }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try fixture.recovered(document).look { try $0.all("Item").count } == 100)
    }
}

extension UIManagedDocument {
    func store(_ index: Int) -> NSPersistentStore? {
        managedObjectContext.persistentStoreCoordinator.flatMap { $0.persistentStores.indices.contains(index) ? $0.persistentStores[index] : nil }
    }
}
