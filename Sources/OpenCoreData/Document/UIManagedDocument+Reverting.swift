import Foundation

extension UIManagedDocument {
    /// Drops everything that is unsaved, in the whole stack, shows what is stored, and reads additional content again. The handler is called on the
    /// main queue; false says that additional content could not be read, and why went to `handleError(_:userInteractionPermitted:)`. Contexts that
    /// are children of the document's are theirs who made them: they keep what they have.
    public func revert(toContentsOf url: URL, completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        guard isHere(url) else { Violation.misuse("a document is reverted to the contents of its own fileURL") }
        managedObjectContext.perform { [self] in
            disableEditing()
            managedObjectContext.reset()
            root.perform { [self] in
                root.reset()
                let content = Result { () throws -> Void in if !documentState.contains(.closed) { try readContent() } }
                if case .failure(let error) = content { handleError(error, userInteractionPermitted: false) }
                let success = (try? content.get()) != nil
                managedObjectContext.perform { [self] in
                    updateChangeCount(.cleared)
                    enableEditing()
                    completionHandler?(success)
                }
            }
        }
    }
}
