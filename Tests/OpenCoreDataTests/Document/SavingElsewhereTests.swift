import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A document whose store is of a type that a test chooses, and which may have others.
// It never changes.
private final class TypedDocument: UIManagedDocument, @unchecked Sendable {
    private let type: String
    private let others: [URL]

    init(_ url: URL, _ type: String, others: [URL] = []) {
        self.type = type
        self.others = others
        super.init(fileURL: url, model: Company.model())
        clock = ManualDocumentClock()
    }

    override func persistentStoreType(forFileType fileType: String) -> String { type }

    override func configurePersistentStoreCoordinator(
        for storeURL: URL, ofType fileType: String, modelConfiguration: String?, storeOptions: [AnyHashable: Any]?
    ) throws {
        try super.configurePersistentStoreCoordinator(
            for: storeURL, ofType: fileType, modelConfiguration: modelConfiguration, storeOptions: storeOptions)
        for url in others {
            try managedObjectContext.persistentStoreCoordinator?.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        }
    }
}

/// "Save As".
@Suite struct SavingElsewhereTests {
    // D6, D8
    @Test func theDocumentGoesOnAtTheOtherPlace() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        await document.insert("second")
        let coordinator = try #require(document.managedObjectContext.persistentStoreCoordinator)
        #expect(await document.save(to: folder.place("deep/new.book"), for: .forCreating))
        #expect(document.errors.isEmpty && document.documentState == .normal && !document.hasUnsavedChanges)
        #expect(document.fileURL == folder.place("deep/new.book") && document.localizedName == "new")
        #expect(document.storeURL == folder.place("deep/new.book").appendingPathComponent("StoreContent/persistentStore"))
        #expect(coordinator.persistentStores.map(\.url) == [document.storeURL] && document.fileModificationDate != nil)
        await document.insert("third")
        try await document.close()
        #expect(try await folder.keys(in: "deep/new.book") == ["first", "second", "third"])
        #expect(try await folder.keys(in: "old.book") == ["first", "second"])
        #expect(folder.names == ["deep", "old.book"])
    }

    // D6, D8
    @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType])
    func objectsAndTheirIDsStayValidWhateverTheStore(type: String) async throws {
        let folder = try DocumentFolder(), document = TypedDocument(folder.place("old"), type), main = document.managedObjectContext
        try #require(await document.save(to: document.fileURL, for: .forCreating))
        await document.insert("first")
        try await document.save()
        let item = try await main.perform { () throws in try #require(main.all("Item").first) }
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = main
        let theirs = await main.perform { item.objectID }
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        try await worker.perform { () throws in
            let item = try worker.existingObject(with: theirs)
            #expect(item.value(forKey: "key") as? String == "first")
            item.setValue("changed", forKey: "key")
            try worker.save()
        }
        try await document.save()
        await main.perform {
            #expect(item.value(forKey: "key") as? String == "changed" && item.objectID.persistentStore?.url == document.storeURL)
        }
        try await document.close()
        #expect(document.fileURL == folder.place("new"))
    }

    // D8
    @Test func theNewStoreHasAUUIDOfItsOwnWhichURIsName() async throws {
        let folder = try DocumentFolder(), document = try await folder.made(), main = document.managedObjectContext
        let coordinator = try #require(main.persistentStoreCoordinator), old = coordinator.persistentStores[0].identifier
        let (id, uri) = try await main.perform { () throws in
            let id = try #require(main.all("Item").first).objectID
            return (id, id.uriRepresentation())
        }
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        #expect(coordinator.persistentStores[0].identifier != old && id.uriRepresentation() != uri)
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        try await document.close()
    }

    // D8, D12
    @Test func contentIsWrittenThereAndMayBeCopiedFromTheOldPlace() async throws {
        let folder = try DocumentFolder(), document = try await folder.made(), old = document.contentURL
        document.text = "one"
        try await document.save()
        document.text = "two"
        document.updateChangeCount(.done)
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        #expect(document.originals.last == old && document.calls.contains("ask for new/AdditionalContent on main"))
        #expect(document.written == "two" && ContentDocument.written(in: folder.place("old.book")) == "one" && !document.hasUnsavedChanges)
        // Whoever has nothing to write has what was written before.
        document.text = nil
        #expect(await document.save(to: folder.place("newer"), for: .forCreating))
        #expect(document.written == "two" && document.fileURL == folder.place("newer"))
        try await document.close()
    }

    // D8
    @Test func anotherDocumentIsReplacedAsAWhole() async throws {
        let folder = try DocumentFolder(), other = try await folder.made("other.book", "theirs")
        other.text = "theirs"
        try await other.close()
        let document = try await folder.made()
        await document.insert("second")
        #expect(await document.save(to: folder.place("other.book"), for: .forOverwriting))
        #expect(document.fileURL == folder.place("other.book") && document.written == nil)
        await document.insert("third")
        try await document.close()
        #expect(try await folder.keys(in: "other.book") == ["first", "second", "third"])
        #expect(folder.names == ["old.book", "other.book"])
    }

    // D8
    @Test func whatIsNotThereYetIsOverwrittenToo() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        #expect(await document.save(to: folder.place("new"), for: .forOverwriting))
        try await document.close()
        #expect(try await folder.keys(in: "new") == ["first"])
    }

    // D8
    @Test func anEmptyFolderIsAPlaceToCreateADocument() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        try FileManager.default.createDirectory(at: folder.place("new"), withIntermediateDirectories: false)
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        try await document.close()
        #expect(try await folder.keys(in: "new") == ["first"])
    }

    // D6
    @Test func itsOwnPlaceByAnotherNameIsItsOwnPlace() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        try FileManager.default.createSymbolicLink(at: folder.place("link"), withDestinationURL: document.fileURL)
        let uuid = document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first?.identifier
        for url in [folder.place("link"), folder.place("x/../old.book"), URL(fileURLWithPath: document.fileURL.path, isDirectory: true)] {
            await document.insert(url.absoluteString)
            #expect(await document.save(to: url, for: .forOverwriting) && document.fileURL == folder.place("old.book"))
        }
        #expect(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first?.identifier == uuid)
        try await document.close()
        #expect(try await folder.keys(in: "old.book").count == 4)
    }

    // D6
    @Test func aClosedDocumentIsCreatedElsewhere() async throws {
        let folder = try DocumentFolder(), document = ContentDocument(folder.place("old"))
        document.text = "hello"
        await document.insert("first")
        #expect(await document.save(to: folder.place("deep/new"), for: .forCreating))
        #expect(document.fileURL == folder.place("deep/new") && document.documentState == .normal && document.written == "hello")
        try await document.close()
        #expect(folder.names == ["deep"])
        #expect(try await folder.keys(in: "deep/new") == ["first"])
    }

    // D2, D8
    @Test func storesInThePackageGoAlongAndOthersStay() async throws {
        let folder = try DocumentFolder(), inside = folder.place("old/More/inside"), outside = folder.place("outside")
        try FileManager.default.createDirectory(at: folder.place("old/More"), withIntermediateDirectories: true)
        let document = TypedDocument(folder.place("old"), NSSQLiteStoreType, others: [inside, outside]), main = document.managedObjectContext
        try #require(await document.save(to: document.fileURL, for: .forCreating))
        let coordinator = try #require(main.persistentStoreCoordinator)
        try await main.perform { () throws in
            for (number, store) in coordinator.persistentStores.enumerated() {
                main.assign(main.make("Item", ["key": "\(number)"]), to: store)
            }
        }
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        #expect(coordinator.persistentStores.map(\.url) == [document.storeURL, folder.place("new/More/inside"), outside])
        try await main.perform { () throws in
            for item in try main.all("Item") { item.setValue("\(item.value(forKey: "key") ?? "")!", forKey: "key") }
        }
        try await document.save()
        #expect(try await document.keys() == ["0!", "1!", "2!"])
        try await document.close()
        #expect(try await folder.keys(in: "new") == ["0!"])
        #expect(try await folder.keys(in: "old") == ["0"])
    }
}
