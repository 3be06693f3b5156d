import Foundation

/// What a document found in its push journal when it was opened, and what became of it.
public struct PushRecovery: Sendable {
    /// How many pushed saves were found that had not been committed.
    public let pushes: Int
    /// How many objects they inserted, changed or deleted, in the store now.
    public let objects: Int
    /// Whether it is committed. False if the store could not be written for the time being: then it is unsaved in the document, and in the
    /// journal still.
    public let isCommitted: Bool
    /// What could not be applied, and why; one sentence each. It was kept in files, see `keptAside`.
    public let problems: [String]
    /// Which to-manys of what was applied have too few or too many members for the model, one sentence each; or that they could not be counted. Nothing
    /// was left out for that: the stores hold it, and the next save of such an owner is refused (1580, 1590) until it is put right.
    public let miscounted: [String]
    /// The files in the document's package that hold what could not be applied. Nothing reads or removes them but people.
    public let keptAside: [URL]
}
