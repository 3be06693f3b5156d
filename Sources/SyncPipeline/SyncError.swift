import Foundation

/// What the pipeline throws. Each says what, where and what to do.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    case unknownScope(String, known: [String])
    case unknownEntity(String)
    case keyOfResource(scope: String, entity: String, expected: [String])
    case tooManyBadRecords(count: Int, limit: Int, first: String)
    case page(String)
    case stopping
    case cancelled

    /// One sentence for an operator, without a full stop. Names in it are quoted as they came.
    public var description: String {
        switch self {
        case .unknownScope(let scope, let known):
            "there is no source or resource \"\(scope)\"; the configuration has \(known.joined(separator: ", "))"
        case .unknownEntity(let name): "the model has no entity \"\(name)\""
        case .keyOfResource(let scope, let entity, let expected):
            "\(scope): key must be the key of entity \(entity), \(expected), in this version; remove it from the resource"
        case .tooManyBadRecords(let count, let limit, let first):
            "\(count) bad records, more than limits.max_bad_records = \(limit); nothing of the page was kept. The first: \(first)"
        case .page(let message): message
        case .stopping: "cisternd is stopping"
        case .cancelled: "cancelled"
        }
    }
}

extension Error {
    /// What went wrong, in a sentence for people. Foundation's errors, the store's among them, describe themselves for programmers otherwise.
    package var inWords: String {
        // An error that came as `any Error`, by way of a continuation for one, is still in its box here: `type(of: self)` would be the box's.
        let speaksForPeople = self is any CustomNSError || self is any LocalizedError || type(of: self as any Error) is NSError.Type
        // What a server sent may stand in it.
        return RemoteText.line(speaksForPeople ? localizedDescription : "\(self)")
    }
}
