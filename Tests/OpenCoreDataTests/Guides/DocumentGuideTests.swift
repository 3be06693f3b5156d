import Foundation
import OpenCoreData
import Testing

/// The examples of the guide "Saving and merging" that need a document.
@Suite struct DocumentGuideTests {
    // D3, D6, D8, D9, GB30, GB32
    @Test func aDocumentSavesWhatWorkersPush() async throws {
        let library = try LibraryFixture()
        let folder = library.folder.appendingPathComponent("Shelf", isDirectory: true), model = library.model
        // snippet: document
        // Saved when the oldest change is 15 s old, when 5000 objects are unsaved, or 16 MiB of rows.
        let document = UIManagedDocument(fileURL: folder, model: model, autosavePolicy: AutosavePolicy(interval: 15, changes: 5000))
        let isThere = await withCheckedContinuation { done in
            document.save(to: folder, for: .forCreating) { done.resume(returning: $0) }
        }

        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try await worker.perform {
            let book = Book(context: worker)
            book.title = "Shirley"
            try worker.save()  // the document is dirty now
        }
        let unsaved = document.unsavedChangeCount
        try await document.save()  // does not wait for the 15 seconds
        // end
        // On a machine that is busy enough the 15 seconds are over before.
        #expect(isThere && unsaved <= 1 && document.unsavedChangeCount == 0 && !document.hasUnsavedChanges)
        // snippet: document-close
        try await document.close()
        // end
        #expect(document.documentState == .closed)

        let again = UIManagedDocument(fileURL: folder, model: libraryModel())
        let isOpen = await withCheckedContinuation { done in again.open { done.resume(returning: $0) } }
        #expect(isOpen)
        let context = again.managedObjectContext
        #expect(try await context.perform { try titles(in: context) } == ["Shirley"])
        try await again.close()
    }

    // GB31
    @Test func aJournalKeepsWhatAWorkerSaved() async throws {
        let library = try LibraryFixture()
        let folder = library.folder.appendingPathComponent("Shelf", isDirectory: true), model = library.model
        // snippet: document-journal
        let document = UIManagedDocument(fileURL: folder, model: model)
        document.pushJournaling = .written  // before it is opened; .synchronized survives loss of power, too
        // end
        let isThere = await withCheckedContinuation { done in
            document.save(to: folder, for: .forCreating) { done.resume(returning: $0) }
        }
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try await worker.perform {
            Book(context: worker).title = "Villette"
            try worker.save()
        }
        #expect(isThere)

        // What a process that is killed now leaves behind.
        let left = library.folder.appendingPathComponent("Left", isDirectory: true)
        try FileManager.default.copyItem(at: folder, to: left)
        let again = UIManagedDocument(fileURL: left, model: libraryModel())
        let isOpen = await withCheckedContinuation { done in again.open { done.resume(returning: $0) } }
        let context = again.managedObjectContext
        #expect(try await context.perform { try titles(in: context) } == ["Villette"])
        // Saved from the journal, or, on a busy machine, by the document before.
        #expect(isOpen && again.pushRecovery?.pushes ?? 1 == 1 && again.unsavedChangeCount == 0)
        try await again.close()
        try await document.close()
    }
}
