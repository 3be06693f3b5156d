/// Who saves: what persistent history tells of a save besides its changes.
package struct SaveOrigin: Hashable, Sendable {
    /// The `transactionAuthor` of the context that writes.
    package var author: String?
    /// Its name.
    package var contextName: String?

    package init(author: String?, contextName: String?) {
        self.author = author
        self.contextName = contextName
    }
}
