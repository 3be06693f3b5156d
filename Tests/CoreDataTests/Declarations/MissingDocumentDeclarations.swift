#if os(iOS)

    import CoreData
    import Foundation
    import UIKit

    // Of documents and of iOS alone: what Apple declares and ours does not, or otherwise. Each is named beside its statement and in COVERAGE.md;
    // who adds one moves the statement to its class, and marks it with = instead of -.

    // MARK: UIManagedDocument

    @MainActor
    private func uiManagedDocumentMissing(_ it: UIManagedDocument, _ url: URL) async {
        let _: Bool = await it.close()  // - close()
    }

#endif
