#if os(iOS)

    import CoreData
    import Foundation
    import UIKit

    // Of documents and of iOS alone: what Apple declares and ours does not, or otherwise. Each is named beside its statement and in COVERAGE.md;
    // who adds one moves the statement to its class, and marks it with = instead of -.

    // MARK: NSPersistentStoreFileProtectionKey

    private func nsPersistentStoreFileProtectionKeyMissing() {
        let _: String = NSPersistentStoreFileProtectionKey  // - NSPersistentStoreFileProtectionKey
    }

    // MARK: UIManagedDocument

    @MainActor
    private func uiManagedDocumentMissing(_ it: UIManagedDocument, _ url: URL) async {
        let _: (URL) -> UIManagedDocument = UIManagedDocument.init(fileURL:)  // - init(fileURL:)
        let _: @MainActor (URL) throws -> Void = it.readAdditionalContent(from:)  // - readAdditionalContent(from:)
        let _: @MainActor (URL) throws -> Any = it.additionalContent(for:)  // - additionalContent(for:)
        // - writeAdditionalContent(_:to:originalContentsURL:)
        let _: @MainActor (Any, URL, URL?) throws -> Void = it.writeAdditionalContent(_:to:originalContentsURL:)
        let _: KeyPath<UIManagedDocument, String> = \.localizedName  // - localizedName
        let _: KeyPath<UIManagedDocument, String?> = \.fileType  // - fileType
        let _: ReferenceWritableKeyPath<UIManagedDocument, Date?> = \.fileModificationDate  // - fileModificationDate
        let _: KeyPath<UIManagedDocument, UIDocument.State> = \.documentState  // - documentState
        let _: KeyPath<UIManagedDocument, Progress?> = \.progress  // - progress
        let _: Bool = await it.open()  // - open()
        let _: Bool = await it.close()  // - close()
        let _: Bool = await it.save(to: url, for: .forCreating)  // - save(to:for:)
        let _: @MainActor (any Error, Bool) -> Void = it.finishedHandlingError(_:recovered:)  // - finishedHandlingError(_:recovered:)
        let _: @MainActor (any Error) -> Void = it.userInteractionNoLongerPermitted(forError:)  // - userInteractionNoLongerPermitted(forError:)
        let _: @MainActor () -> Void = it.enableEditing  // - enableEditing()
        let _: @MainActor () -> Void = it.disableEditing  // - disableEditing()
        let _: Notification.Name = UIDocument.stateChangedNotification  // - stateChangedNotification
    }

    // MARK: UIManagedDocument

    // It has no state of its own.
    private class OwnUIManagedDocument: UIManagedDocument, @unchecked Sendable {
        override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }  // - managedObjectModel, overridden
    }

#endif
