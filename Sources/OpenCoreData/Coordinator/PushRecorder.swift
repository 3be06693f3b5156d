/// Writes down what children push into a context before anybody sees it, so that a push that succeeded survives the process.
package protocol PushRecorder: AnyObject, Sendable {
    /// Runs `body` while no other push is written down: the order of the entries is the order of the pushes.
    func inTurn<T>(_ body: () throws -> T) rethrows -> T
    /// Which of these objects no entry inserts that still counts.
    func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID>
    /// Writes a push, and rows that it leans on and that are not in a store; returns the entry's number, which is higher than those before. Throws
    /// if it can't be written; then there is no entry.
    func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64
    /// These entries (or what they say of certain rows) were thrown away. Returns at once: may be called with locks held.
    func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?)
    /// What these entries say is in the store, and the store knows it.
    func didCommit(through entry: UInt64)
}

extension Optional<ClosedRange<UInt64>> {
    /// From the first of both to the last of both.
    func joined(_ other: Self) -> Self {
        guard let self else { return other }
        guard let other else { return self }
        return min(self.lowerBound, other.lowerBound)...max(self.upperBound, other.upperBound)
    }
}
