public import Foundation

/// How the whole pipeline stands.
public struct PipelineStatus: Sendable {
    public let resources: [ResourceStatus]
    /// Changed objects that are not on disk yet.
    public let unsavedChanges: Int
    /// Seconds since the oldest of them was made.
    public let oldestUnsavedChange: TimeInterval?

    public init(resources: [ResourceStatus], unsavedChanges: Int, oldestUnsavedChange: TimeInterval?) {
        self.resources = resources
        self.unsavedChanges = unsavedChanges
        self.oldestUnsavedChange = oldestUnsavedChange
    }
}
