import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// Stores whose file is read and written as a whole.
@Suite(.timeLimit(.minutes(60))) struct AtomicStoreTests {
    // S1
    @Test(arguments: AtomicWorld.types) func everyValueComesBackFromTheFile(_ type: String) throws {
        let world = try AtomicWorld(type, StoreModels.everything())
        let values: [String: Any] = [
            "small": -32768, "medium": Int32.max, "large": Int64.min, "flag": true, "real": -Double.infinity, "short": Float(0.1),
            "money": try #require(Decimal(string: "12345678901234567890.123456789")), "text": "a\u{0}b\r\n\t<&>\"]]> \u{FFFE} naïve ☃",
            "when": Date(timeIntervalSinceReferenceDate: -1.5e-7), "bytes": Data((0...255).map { UInt8($0) }), "uuid": UUID(),
            "link": try #require(URL(string: "https://example.org/a?b=c&d=%20")), "list": ["a", 1, 2.5] as [AnyHashable],
        ]
        try world.open().saving { context in
            context.make("Thing", values)
            context.make("Thing", ["text": "", "bytes": Data(), "small": 1])
            context.make("Thing", ["text": " \r", "real": 0.1, "small": 2])
            context.make("Thing", ["small": 3, "hidden": "not kept"])
        }
        let context = try world.open()
        try context.performAndWait { () throws in
            let found = try context.all("Thing").sorted { ($0.value(forKey: "small") as? Int ?? 0) < ($1.value(forKey: "small") as? Int ?? 0) }
            try #require(found.count == 4)
            for (name, value) in values {
                let wanted = AttributeValue.coded(value, as: try #require(found[0].entity.attributesByName[name]).kind)
                #expect(found[0].primitiveValue(forKey: name) != nil)
                #expect(found[0].row?[name] == wanted, "\(name)")
            }
            #expect(found[1].value(forKey: "text") as? String == "" && found[1].value(forKey: "bytes") as? Data == Data())
            #expect(found[2].value(forKey: "text") as? String == " \r" && found[2].value(forKey: "real") as? Double == 0.1)
            #expect(found[3].value(forKey: "text") == nil && found[3].value(forKey: "bytes") == nil && found[3].value(forKey: "hidden") == nil)
        }
    }

    // S1
    @Test(arguments: AtomicWorld.types) func whatWasSavedIsInTheFileAndWhatWasNotIsNot(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open()
        #expect(try world.files == ["Store"] && world.dump() == [])
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        let saved = try world.dump()
        #expect(saved.count == 1 && saved[0].contains("Ada"))
        context.performAndWait { _ = context.make("Author", ["name": "Bea"]) }
        #expect(try world.dump() == saved)
        try context.saving { context in
            context.rollback()
            for author in try context.all("Author") { context.delete(author) }
        }
        #expect(try world.dump() == [] && world.files == ["Store"])
    }

    // S1
    @Test(arguments: AtomicWorld.types) func keysAndVersionsGoOnWhereTheyWere(_ type: String) throws {
        let world = try AtomicWorld(type)
        var uris: [URL] = []
        try world.open().saving { context in
            let authors = ["Ada", "Bea"].map { context.make("Author", ["name": $0]) }
            try context.save()
            authors[0].setValue("Ida", forKey: "name")
            try context.save()
            uris = authors.map { $0.objectID.uriRepresentation() }
            context.delete(authors[1])
        }
        let context = try world.open()
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uris[0]))
        try context.performAndWait { () throws in
            let ada = try context.existingObject(with: id)
            #expect(ada.value(forKey: "name") as? String == "Ida" && ada.row?.version == 2)
            let book = context.make("Book"), author = context.make("Author", ["name": "Cleo"])
            try context.save()
            // No key is given twice, also those of what is deleted.
            let keys = [book, author].map(\.objectID.key)
            #expect(Set(keys).count == 2 && !keys.contains(id.key) && !uris.contains(author.objectID.uriRepresentation()))
        }
    }

    // S1
    @Test(arguments: AtomicWorld.types) func twoContextsMeetTheSameConflictsAsElsewhere(_ type: String) throws {
        let world = try AtomicWorld(type, StoreModels.keys()), first = try world.open()
        let second = NSManagedObjectContext(.privateQueueConcurrencyType)
        second.persistentStoreCoordinator = first.persistentStoreCoordinator
        try first.saving { $0.make("City", ["code": "a", "number": 1]) }
        let before = try world.text
        let twin = told { try second.saving { $0.make("City", ["code": "a", "number": 2]) } }
        #expect(twin.code == CocoaError.Code.managedObjectConstraintMerge.rawValue)
        second.performAndWait { second.rollback() }
        try second.performAndWait { () throws in
            let city = try #require(try second.all("City").first)
            city.setValue("mine", forKey: "name")
            try first.saving { try $0.all("City").first?.setValue("theirs", forKey: "name") }
            #expect(told { try second.save() }.code == CocoaError.Code.managedObjectMerge.rawValue)
        }
        #expect(try world.text != before && world.dump().contains { $0.contains("theirs") })
    }

    // S1
    @Test(arguments: AtomicWorld.types) func whoWroteMeanwhileLosesNothing(_ type: String) throws {
        let world = try AtomicWorld(type), mine = try world.open(), theirs = try world.open()
        try theirs.saving { $0.make("Author", ["name": "theirs"]) }
        let written = try world.text
        let refused = told { try mine.saving { $0.make("Author", ["name": "mine"]) } }
        #expect(refused.code == 134030 && refused.sentence.contains("written by somebody else") && refused.sentence.contains("Add the store anew"))
        #expect(try world.text == written && world.files == ["Store"])
        // The file that is read anew has given the new object's key to another: it does not take that one's place.
        let coordinator = try #require(mine.persistentStoreCoordinator)
        try coordinator.remove(try mine.onlyStore)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: world.file)
        let taken = told { try mine.performAndWait { () throws in try mine.save() } }
        #expect(try taken.code == 134030 && taken.sentence.contains("Insert this one anew") && world.text == written)
        try mine.saving { context in
            let name = try #require(context.insertedObjects.first?.value(forKey: "name"))
            context.rollback()
            context.make("Author", ["name": name])
        }
        #expect(try world.dump().count == 2)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func whatIsGoneOrMovedIsNotWrittenAnew(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open()
        let elsewhere = world.folder.appendingPathComponent("Elsewhere")
        try FileManager.default.moveItem(at: world.file, to: elsewhere)
        let refused = told { try context.saving { $0.make("Author") } }
        #expect(refused.code == 134030 && refused.sentence.contains("moved or deleted") && world.files == ["Elsewhere"])
        try FileManager.default.moveItem(at: elsewhere, to: world.file)
        try context.performAndWait { () throws in try context.save() }
        #expect(try world.dump().count == 1)
    }

    /// Writers that read, change and write the same file, each with a store of its own; whoever is refused begins anew.
    // S1
    @Test(arguments: AtomicWorld.types) func noChangeIsLostBetweenWriters(_ type: String) throws {
        let world = try AtomicWorld(type), rounds = 6
        try world.open().saving { $0.make("Person", ["age": 0]) }
        let refusals = Mutex(0), failures = Mutex<[String]>([])
        // What a thread needs of the world, none of which changes.
        nonisolated(unsafe) let shared = world
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            var left = rounds
            while left > 0 {
                do {
                    try shared.open(StoreModels.sameAsMoving()).saving { context in
                        let person = try #require(try context.all("Person").first)
                        person.setValue((person.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
                    }
                    left -= 1
                } catch let error as NSError where error.code == 134030 {
                    refusals.withLock { $0 += 1 }
                } catch {
                    return failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let context = try world.open()
        try context.performAndWait { () throws in
            #expect(try context.all("Person").first?.value(forKey: "age") as? Int == 4 * rounds, "\(refusals.withLock { $0 }) were refused")
        }
        #expect(world.files == ["Store"])
    }

    // S1
    @Test(arguments: AtomicWorld.types) func aSaveThatCannotBeWrittenChangesNothingAndCanBeRepeated(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open()
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        let before = try world.text, blocked = world.folder.appendingPathComponent(".Store.new")
        try FileManager.default.createDirectory(at: blocked, withIntermediateDirectories: true)
        let refused = told { try context.saving { $0.make("Author", ["name": "Bea"]) } }
        #expect(refused.code == 134030 && refused.sentence.contains("can't be written") && refused.sentence.contains(world.file.path))
        #expect(try world.text == before && context.performAndWait { context.hasChanges })
        try FileManager.default.removeItem(at: blocked)
        // What a process left behind that ended while it wrote.
        try Data("half of a file".utf8).write(to: blocked)
        try context.performAndWait { () throws in try context.save() }
        #expect(try world.dump().count == 2 && world.files == ["Store"])
    }

    // S1
    @Test(arguments: AtomicWorld.types) func aValueThatNoFileHoldsIsRefusedBeforeAnythingIsWritten(_ type: String) throws {
        final class Odd: NSObject {}
        let world = try AtomicWorld(type), context = try world.open(), before = try world.text
        let refused = told { try context.saving { $0.make("Thing", ["list": Odd()]) } }
        #expect(refused.code == 134030 && refused.sentence.contains("Thing.list"))
        #expect(try world.text == before && world.files == ["Store"])
    }

    // S1
    @Test(arguments: AtomicWorld.types) func linksModesAndEmptyFilesStayWhatTheyAre(_ type: String) throws {
        let world = try AtomicWorld(type), link = world.folder.appendingPathComponent("Link"), real = world.folder.appendingPathComponent("Real")
        try Data().write(to: real)
        #expect(chmod(real.path, 0o640) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        try world.open(at: link).saving { $0.make("Author") }
        let attributes = try FileManager.default.attributesOfItem(atPath: real.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640 && (attributes[.size] as? Int ?? 0) > 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == real.path)
        #expect(try world.open(at: link).count("Author") == 1)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func aStoreForReadingIsNeitherMadeNorWritten(_ type: String) throws {
        let world = try AtomicWorld(type), readOnly = [NSReadOnlyPersistentStoreOption: true]
        let missing = told { _ = try world.open(options: readOnly) }
        #expect(missing.code == 134080 && missing.sentence.contains("there is no store there") && world.files == [])
        try world.open().saving { $0.make("Author", ["name": "Ada"]) }
        let before = try world.text, context = try world.open(options: readOnly)
        try context.performAndWait { () throws in
            let author = try #require(try context.all("Author").first)
            author.setValue("Bea", forKey: "name")
            #expect(told { try context.save() }.code != 0)
        }
        #expect(try world.text == before)
    }

    // S1, S5
    @Test(arguments: AtomicWorld.types) func metadataAreWrittenWithTheNextSaveAndReadFromTheFile(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open(), coordinator = try #require(context.persistentStoreCoordinator)
        let store = try context.onlyStore
        func read() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: world.file)
        }
        #expect(try read()[NSStoreUUIDKey] as? String == store.identifier && read()[NSStoreTypeKey] as? String == type)
        #expect(world.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: try read()))
        var metadata = coordinator.metadata(for: store)
        metadata["words"] = ["a": 1, "b": [Data([1]), "<&>", true, 1.5, Date(timeIntervalSinceReferenceDate: 60)]] as [String: Any]
        metadata[NSStoreUUIDKey] = "another"
        coordinator.setMetadata(metadata, for: store)
        #expect(try read()["words"] == nil)
        try context.performAndWait { () throws in try context.save() }
        let words = try #require(try read()["words"] as? [String: Any])
        let list = try #require(words["b"] as? [Any])
        try #require(list.count == 5)
        #expect(words["a"] as? Int == 1 && list[0] as? Data == Data([1]) && list[1] as? String == "<&>" && list[2] as? Bool == true)
        #expect(list[3] as? Double == 1.5 && list[4] as? Date == Date(timeIntervalSinceReferenceDate: 60))
        #expect(try read()[NSStoreUUIDKey] as? String == store.identifier && !read().keys.contains { $0.hasPrefix("_OpenCoreData") })
        try coordinator.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(["words": "others"], forPersistentStoreOfType: type, at: world.file)
        #expect(try read()["words"] as? String == "others" && world.open().onlyStore.metadata["words"] as? String == "others")
    }

    // S11
    @Test(arguments: AtomicWorld.types) func filesAreDestroyedAndReplaced(_ type: String) throws {
        let world = try AtomicWorld(type), other = try AtomicWorld(type), context = try world.open()
        try context.saving { $0.make("Author", ["name": "Ada"]) }
        try other.open().saving { $0.make("Author", ["name": "Bea"]) }
        let coordinator = try #require(context.persistentStoreCoordinator)
        #expect(told { try coordinator.destroyPersistentStore(at: world.file, ofType: type) }.sentence.contains("is open"))
        try coordinator.remove(try context.onlyStore)
        try coordinator.replacePersistentStore(at: world.file, withPersistentStoreFrom: other.file, ofType: type)
        #expect(try world.dump() == other.dump() && world.text == other.text)
        try coordinator.destroyPersistentStore(at: world.file, ofType: type)
        #expect(world.files == [])
        try coordinator.destroyPersistentStore(at: world.file, ofType: type)
        let missing = told { try coordinator.replacePersistentStore(at: other.file, withPersistentStoreFrom: world.file, ofType: type) }
        #expect(missing.code == 134080 && missing.sentence.contains("There is no store at"))
        try Data("somebody else's".utf8).write(to: world.file)
        #expect(told { try coordinator.destroyPersistentStore(at: world.file, ofType: type) }.code == 134000)
        #expect(try world.text == "somebody else's")
    }

    // S4
    @Test func aFileOfAnotherTypeIsRefusedAndUntouched() throws {
        for type in AtomicWorld.types {
            let world = try AtomicWorld(type)
            let model = world.model
            for other in [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType] where other != type {
                let made = try AtomicWorld(other, model)
                try made.open().saving { $0.make("Author") }
                let before = try Data(contentsOf: made.file)
                let refused = told { _ = try world.open(at: made.file) }
                #expect(refused.code == 134000 && refused.sentence.contains("is no store of type \(type)"), "\(other) as \(type): \(refused)")
                #expect(try Data(contentsOf: made.file) == before)
            }
            for text in ["", "x", "<a/>", "<?xml version=\"1.0\"?><database/>", "plain words"] where !text.isEmpty {
                try Data(text.utf8).write(to: world.file)
                #expect(told { _ = try world.open() }.code == 134000, "\(text)")
                #expect(try world.text == text)
            }
        }
    }

    /// Every byte of a small file changed, and every beginning of it.
    // S1
    @Test(arguments: AtomicWorld.types) func aDamagedFileIsRefusedOrReadAndNeverEndsTheProcess(_ type: String) throws {
        let model = StoreModels.relations(), world = try AtomicWorld(type, model)
        try world.open().saving { context in
            let author = context.make("Author", ["name": "Ada"]), book = context.make("Book", ["title": "<b>", "author": author])
            author.setValue(Set([book]), forKey: "seen")
        }
        let whole = try Data(contentsOf: world.file), coding = AtomicCoding(entities: model.entities, format: Self.format(type), path: "Store")
        let sound = try coding.format.document(whole, path: "Store")
        func read(_ data: Data) -> AtomicDocument? {
            guard let document = try? coding.format.document(data, path: "Store"),
                (try? coding.state(document, identity: StoreIdentity(uuid: "u"))) != nil
            else { return nil }
            return document
        }
        #expect(read(whole) == sound)
        for length in stride(from: 0, to: whole.count - 1, by: type == NSXMLStoreType ? 7 : 1) {
            #expect(read(whole.prefix(length)) == nil, "cut off at \(length)")
        }
        for place in stride(from: 0, to: whole.count, by: type == NSXMLStoreType ? 3 : 1) {
            for change: UInt8 in [1, 0x20, 0x80] {
                var data = whole
                data[data.startIndex + place] ^= change
                let found = read(data)
                if type == NSBinaryStoreType { #expect(found == nil, "byte \(place)") }
            }
        }
    }

    // S1
    @Test(arguments: AtomicWorld.types) func metadataMayHoldAnyText(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open(), store = try context.onlyStore
        let words = ["a\u{1}b", "a\r\nb", "\u{FFFE}", "<&>"]
        store.metadata = store.metadata.merging(["words": words, "k\u{2}": 1] as [String: Any]) { $1 }
        try context.saving { $0.make("Author") }
        let again = try world.open().onlyStore
        #expect(again.metadata["words"] as? [String] == words && again.metadata["k\u{2}"] as? Int == 1 && again.identifier == store.identifier)
        #expect(try world.open().count("Author") == 1)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func aOneToOneMayLeadNowhereIfNobodyMinds(_ type: String) throws {
        let first = StoreModels.entity("First"), second = StoreModels.entity("Second")
        StoreModels.relate(first, "second", toMany: false, second, "first", inverseToMany: false)
        second.relationshipsByName["first"]?.deleteRule = .noActionDeleteRule
        let world = try AtomicWorld(type, NSManagedObjectModel(entities: [first, second])), context = try world.open()
        try context.saving { context in
            let one: NSManagedObject = context.make("First")
            one.setValue(context.make("Second"), forKey: "second")
        }
        try context.saving { context in for two in try context.all("Second") { context.delete(two) } }
        let again = try world.open()
        #expect(try again.count("First") == 1 && again.count("Second") == 0)
        try again.saving { $0.make("Second") }
        #expect(try world.open().count("Second") == 1)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func whatIsWrittenBetweenCheckAndCommitStays(_ type: String) throws {
        let world = try AtomicWorld(type), context = try world.open(), theirs = Data("theirs".utf8)
        let store = try #require(try context.onlyStore as? InMemoryStore), file = world.file
        store.observe { if case .commit = $0 { try theirs.write(to: file) } }
        let refused = told { try context.saving { $0.make("Author") } }
        #expect(refused.code == 134030 && refused.sentence.contains("written by somebody else"))
        #expect(try Data(contentsOf: file) == theirs && world.files == ["Store"] && context.performAndWait { context.hasChanges })
    }

    // S1
    @Test(arguments: AtomicWorld.types) func whatWasOpenedInSpiteOfItsVersionIsOfTheModelAfterASave(_ type: String) throws {
        let before = NSManagedObjectModel(entities: [StoreModels.entity("Item", [StoreModels.attribute("name", .string)])])
        func after() -> NSManagedObjectModel {
            NSManagedObjectModel(entities: [
                StoreModels.entity("Item", [StoreModels.attribute("name", .string), StoreModels.attribute("new", .string)])
            ])
        }
        let world = try AtomicWorld(type, before)
        try world.open().saving { $0.make("Item", ["name": "a"]) }
        try world.open(after(), options: [NSIgnorePersistentStoreVersioningOption: true]).saving { $0.make("Item", ["new": "b"]) }
        #expect(try world.open(after()).count("Item") == 2)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func leftoversOthersNamesAndDanglingLinksDoNoHarm(_ type: String) throws {
        let world = try AtomicWorld(type), other = world.folder.appendingPathComponent("other"), link = world.folder.appendingPathComponent("Link")
        try Data("mine".utf8).write(to: other)
        try FileManager.default.linkItem(at: other, to: world.folder.appendingPathComponent(".Store.new"))
        try world.open().saving { $0.make("Author") }
        #expect(try Data(contentsOf: other) == Data("mine".utf8) && world.files == ["Store", "other"])
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "Made")
        try world.open(at: link).saving { $0.make("Author") }
        #expect(world.files == ["Link", "Made", "Store", "other"])
        try Data("damaged".utf8).write(to: other)
        let whole = try Data(contentsOf: world.file)
        try whole.prefix(whole.count / 2).write(to: other)
        try NSPersistentStoreCoordinator(managedObjectModel: world.model).replacePersistentStore(
            at: other, withPersistentStoreFrom: world.file, ofType: type)
        #expect(try Data(contentsOf: other) == whole)
    }

    // S1
    @Test(arguments: AtomicWorld.types) func manyWhoMakeAStoreAtOnceGetTheSame(_ type: String) throws {
        let world = try AtomicWorld(type), found = Mutex<[String]>([])
        // What a thread needs of the world, none of which changes.
        nonisolated(unsafe) let shared = world
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let name = (try? shared.open(StoreModels.sameAsMoving()).onlyStore.identifier).flatMap(\.self) ?? "refused"
            found.withLock { $0.append(name) }
        }
        #expect(Set(found.withLock { $0 }).count == 1 && found.withLock { $0.first } != "refused", "\(found.withLock { $0 })")
    }

    static func format(_ type: String) -> any AtomicFormat { type == NSXMLStoreType ? XMLStoreFormat() : BinaryStoreFormat() }
}

extension StoreModels {
    /// Another model that is the same: one for each thread.
    static func sameAsMoving() -> NSManagedObjectModel { MovingStack.model() }
}
