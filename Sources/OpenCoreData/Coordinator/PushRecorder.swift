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
    /// A save that is about to be written makes others of these objects: what entries that come after it say of them is said of the others, if it is
    /// written. Throws if that can't be written down; then the save must not be made.
    func willCommit(_ turn: PushTurn) throws
    /// What these entries say is in the store, and the store knows it.
    func didCommit(through entry: UInt64)
    /// Objects have turned out to be others. Returns at once: may be called with locks held. It is written down before the next push is.
    func turned(_ turn: PushTurn)
}

/// New objects turned out to be others, which had their unique keys: what entries say of them from then on is said of the others.
package struct PushTurn: Sendable {
    /// The last entry that was part of what was handed on when that was found; nil: whichever is the last.
    package var entry: UInt64?
    package let identities: [NSManagedObjectID: NSManagedObjectID]
    /// What became of the others then: it takes the place of what the entries up to there say of those that are none any more.
    package var changes = ChangeSet()
    /// The others, where they are new and were never pushed.
    package var rows: [NSManagedObjectID: RowSnapshot] = [:]

    package init(_ identities: [NSManagedObjectID: NSManagedObjectID], at entry: UInt64?) {
        self.identities = identities
        self.entry = entry
    }
}

extension Optional<ClosedRange<UInt64>> {
    /// From the first of both to the last of both.
    func joined(_ other: Self) -> Self {
        guard let self else { return other }
        guard let other else { return self }
        return min(self.lowerBound, other.lowerBound)...max(self.upperBound, other.upperBound)
    }
}
