import Foundation

extension UIManagedDocument {
    /// Drops everything that is unsaved, in the whole stack, and shows what is stored. The handler is called on the main queue. Contexts that are
    /// children of the document's are theirs who made them: they keep what they have.
    public func revert(toContentsOf url: URL, completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        guard url.standardizedFileURL == fileURL.standardizedFileURL else {
            Violation.misuse("a document is reverted to the contents of its own fileURL")
        }
        managedObjectContext.perform { [self] in
            managedObjectContext.reset()
            root.perform { [self] in
                root.reset()
                managedObjectContext.perform { [self] in
                    updateChangeCount(.cleared)
                    completionHandler?(true)
                }
            }
        }
    }
}
