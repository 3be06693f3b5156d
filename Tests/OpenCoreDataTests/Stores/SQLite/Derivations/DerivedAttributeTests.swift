import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What a SQLite store derives, and who sees it when.
@Suite struct DerivedAttributeTests {
    private static func author(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let author: NSManagedObject = context.make("Author")
        author.setValue(name, forKey: "name")
        return author
    }

    private static func book(_ title: String, of author: NSManagedObject?, in context: NSManagedObjectContext) -> NSManagedObject {
        let book: NSManagedObject = context.make("Book")
        book.setValue(title, forKey: "title")
        book.setValue(author, forKey: "author")
        return book
    }

    // A8
    @Test func itIsThereAfterTheSaveAndInTheFile() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.context.performAndWait { () throws in
            let ada = Self.author("Ada", in: world.context), book = Self.book("ÄRGER", of: ada, in: world.context)
            #expect(book.value(forKey: "key") == nil)
            try world.context.save()
            #expect(book.value(forKey: "key") as? String == "arger" && book.value(forKey: "loud") as? String == "ADA")
            #expect(ada.value(forKey: "bookCount") as? Int64 == 1 && !world.context.hasChanges)
            ada.setValue("Eve", forKey: "name")
            #expect(book.value(forKey: "loud") as? String == "ADA")
            try world.context.save()
            #expect(book.value(forKey: "loud") as? String == "EVE")
            #expect(try world.context.all("Book", "key == 'arger' AND loud == 'EVE'") == [book])
        }
        #expect(try world.shell.rows("SELECT ZKEY, ZLOUD FROM ZBOOK") == [["arger", "EVE"]])
    }

    // A8
    @Test func whatIsSetIsOverwritten() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.context.performAndWait { () throws in
            let book = Self.book("A", of: nil, in: world.context)
            book.setValue("mine", forKey: "key")
            try world.context.save()
            #expect(book.value(forKey: "key") as? String == "a")
            book.setValue("mine", forKey: "key")
            try world.context.save()
            #expect(book.value(forKey: "key") as? String == "a" && !world.context.hasChanges)
        }
    }

    // A8
    @Test func nowIsTheTimeOfTheSaveThatWroteTheRow() throws {
        let note = StoreModels.entity(
            "Note",
            [
                StoreModels.attribute("text", .string), DerivedLibrary.derived("saved", .date, "now()"),
                DerivedLibrary.derived("seconds", .double, "now()"),
            ])
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [note]))
        try world.context.performAndWait { () throws in
            let notes = ["a", "b"].map { text -> NSManagedObject in
                let note: NSManagedObject = world.context.make("Note")
                note.setValue(text, forKey: "text")
                return note
            }
            func times() -> [Date] { notes.compactMap { $0.value(forKey: "saved") as? Date } }
            let start = Date()
            try world.context.save()
            let first = times(), second = Date()
            #expect(first.count == 2 && first.allSatisfy { $0 >= start && $0 <= second })
            #expect((notes[0].value(forKey: "seconds") as? Double).map { $0 >= start.timeIntervalSinceReferenceDate } == true)
            notes[0].setValue("c", forKey: "text")
            try world.context.save()
            #expect(times()[0] >= second && times()[1] == first[1])
        }
    }

    // A8: an object whose derived value changed is not one that somebody changed.
    @Test func anotherDerivedValueIsNoConflict() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model()), other = world.fresh()
        try world.save { _ = Self.author("Ada", in: $0) }
        let theirs = try other.performAndWait { () throws in try #require(try other.all("Author").first) }
        other.performAndWait { #expect(theirs.value(forKey: "bookCount") as? Int64 == 0) }
        try world.save { context in _ = Self.book("A", of: try context.all("Author").first, in: context) }
        try other.performAndWait { () throws in
            // Nobody merges here.
            #expect(theirs.value(forKey: "bookCount") as? Int64 == 0)
            theirs.setValue("Eve", forKey: "name")
            try other.save()
            #expect(theirs.value(forKey: "bookCount") as? Int64 == 1)
        }
        #expect(try world.shell.rows("SELECT ZNAME, ZBOOKCOUNT FROM ZAUTHOR") == [["Eve", "1"]])
    }

    // A8: nor for a parent that compares.
    @Test func anotherDerivedValueIsNoConflictForAChild() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { _ = Self.author("Ada", in: $0) }
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = world.context
        child.parentConflictPolicy = .error
        let theirs = try child.performAndWait { () throws in
            let author = try #require(try child.all("Author").first)
            #expect(author.value(forKey: "bookCount") as? Int64 == 0)
            return author
        }
        try world.context.performAndWait { () throws in
            _ = Self.book("A", of: try world.context.all("Author").first, in: world.context)
            try world.context.save()
        }
        try child.performAndWait { () throws in
            theirs.setValue("Eve", forKey: "name")
            try child.save()
        }
    }

    // A8: what a save that failed would have made another value is none.
    @Test func aSaveThatFailedLeavesNothingToDerive() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model()), merging = world.fresh()
        merging.automaticallyMergesChangesFromParent = true
        try world.save { context in
            _ = Self.author("Ada", in: context)
            _ = Self.book("A", of: nil, in: context)
        }
        let mine = try merging.performAndWait { () throws in try #require(try merging.all("Author").first) }
        merging.performAndWait { #expect(mine.value(forKey: "bookCount") as? Int64 == 0) }
        // Another one writes the book first.
        let late = world.fresh()
        try late.performAndWait { () throws in
            let book = try #require(try late.all("Book").first)
            #expect(book.value(forKey: "title") as? String == "A")
            try world.save { context in try context.all("Book").first?.setValue("B", forKey: "title") }
            book.setValue(try late.all("Author").first, forKey: "author")
            #expect(throws: NSError.self) { try late.save() }
        }
        let recorder = NotificationRecorder(merging, .NSManagedObjectContextObjectsDidChange)
        try world.save { context in try context.all("Book").first?.setValue("C", forKey: "title") }
        merging.performAndWait {
            merging.processPendingChanges()
            #expect(!recorder.objects(NSRefreshedObjectsKey).contains(mine))
        }
    }

    // A8: a rule that minds nothing leaves a reference, and nothing to derive by it.
    @Test func whatIsDerivedByAReferenceThatLeadsNowhereIsNothing() throws {
        let owner = StoreModels.entity("Owner", [StoreModels.attribute("name", .string)])
        let pet = StoreModels.entity("Pet", [DerivedLibrary.derived("ownerName", .string, "owner.name")])
        StoreModels.relate(owner, "pets", toMany: true, pet, "owner", inverseToMany: false)
        owner.relationshipsByName["pets"]?.deleteRule = .noActionDeleteRule
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [owner, pet]))
        try world.save { context in
            let ada: NSManagedObject = context.make("Owner"), pet: NSManagedObject = context.make("Pet")
            ada.setValue("Ada", forKey: "name")
            pet.setValue(ada, forKey: "owner")
        }
        #expect(try world.shell.column("SELECT ZOWNERNAME FROM ZPET") == ["Ada"])
        // And one that comes back under the same ID is what it leads to again.
        let undo = UndoManager()
        try world.context.performAndWait { () throws in
            world.context.undoManager = undo
            try world.context.all("Owner").forEach(world.context.delete)
            try world.context.save()
            #expect(try world.shell.column("SELECT ZOWNERNAME FROM ZPET") == ["∅"])
            world.context.undo()
            try world.context.save()
        }
        #expect(try world.shell.column("SELECT ZOWNERNAME FROM ZPET") == ["Ada"])
    }

    // A8
    @Test func aContextThatMergesShowsItAndOthersDoOnceTheyRefresh() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model()), merging = world.fresh(), other = world.fresh()
        merging.automaticallyMergesChangesFromParent = true
        try world.save { _ = Self.author("Ada", in: $0) }
        let objects = try [merging, other].map { context in
            try context.performAndWait { () throws in
                let author = try #require(try context.all("Author").first)
                #expect(author.value(forKey: "bookCount") as? Int64 == 0)
                return author
            }
        }
        try world.save { context in _ = Self.book("A", of: try context.all("Author").first, in: context) }
        merging.performAndWait { #expect(objects[0].value(forKey: "bookCount") as? Int64 == 1) }
        other.performAndWait {
            #expect(objects[1].value(forKey: "bookCount") as? Int64 == 0)
            other.refresh(objects[1], mergeChanges: true)
            #expect(objects[1].value(forKey: "bookCount") as? Int64 == 1)
        }
    }

    // A8
    @Test func anObjectThatWasNotSavedIsToldAsRefreshedWhereItIsShown() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { _ = Self.author("Ada", in: $0) }
        try world.context.performAndWait { () throws in
            let ada = try #require(try world.context.all("Author").first)
            #expect(ada.value(forKey: "pages") as? Int64 == 0)
            let book = Self.book("A", of: ada, in: world.context)
            try world.context.save()
            let recorder = NotificationRecorder(world.context, .NSManagedObjectContextObjectsDidChange)
            book.setValue(7, forKey: "pages")
            try world.context.save()
            #expect(ada.value(forKey: "pages") as? Int64 == 7 && book.value(forKey: "halves") as? Double == 3.5)
            // What was saved was told as updated before, with the value it had then.
            #expect(recorder.objects(NSRefreshedObjectsKey) == [ada, book])
        }
    }

    // A8: from a context whose parent is another, it is there when the last one has saved.
    @Test func aChildSeesItWhenItsParentHasSaved() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = world.context
        let book = try child.performAndWait { () throws in
            let book = Self.book("A", of: Self.author("Ada", in: child), in: child)
            try child.save()
            #expect(book.value(forKey: "key") == nil)
            return book
        }
        try world.context.performAndWait { try world.context.save() }
        child.performAndWait {
            child.refresh(book, mergeChanges: true)
            #expect(book.value(forKey: "key") as? String == "a" && book.value(forKey: "loud") as? String == "ADA")
        }
    }

    // A8
    @Test func batchRequestsSetWhatItIsDerivedFromAndNotItself() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { _ = Self.author("Ada", in: $0) }
        let fresh = world.fresh(), author = try fresh.performAndWait { () throws in try #require(try fresh.all("Author").first) }
        fresh.performAndWait { #expect(author.value(forKey: "pages") as? Int64 == 0) }
        try world.insert("Book", [["title": "A", "pages": 7, "author": author.objectID], ["title": "B", "pages": 5, "author": author.objectID]])
        fresh.performAndWait {
            fresh.refresh(author, mergeChanges: true)
            #expect(author.value(forKey: "pages") as? Int64 == 12)
        }
        let error = #expect(throws: NSError.self) { try world.execute(batchUpdate("Book", nil, ["key": "x"])) }
        #expect(
            error?.localizedDescription == "A batch request can't set Book.key: it is derived: the store computes it. Set what it is derived from.")
        #expect(throws: NSError.self) { try world.insert("Book", [["key": "x"]]) }
    }

    // A8: what somebody else saves raises no version either.
    @Test func whatAnotherCoordinatorDerivedIsReadAgain() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { _ = Self.author("Ada", in: $0) }
        let reader = world.fresh(), author = try reader.performAndWait { () throws in try #require(try reader.all("Author").first) }
        reader.performAndWait { #expect(author.value(forKey: "bookCount") as? Int64 == 0) }
        let second = NSPersistentStoreCoordinator(managedObjectModel: DerivedLibrary.model())
        let store = try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: world.store.url, options: nil)
        defer { try? second.remove(store) }
        let writer = NSManagedObjectContext(.privateQueueConcurrencyType)
        writer.persistentStoreCoordinator = second
        try writer.performAndWait { () throws in
            _ = Self.book("A", of: try writer.all("Author").first, in: writer)
            try writer.save()
        }
        try reader.performAndWait { () throws in
            reader.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            #expect(try reader.fetch(request).first?.value(forKey: "bookCount") as? Int64 == 1)
        }
    }

    // A8, X7: what keeps them is not in the file.
    @Test func anyoneMayWriteTheFile() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model(), options: [SQLiteRowSumsOption: false])
        try world.save { _ = Self.book("A", of: nil, in: $0) }
        #expect(try world.shell.column("SELECT name FROM sqlite_master WHERE type = 'trigger'").isEmpty)
        _ = try world.shell.rows("UPDATE ZBOOK SET ZTITLE = 'B'")
        #expect(try world.shell.rows("SELECT ZTITLE, ZKEY FROM ZBOOK") == [["B", "a"]])
    }

    // A8
    @Test func aRequiredOneNeedsNoValue() throws {
        let key = DerivedLibrary.derived("key", .string, "canonical:(title)")
        key.isOptional = false
        let book = StoreModels.entity("Book", [StoreModels.attribute("title", .string), key])
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [book]))
        try world.save { context in
            let book: NSManagedObject = context.make("Book")
            book.setValue("Ä", forKey: "title")
        }
        #expect(try world.shell.column("SELECT ZKEY FROM ZBOOK") == ["a"])
    }

    // A8: bounds are for what people set.
    @Test func boundsOfADerivedAttributeHoldNothingUp() throws {
        let count = DerivedLibrary.derived("count", .integer64, "pages.@count")
        count.maximumValue = 1
        let page = StoreModels.entity("Page", [StoreModels.attribute("number", .integer64)]),
            book = StoreModels.entity("Book", [StoreModels.attribute("title", .string), count])
        StoreModels.relate(book, "pages", toMany: true, page, "book", inverseToMany: false)
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [book, page]))
        try world.context.performAndWait { () throws in
            let book: NSManagedObject = world.context.make("Book"), pages: [NSManagedObject] = (0..<2).map { _ in world.context.make("Page") }
            book.setValue(Set(pages), forKey: "pages")
            try world.context.save()
            #expect(book.value(forKey: "count") as? Int64 == 2)
            book.setValue("A", forKey: "title")
            try world.context.save()
        }
    }

    // A8, S13: rows that another program changed are taken as they are, and what is derived from them is found anew.
    @Test func whatIsTakenOverFromAnotherProgramIsDerivedFrom() throws {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { context in
            let ada = Self.author("Ada", in: context)
            for title in ["A", "B"] { _ = Self.book(title, of: ada, in: context) }
        }
        let fresh = world.fresh(), author = try fresh.performAndWait { () throws in try #require(try fresh.all("Author").first) }
        fresh.performAndWait { #expect(author.value(forKey: "pages") as? Int64 == 0) }
        _ = try world.shell.rows("UPDATE ZBOOK SET ZTITLE = 'X', ZPAGES = 9 WHERE ZTITLE = 'A'")
        let book = try #require(world.coordinator.managedObjectModel.entitiesByName["Book"])
        #expect(try world.coordinator.adoptRows([1...2], of: book, emptying: "price").count == 1)
        #expect(try world.shell.rows("SELECT ZTITLE, ZKEY FROM ZBOOK ORDER BY ZTITLE") == [["B", "b"], ["X", "x"]])
        fresh.performAndWait {
            fresh.refresh(author, mergeChanges: true)
            #expect(author.value(forKey: "pages") as? Int64 == 9)
        }
        #expect(try SQLiteStoreVerification.verify(try #require(world.store.url)).isSound)
    }

    // A8
    @Test func aValueThatTheAttributeCannotHoldFailsTheSaveAndSaysSo() throws {
        let page = StoreModels.entity("Page", [StoreModels.attribute("words", .integer64)])
        let book = StoreModels.entity("Book", [DerivedLibrary.derived("words", .integer16, "pages.words.@sum")])
        StoreModels.relate(book, "pages", toMany: true, page, "book", inverseToMany: false)
        let world = try BatchWorld(.file, NSManagedObjectModel(entities: [book, page]))
        let error = #expect(throws: NSError.self) {
            try world.save { context in
                let book: NSManagedObject = context.make("Book"), page: NSManagedObject = context.make("Page")
                page.setValue(40_000, forKey: "words")
                page.setValue(book, forKey: "book")
            }
        }
        #expect(error?.localizedDescription.contains("Book.words") == true, "\(error?.localizedDescription ?? "")")
        #expect(try world.shell.column("SELECT count(*) FROM ZBOOK") == ["0"])
    }

    private static let refused: [(String, NSAttributeDescription.AttributeType, String)] = [
        ("titel", .string, "A has no property titel"), ("other.name", .string, "B has no property name"),
        ("hidden", .string, "A.hidden is transient"), ("derived", .string, "A.derived is derived itself"),
        ("title.length", .integer64, "A.title is no relationship"), ("now()", .string, "it has to be a date, or a number of seconds"),
        ("title", .integer64, "Integer 64 can't hold what it yields"), ("others", .string, "String can't hold what it yields"),
        ("now() + 1", .date, "now() is nothing that can be followed from row to row"),
        ("SUBQUERY(others, $o, $o.count > 1).@count", .integer64, "is nothing that can be followed from row to row"),
    ]

    // A8
    @Test(arguments: refused.indices) func whatNoRowTellsIsRefusedBeforeAFileIsMade(_ index: Int) throws {
        let (expression, type, why) = Self.refused[index]
        let hidden = StoreModels.attribute("hidden", .string)
        hidden.isTransient = true
        let entity = StoreModels.entity(
            "A",
            [
                StoreModels.attribute("title", .string), hidden, DerivedLibrary.derived("derived", .string, "title"),
                DerivedLibrary.derived("x", type, expression),
            ])
        let other = StoreModels.entity("B", [StoreModels.attribute("count", .integer64)])
        StoreModels.relate(entity, "others", toMany: true, other, "owner", inverseToMany: false)
        StoreModels.relate(entity, "other", toMany: false, other, "back", inverseToMany: false)
        let model = NSManagedObjectModel(entities: [entity, other])
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("derived-\(UUID().uuidString).sqlite")
        let error = #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
        }
        #expect(error?.code == 134_020)
        let sentence = error?.localizedDescription ?? ""
        #expect(sentence.hasPrefix("A.x can't be derived from ") && sentence.contains(why), "\(sentence)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    // A8
    @Test func aConstraintThatNamesOneIsRefused() throws {
        let entity = StoreModels.entity("A", [StoreModels.attribute("title", .string), DerivedLibrary.derived("key", .string, "lowercase:(title)")])
        entity.uniquenessConstraints = [["key"]]
        let error = #expect(throws: NSError.self) { try BatchWorld(.file, NSManagedObjectModel(entities: [entity])) }
        #expect(error?.localizedDescription.contains("a uniqueness constraint of A names it") == true)
    }

    // A8, X7: Apple's framework keeps derived attributes by triggers in the file, which call functions of its own.
    @Test func triggersOfApplesFrameworkRunAndWhatTheyChangeIsReadAgain() throws {
        let book = StoreModels.entity(
            "Book", ["title", "key", "loud", "low"].map { StoreModels.attribute($0, .string) } + [StoreModels.attribute("saved", .date)])
        let fixture = try MigrationFixture([SQLiteRowSumsOption: true])
        func entities() -> [NSEntityDescription] { [book.copy() as? NSEntityDescription].compactMap { $0 } }
        try fixture.open(entities())
        for (name, event) in [("INSERT", "INSERT"), ("UPDATE", "UPDATE OF ZTITLE")] {
            _ = try fixture.shell.rows(
                "CREATE TRIGGER Z_DA_ZBOOK_Book_key_\(name) AFTER \(event) ON ZBOOK FOR EACH ROW BEGIN "
                    + "UPDATE ZBOOK SET ZKEY = NSCoreDataCanonical(NEW.ZTITLE), ZLOUD = NSCoreDataToUpper(NEW.ZTITLE), "
                    + "ZLOW = NSCoreDataToLower(NEW.ZTITLE), ZSAVED = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK; "
                    + "SELECT NSCoreDataDATrigger\(name == "INSERT" ? "Insert" : "")UpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'key', ZKEY) "
                    + "FROM ZBOOK WHERE Z_PK = NEW.Z_PK; END")
        }
        try fixture.open(entities()) { context in
            let start = Date(), made: NSManagedObject = context.make("Book")
            made.setValue("ÄRGER", forKey: "title")
            try context.save()
            #expect(made.value(forKey: "key") as? String == "arger")
            let first = try #require(made.value(forKey: "saved") as? Date)
            #expect(first >= start)
            made.setValue("Éa", forKey: "title")
            try context.save()
            #expect(["key", "loud", "low"].map { made.value(forKey: $0) as? String } == ["ea", "ÉA", "éa"])
            #expect((made.value(forKey: "saved") as? Date).map { $0 >= first } == true)
            context.reset()
            #expect(try context.all("Book").first?.value(forKey: "key") as? String == "ea")
        }
        #expect(try SQLiteStoreVerification.verify(fixture.file).isSound)
    }
}
