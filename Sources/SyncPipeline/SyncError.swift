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
