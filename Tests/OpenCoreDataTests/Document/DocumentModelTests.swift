import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A document whose class knows its model, as programs for iOS write it.
// It never changes.
private final class OwnModelDocument: UIManagedDocument, @unchecked Sendable {
    static let model = Company.model()
    override var managedObjectModel: NSManagedObjectModel { Self.model }
}

/// A document whose model depends on what it was made with.
// It never changes.
private final class ChosenModelDocument: UIManagedDocument, @unchecked Sendable {
    private let chosen: NSManagedObjectModel

    init(_ url: URL, _ model: NSManagedObjectModel) {
        chosen = model
        super.init(fileURL: url)
    }

    override var managedObjectModel: NSManagedObjectModel { chosen }
}

@Suite struct DocumentModelTests {
    // D2
    @Test func theModelThatASubclassSaysIsTheCoordinators() async throws {
        let folder = try DocumentFolder()
        let documents = [
            OwnModelDocument(fileURL: folder.place("a")), OwnModelDocument(fileURL: folder.place("b"), model: NSManagedObjectModel()),
        ]
        for document in documents {
            #expect(document.managedObjectContext.persistentStoreCoordinator?.managedObjectModel === OwnModelDocument.model)
            #expect(await document.save(to: document.fileURL, for: .forCreating))
            await document.insert("one")
            try await document.close()
        }
        #expect(try await folder.keys(in: "a") == ["one"])
    }

    // D2
    @Test func aSubclassIsAskedForItsModelWhenItsPropertiesAreSet() throws {
        let model = Company.model(), document = ChosenModelDocument(URL(fileURLWithPath: "/nowhere"), model)
        #expect(document.managedObjectContext.persistentStoreCoordinator?.managedObjectModel === model)
    }

    // D2
    @Test func withoutAnOverrideTheModelIsTheOneThatWasGiven() throws {
        let model = Company.model(), document = UIManagedDocument(fileURL: URL(fileURLWithPath: "/nowhere"), model: model)
        #expect(document.managedObjectModel === model && document.managedObjectContext.persistentStoreCoordinator?.managedObjectModel === model)
    }
}
