/// A save that a store has checked and written, and that counts as soon as it is committed. Of one that is not, nothing is ever there.
package protocol PreparedSave: AnyObject {
    /// Throws what the store says; then nothing of the save is there.
    func commit() throws -> SavedRows
}

/// When a store commits its part of a save into several.
package enum CommitTurn: Int, Comparable, Sendable {
    /// Before all transactions: it writes when it commits, and may refuse to for reasons of its own.
    case untilRefused
    /// A transaction. That it can't be committed is rare.
    case transaction
    /// After all transactions: it can't fail.
    case always

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A save that needs no transaction: of nothing, or of what is written when it is committed.
final class UnwrittenSave: PreparedSave {
    private let write: () throws -> SavedRows

    init(_ write: @escaping () throws -> SavedRows) { self.write = write }

    func commit() throws -> SavedRows { try write() }
}

extension NSPersistentStore {
    /// `save(_:)` of a store that needs nothing else for it than `prepare(_:_:)`.
    final func preparedAndCommitted(_ changes: ChangeSet) throws -> SavedRows {
        var saved = SavedRows()
        try prepare(changes) { saved = try $0.commit() }
        return saved
    }
}
