/// Lets a test decide in which order parses that run at the same time look up, write and save. Nil in a daemon.
struct ParseProbe: Sendable {
    enum Stage: Sendable, CaseIterable {
        /// A batch was read; its objects are looked up next.
        case lookingUp
        /// They were looked up; their rows are written next.
        case writing
        /// The page is through; its worker context is saved next.
        case saving
    }

    /// How many objects make a batch.
    var batchSize: Int
    /// Called on the parse's own thread; the parse goes on when it returns.
    var reached: @Sendable (ResourceScope, Stage) -> Void
}
