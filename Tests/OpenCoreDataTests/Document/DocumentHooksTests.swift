import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// A document that notes what is asked of it.
// What changes is guarded by a lock.
private final class NotingDocument: UIManagedDocument, @unchecked Sendable {
    private let noted = Mutex<[String]>([])
    var calls: [String] { noted.withLock { $0 } }

    override func disableEditing() { noted.withLock { $0.append("off \(Thread.isMainThread)") } }
    override func enableEditing() { noted.withLock { $0.append("on \(Thread.isMainThread)") } }
    override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
        noted.withLock { $0.append("error") }
        finishedHandlingError(error, recovered: false)
    }
    override func finishedHandlingError(_ error: any Error, recovered: Bool) { noted.withLock { $0.append("finished \(recovered)") } }
}

/// What UIKit's documents tell of themselves, and opening and saving that is waited for.
@Suite struct DocumentHooksTests {
    private func document(_ name: String = "Notes.book") -> NotingDocument {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("document-\(UUID().uuidString)")
        return NotingDocument(fileURL: folder.appendingPathComponent(name), model: Company.model())
    }

    // D8
    @Test func openingAndSavingAreWaitedForAndSayWhetherTheyWorked() async throws {
        let document = document()
        defer { try? FileManager.default.removeItem(at: document.fileURL.deletingLastPathComponent()) }
        #expect(await !document.open())
        #expect(document.calls == ["error", "finished false"] && document.fileModificationDate == nil)
        #expect(await document.save(to: document.fileURL, for: .forCreating))
        let made = try #require(document.fileModificationDate)
        let main = document.managedObjectContext
        await main.perform { _ = main.make("Item") }
        #expect(await document.save(to: document.fileURL, for: .forOverwriting))
        #expect(try #require(document.fileModificationDate) >= made)
        try await document.close()
        #expect(await document.open())
        #expect(document.documentState == UIDocument.State.normal && document.progress == nil)
        #expect(try await main.perform { () throws in try main.all("Item").count } == 1)
        try await document.close()
    }

    // D8
    @Test func nobodyEditsWhileADocumentIsReverted() async throws {
        let document = document()
        defer { try? FileManager.default.removeItem(at: document.fileURL.deletingLastPathComponent()) }
        #expect(await document.save(to: document.fileURL, for: .forCreating))
        await withCheckedContinuation { continuation in document.revert(toContentsOf: document.fileURL) { _ in continuation.resume() } }
        #expect(document.calls.map { $0.prefix(3) } == ["off", "on "])
        try await document.close()
    }

    @Test func aDocumentIsCalledAndTypedByItsPackage() {
        #expect(document().localizedName == "Notes" && document().fileType == "book")
        #expect(document("Notes").localizedName == "Notes" && document("Notes").fileType == nil)
    }

    @Test func aDocumentThatIsGivenNoModelTakesThatOfTheProgramsResources() throws {
        let model = try #require(NSManagedObjectModel.mergedModel(from: nil)), names = Set(model.entities.compactMap(\.name))
        let document = UIManagedDocument(fileURL: URL(fileURLWithPath: "/nowhere"))
        #expect(!names.isEmpty && Set(document.managedObjectModel.entities.compactMap(\.name)) == names)
    }
}
