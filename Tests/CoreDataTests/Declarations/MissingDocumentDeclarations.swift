#if os(iOS)

    import CoreData
    import Foundation
    import UIKit

    // Of documents and of iOS alone: what Apple declares and ours does not, or otherwise. Each is named beside its statement and in COVERAGE.md;
    // who adds one moves the statement to its class, and marks it with = instead of -.

    // MARK: UIManagedDocument

    @MainActor
    private func uiManagedDocumentMissing(_ it: UIManagedDocument, _ url: URL) async {
        let _: @MainActor (URL) throws -> Void = it.readAdditionalContent(from:)  // - readAdditionalContent(from:)
        let _: @MainActor (URL) throws -> Any = it.additionalContent(for:)  // - additionalContent(for:)
        // - writeAdditionalContent(_:to:originalContentsURL:)
        let _: @MainActor (Any, URL, URL?) throws -> Void = it.writeAdditionalContent(_:to:originalContentsURL:)
        let _: Bool = await it.close()  // - close()
    }

    // MARK: UIManagedDocument

    // It has no state of its own.
    private class OwnUIManagedDocument: UIManagedDocument, @unchecked Sendable {
        override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }  // - managedObjectModel, overridden
    }

#endif
