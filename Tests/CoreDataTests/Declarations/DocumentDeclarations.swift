import CoreData
import Foundation

// The document, which is UIKit's. Each statement uses one of Apple's declarations as it is spelled and typed; the comment behind or above it
// names it, and COVERAGE.md counts them. UIKit is not among what these tests import on Apple's platforms.

#if !canImport(ObjectiveC)

    // MARK: NSPersistentStoreFileProtectionKey

    private func nsPersistentStoreFileProtectionKey() {
        let _: String = NSPersistentStoreFileProtectionKey  // = NSPersistentStoreFileProtectionKey
    }

    // MARK: UIManagedDocument

    @MainActor
    private func uiManagedDocument(_ it: UIManagedDocument, _ url: URL) async {
        let _: String = UIManagedDocument.persistentStoreName  // = persistentStoreName
        let _: KeyPath<UIManagedDocument, NSManagedObjectContext> = \.managedObjectContext  // = managedObjectContext
        let _: KeyPath<UIManagedDocument, NSManagedObjectModel> = \.managedObjectModel  // = managedObjectModel
        let _: ReferenceWritableKeyPath<UIManagedDocument, [AnyHashable: Any]?> = \.persistentStoreOptions  // = persistentStoreOptions
        let _: ReferenceWritableKeyPath<UIManagedDocument, String?> = \.modelConfiguration  // = modelConfiguration
        // = configurePersistentStoreCoordinator(for:ofType:modelConfiguration:storeOptions:)
        let _: @MainActor (URL, String, String?, [AnyHashable: Any]?) throws -> Void = it.configurePersistentStoreCoordinator(
            for:ofType:modelConfiguration:storeOptions:)
        let _: @MainActor (String) -> String = it.persistentStoreType(forFileType:)  // = persistentStoreType(forFileType:)
        let _: KeyPath<UIManagedDocument, URL> = \.fileURL  // = fileURL
        let _: ReferenceWritableKeyPath<UIManagedDocument, UndoManager?> = \.undoManager  // = undoManager
        let _: KeyPath<UIManagedDocument, Bool> = \.hasUnsavedChanges  // = hasUnsavedChanges
        it.open { (_: Bool) in }  // = open(completionHandler:)
        it.close { (_: Bool) in }  // = close(completionHandler:)
        it.save(to: url, for: .forOverwriting) { (_: Bool) in }  // = save(to:for:completionHandler:)
        it.autosave { (_: Bool) in }  // = autosave(completionHandler:)
        it.revert(toContentsOf: url) { (_: Bool) in }  // = revert(toContentsOf:completionHandler:)
        it.updateChangeCount(.done)  // = updateChangeCount(_:)
        let _: @MainActor (any Error, Bool) -> Void = it.handleError(_:userInteractionPermitted:)  // = handleError(_:userInteractionPermitted:)
        let _: (URL) -> UIManagedDocument = UIManagedDocument.init(fileURL:)  // = init(fileURL:)
        let _: KeyPath<UIManagedDocument, String> = \.localizedName  // = localizedName
        let _: KeyPath<UIManagedDocument, String?> = \.fileType  // = fileType
        let _: ReferenceWritableKeyPath<UIManagedDocument, Date?> = \.fileModificationDate  // = fileModificationDate
        let _: KeyPath<UIManagedDocument, UIDocument.State> = \.documentState  // = documentState
        let _: KeyPath<UIManagedDocument, Progress?> = \.progress  // = progress
        let _: Bool = await it.open()  // = open()
        let _: Bool = await it.save(to: url, for: .forCreating)  // = save(to:for:)
        let _: @MainActor (any Error, Bool) -> Void = it.finishedHandlingError(_:recovered:)  // = finishedHandlingError(_:recovered:)
        let _: @MainActor (any Error) -> Void = it.userInteractionNoLongerPermitted(forError:)  // = userInteractionNoLongerPermitted(forError:)
        let _: @MainActor () -> Void = it.enableEditing  // = enableEditing()
        let _: @MainActor () -> Void = it.disableEditing  // = disableEditing()
        let _: Notification.Name = UIDocument.stateChangedNotification  // = stateChangedNotification
        let _: @MainActor (URL) throws -> Void = it.readAdditionalContent(from:)  // = readAdditionalContent(from:)
        let _: @MainActor (URL) throws -> Any = it.additionalContent(for:)  // = additionalContent(for:)
        // = writeAdditionalContent(_:to:originalContentsURL:)
        let _: @MainActor (Any, URL, URL?) throws -> Void = it.writeAdditionalContent(_:to:originalContentsURL:)
    }

    // MARK: UIManagedDocument

    // It has no state of its own.
    private class OwnUIManagedDocument: UIManagedDocument, @unchecked Sendable {
        override class var persistentStoreName: String { "store" }  // = persistentStoreName, overridden
        // = persistentStoreType(forFileType:), overridden
        override func persistentStoreType(forFileType fileType: String) -> String { NSSQLiteStoreType }
        // = configurePersistentStoreCoordinator(for:ofType:modelConfiguration:storeOptions:), overridden
        override func configurePersistentStoreCoordinator(
            for storeURL: URL, ofType fileType: String, modelConfiguration configuration: String?, storeOptions: [AnyHashable: Any]? = nil
        ) throws {}
        // = handleError(_:userInteractionPermitted:), overridden
        override func handleError(_ error: any Error, userInteractionPermitted: Bool) {}
        override var hasUnsavedChanges: Bool { super.hasUnsavedChanges }  // = hasUnsavedChanges, overridden
        override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }  // = managedObjectModel, overridden
    }

#endif
