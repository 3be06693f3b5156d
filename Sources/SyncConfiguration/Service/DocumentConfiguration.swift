/// `[document]`: the package the data lives in, and when it saves itself. Whichever of the three limits is reached first triggers a save.
public struct DocumentConfiguration: Sendable, Hashable {
    /// The document package. In a configuration that was read, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` are already filled in.
    public var path = "$STATE_DIRECTORY"
    /// The age of the oldest unsaved change.
    public var autosaveInterval = TimeSpan.seconds(15)
    /// The number of changed objects.
    public var autosaveChanges = 5000
    /// The size of the rows waiting.
    public var autosaveBytes = ByteCount.mebibytes(16)

    /// The built-in values.
    public init() {}
}
