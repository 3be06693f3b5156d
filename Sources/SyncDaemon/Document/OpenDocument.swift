/// The open document as the daemon sees it. `OpenedDocument` is it; tests put a fake in its place.
public protocol OpenDocument: Sendable {
    /// The package.
    var path: String { get }
    /// How many changed objects are not on disk yet.
    var unsavedChanges: Int { get }
    /// How old the oldest unsaved change is, in seconds; `nil` if nothing is unsaved.
    var oldestUnsavedSeconds: Double? { get }
    /// Asks the root context for a sign of life: a read of the store. `done` is called when it has answered, whatever it says.
    func probe(_ done: @escaping @Sendable () -> Void)
    /// Saves everything, closes the store, and lets the lock go.
    func close() async throws
}
