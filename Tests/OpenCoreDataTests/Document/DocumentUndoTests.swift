import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@MainActor @Suite struct DocumentUndoTests {
    // D11, D4, U1
    @Test func theDocumentsUndoManagerIsTheMainContexts() async throws {
        let document = TestDocument(clock: ManualDocumentClock())
        #expect(document.undoManager == nil)
        try document.openStore(creating: true)
        let context = document.managedObjectContext
        document.undoManager = UndoManager()
        #expect(context.undoManager === document.undoManager && context.parent?.undoManager == nil)
        context.make("Item", ["key": "one"])
        context.processPendingChanges()
        #expect(document.hasUnsavedChanges)
        context.undo()
        #expect(!document.hasUnsavedChanges)
        context.redo()
        try await document.save()
        #expect(try document.storedCount("Item") == 1 && !document.hasUnsavedChanges)
        context.undo()
        #expect(document.hasUnsavedChanges)
        try await document.save()
        #expect(try document.storedCount("Item") == 0)
    }

    // D11, U2
    @Test func changesOfOneTurnAreOneNamedGroup() async throws {
        let document = TestDocument(clock: ManualDocumentClock())
        try document.openStore(creating: true)
        let context = document.managedObjectContext, manager = UndoManager()
        document.undoManager = manager
        let item = context.make("Item", ["key": "one"])
        manager.setActionName("Make")
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(manager.undoCount == 1 && manager.undoActionName == "Make")
        manager.undo()
        #expect(item.isDeleted && manager.redoActionName == "Make")
    }
}
