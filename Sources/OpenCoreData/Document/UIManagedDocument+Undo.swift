import Foundation

extension UIManagedDocument {
    /// The undo manager of the main context; the root has none. Nil, the default: nothing is recorded. What is done and undone marks the
    /// document as changed like any other change of its context. Set it on the main queue.
    public var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }
}
