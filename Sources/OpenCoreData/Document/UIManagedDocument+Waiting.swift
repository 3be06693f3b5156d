import Foundation

/// As UIKit spells it: opening and saving that is waited for, and the name under which a program knows the class.
extension UIManagedDocument {
    /// Opens the document. Gives whether it is open; what stood against it went to `handleError(_:userInteractionPermitted:)`.
    @discardableResult
    public func open() async -> Bool {
        await withCheckedContinuation { continuation in open { continuation.resume(returning: $0) } }
    }

    /// Saves, to another place too, as `save(to:for:completionHandler:)`. Gives whether it was saved; what stood against it went to
    /// `handleError(_:userInteractionPermitted:)`.
    @discardableResult
    public func save(to url: URL, for operation: SaveOperation) async -> Bool {
        await withCheckedContinuation { continuation in save(to: url, for: operation) { continuation.resume(returning: $0) } }
    }
}

/// UIKit's class of documents, of which this one is the only kind here: so that `UIDocument.State` and the like say what they say on iOS.
public typealias UIDocument = UIManagedDocument
