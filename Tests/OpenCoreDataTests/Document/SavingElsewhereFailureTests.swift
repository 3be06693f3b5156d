import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// "Save As" that can't be: the document stays where it is, with everything in it, and the other place is as it was.
@Suite struct SavingElsewhereFailureTests {
    private let folder: DocumentFolder

    init() throws { folder = try DocumentFolder() }

    /// Has a document, which has an unsaved item, saved elsewhere in vain; then it is saved and closed, and must be whole at its place.
    private func refused(
        _ document: ContentDocument, _ url: URL, _ operation: UIManagedDocument.SaveOperation = .forCreating, leaving names: [String] = ["old.book"]
    ) async throws -> NSError? {
        await document.insert("second")
        #expect(await !document.save(to: url, for: operation))
        #expect(document.fileURL == folder.place("old.book") && !document.documentState.contains(.closed) && folder.names == names)
        let errors = document.errors
        document.failing = []
        await document.insert("third")
        #expect(await document.save(to: document.fileURL, for: .forOverwriting))
        #expect(!document.documentState.contains(.savingError))
        try await document.close()
        #expect(try await folder.keys(in: "old.book") == ["first", "second", "third"])
        return errors.count == 1 ? errors[0] : nil
    }

    // D8
    @Test(arguments: [true, false]) func whatIsThereIsNotReplacedByCreating(isDocument: Bool) async throws {
        if isDocument {
            try await folder.made("there", "theirs").close()
        } else {
            try Data("theirs".utf8).write(to: folder.place("there"))
        }
        let document = try await folder.made()
        #expect(try await refused(document, folder.place("there"), leaving: ["old.book", "there"])?.code == 516)
        if isDocument {
            #expect(try await folder.keys(in: "there") == ["theirs"])
        } else {
            #expect(try String(contentsOf: folder.place("there"), encoding: .utf8) == "theirs")
        }
    }

    // D8
    @Test(arguments: [true, false]) func whatIsNoDocumentIsNotReplacedAtAll(isFolder: Bool) async throws {
        let file = isFolder ? folder.place("there/file") : folder.place("there")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("theirs".utf8).write(to: file)
        let document = try await folder.made()
        #expect(try await refused(document, folder.place("there"), .forOverwriting, leaving: ["old.book", "there"])?.code == 516)
        #expect(try String(contentsOf: file, encoding: .utf8) == "theirs")
    }

    // D8
    @Test func aPlaceWithinThePackageOrAroundItIsRefused() async throws {
        for url in [folder.place("old.book/new"), folder.url, URL(fileURLWithPath: "/"), folder.place("old.book/StoreContent/x/y")] {
            try? FileManager.default.removeItem(at: folder.place("old.book"))
            let document = try await folder.made()
            #expect(try await refused(document, url, .forOverwriting)?.code == 514)
        }
    }

    // D8
    @Test func aPlaceThatIsNoFileIsRefused() async throws {
        let document = try await folder.made(), url = try #require(URL(string: "https://example.org/new.book"))
        #expect(try await refused(document, url)?.code == 518)
    }

    // D8
    @Test func aFolderThatCannotBeWrittenToIsToldAndNothingIsLost() async throws {
        try Data().write(to: folder.place("file"))
        let document = try await folder.made()
        #expect(try await refused(document, folder.place("file/new.book"), leaving: ["file", "old.book"]) != nil)
    }

    // D8, D12
    @Test(arguments: [ContentDocument.Step.asking, .writing])
    func contentThatFailsKeepsTheDocumentWhereItIs(step: ContentDocument.Step) async throws {
        let document = try await folder.made()
        document.text = "one"
        try await document.save()
        document.text = "two"
        document.updateChangeCount(.done)
        document.failing = [step]
        _ = try await refused(document, folder.place("new"))
        // It was still marked, and saved with the rest.
        #expect(document.written == "two")
    }

    // D8
    @Test func contentThatFailsLeavesTheMark() async throws {
        let document = try await folder.made()
        document.text = "typed"
        document.updateChangeCount(.done)
        document.failing = [.writing]
        #expect(await !document.save(to: folder.place("new"), for: .forCreating) && document.hasUnsavedChanges)
        document.failing = []
        try await document.close()
        #expect(document.written == "typed")
    }

    // D8
    @Test(arguments: [UIManagedDocument.SaveOperation.forCreating, .forOverwriting])
    func aStoreThatCannotBeCopiedStaysWhereItIs(operation: UIManagedDocument.SaveOperation) async throws {
        let isReplacing = operation == .forOverwriting
        if isReplacing { try await folder.made("new", "theirs").close() }
        let document = try await folder.made(), folder = folder
        let store = try #require(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first)
        // When the new package is begun and nothing is copied yet: a file where its folder of stores is.
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil) { _ in
            for name in folder.names where name.hasPrefix(".document-") {
                let content = folder.place(name).appendingPathComponent("StoreContent")
                try? FileManager.default.removeItem(at: content)
                try? Data().write(to: content)
            }
        }
        let names = isReplacing ? ["new", "old.book"] : ["old.book"]
        await document.insert("second")
        #expect(await !document.save(to: folder.place("new"), for: operation))
        NotificationCenter.default.removeObserver(token)
        #expect(document.errors.count == 1 && folder.names == names)
        #expect(document.managedObjectContext.persistentStoreCoordinator?.persistentStores == [store])
        await document.insert("third")
        try await document.close()
        #expect(try await folder.keys(in: "old.book") == ["first", "second", "third"])
        if isReplacing { #expect(try await folder.keys(in: "new") == ["theirs"]) }
    }

    // D8
    @Test func whatCannotBeSavedIsNotSavedElsewhereEither() async throws {
        let document = try await folder.made(), main = document.managedObjectContext
        await main.perform { main.make("Person").setValue(nil, forKey: "name") }
        #expect(await !document.save(to: folder.place("new"), for: .forCreating))
        #expect(document.errors.map(\.code) == [1570] && document.fileURL == folder.place("old.book") && folder.names == ["old.book"])
        try await document.close()
    }

    // D8
    @Test func aDocumentThatKeepsAJournalIsNotReplaced() async throws {
        let other = UIManagedDocument(fileURL: folder.place("new"), model: Company.model())
        other.pushJournaling = .written
        try #require(await other.save(to: other.fileURL, for: .forCreating))
        let document = try await folder.made()
        #expect(try await refused(document, other.fileURL, .forOverwriting, leaving: ["new", "old.book"])?.code == 134080)
        try await other.close()
    }

    // D6
    @Test func aClosedDocumentThatCannotBeCreatedElsewhereStaysWhereItWas() async throws {
        try Data().write(to: folder.place("file"))
        try await folder.made("there", "theirs").close()
        let document = ContentDocument(folder.place("old.book"))
        for (name, operation) in [("file/new", UIManagedDocument.SaveOperation.forCreating), ("there", .forCreating), ("new", .forOverwriting)] {
            #expect(await !document.save(to: folder.place(name), for: operation))
            #expect(document.fileURL == folder.place("old.book") && document.documentState.contains(.closed))
        }
        document.persistentStoreOptions = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        #expect(await !document.save(to: folder.place("new"), for: .forCreating))
        #expect(document.fileURL == folder.place("old.book") && folder.names == ["file", "there"])
        document.persistentStoreOptions = nil
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        try await document.close()
    }

    // D8
    @Test func aClosedDocumentWithUnsavedChangesOfItsStoreIsNotCreatedElsewhere() async throws {
        let document = try await folder.made()
        let main = document.managedObjectContext, kept = Kept()
        try await main.perform { () throws in
            kept.objects = try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            for object in kept.objects { _ = object.value(forKey: "key") }
        }
        try await document.close()
        await main.perform {
            for object in kept.objects { object.setValue("late", forKey: "key") }
            main.processPendingChanges()
        }
        #expect(await !document.save(to: folder.place("new"), for: .forCreating))
        #expect(document.fileURL == folder.place("old.book") && document.documentState.contains(.closed) && folder.names == ["old.book"])
        // Nothing is lost: it is saved where it belongs.
        try #require(await document.open())
        try await document.save()
        #expect(try await document.keys() == ["late"])
        try await document.close()
    }

    // Used on the main context's queue.
    private final class Kept: @unchecked Sendable {
        var objects: [NSManagedObject] = []
    }
}
