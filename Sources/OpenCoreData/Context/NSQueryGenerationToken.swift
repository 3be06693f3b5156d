import Foundation

/// Names a state of the stores that a context may be pinned to. The stores here keep no past states, so a context is never pinned.
public final class NSQueryGenerationToken: NSObject, Sendable {
    /// The state at the next read.
    public static let current = NSQueryGenerationToken()
}

extension NSManagedObjectContext {
    /// The state that this context reads from; nil: always the newest. A context with a parent reads from the parent and has none.
    public var queryGenerationToken: NSQueryGenerationToken? { nil }

    /// Pins the context to a state of the stores; nil lets it read the newest. Traps in a context with a parent, which reads from the parent.
    /// Throws 134091 for anything but nil: no store here can answer from the past.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        if parent != nil { Violation.misuse("\(diagnosticName) reads from its parent; a query generation is set in the root context") }
        if generation != nil {
            throw NSError.coreData(
                .persistentStoreUnsupportedRequestType, "The stores keep no past states, so \(diagnosticName) can't be pinned to one.")
        }
    }
}
