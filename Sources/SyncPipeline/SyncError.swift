import Foundation

/// What the pipeline throws. Each says what, where and what to do.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The configuration has no such source or resource; `known` are its resources.
    case unknownScope(String, known: [String])
    /// Of what is meant, everything if nil, no bodies are kept that could be mapped once more.
    case notKept(String?)
    /// A resource, or the pipeline itself, needs an entity that the model does not have.
    case unknownEntity(String)
    /// The resource has a key of its own, which must equal the key of its entity in this version: `expected`.
    case keyOfResource(scope: String, entity: String, expected: [String])
    /// More records were set aside than `limits.max_bad_records`; the page is rolled back. `first`: why the first one was.
    case tooManyBadRecords(count: Int, limit: Int, first: String)
    /// A page's content could not be read or saved, the listing goes in circles, or the run took too long; the sentence says which.
    case page(String)
    /// The daemon is stopping and takes no more work.
    case stopping
    /// The run was told to stop, or ran out of time while it waited for disk space.
    case cancelled

    /// One sentence for an operator, without a full stop. Names in it are quoted as they came.
    public var description: String {
        switch self {
        case .unknownScope(let scope, let known):
            "there is no source or resource \"\(scope)\"; the configuration has \(known.joined(separator: ", "))"
        case .notKept(let scope):
            "no bodies are kept of \(scope ?? "any resource"); write schema = { raw = \"last\" } there, reload, and `cisternctl sync --full` fetches them"
        case .unknownEntity(let name): "the model has no entity \"\(name)\""
        case .keyOfResource(let scope, let entity, let expected):
            "\(scope): key must be the key of entity \(entity), \(expected), in this version; remove it from the resource"
        case .tooManyBadRecords(let count, let limit, let first):
            "\(count) bad records, more than limits.max_bad_records = \(limit); none of the page was kept. The first: \(first)"
        case .page(let message): message
        case .stopping: "cisternd is stopping"
        case .cancelled: "cancelled"
        }
    }
}

extension Error {
    /// What went wrong, in a sentence for people. Foundation's errors, the store's among them, describe themselves for programmers otherwise.
    package var inWords: String {
        // An error that came as `any Error`, through a continuation, is still boxed here: `type(of: self)` would be that of the box.
        let speaksForPeople = self is any CustomNSError || self is any LocalizedError || type(of: self as any Error) is NSError.Type
        // It may contain what a server sent.
        return RemoteText.line(speaksForPeople ? localizedDescription : "\(self)")
    }
}
