import Synchronization

/// Reads rows and members for those who evaluate predicates and sort in memory, where nothing can be thrown, and remembers the first failure: a
/// row that could not be read is no row that is gone. Whoever made it asks `check()` before the outcome is believed.
final class CheckedReader: Sendable {
    let channel: any PersistentStoreChannel
    private let failure = Mutex<(any Error)?>(nil)

    init(_ channel: any PersistentStoreChannel) { self.channel = channel }

    func row(of id: NSManagedObjectID) -> RowSnapshot? {
        if case .row(let row) = channel.rowInMemory(id) { return row }
        do { return try channel.rows(for: [id])[id] } catch {
            remember(error)
            return nil
        }
    }

    func members(_ key: RelationshipKey) -> [NSManagedObjectID] {
        do { return try channel.relatedIDs(key) } catch {
            remember(error)
            return []
        }
    }

    private func remember(_ error: any Error) { failure.withLock { if $0 == nil { $0 = error } } }

    /// Throws what the first reading that failed said.
    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
