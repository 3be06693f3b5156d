import Synchronization

/// How many statements a store ran since it was opened, by kind. One row written is one statement.
package struct StatementCounts: Sendable, Hashable {
    package var selects = 0
    package var inserts = 0
    package var updates = 0
    package var deletes = 0
    /// Write transactions that were begun, those that reserve keys included.
    package var transactions = 0

    package var total: Int { selects + inserts + updates + deletes }

    package static func - (left: StatementCounts, right: StatementCounts) -> StatementCounts {
        StatementCounts(
            selects: left.selects - right.selects, inserts: left.inserts - right.inserts, updates: left.updates - right.updates,
            deletes: left.deletes - right.deletes, transactions: left.transactions - right.transactions)
    }
}

/// Counts a store's statements; writers add their counts once a save, so that counting costs nothing a row.
package final class StatementCounter: Sendable {
    private let counts = Mutex(StatementCounts())

    package var current: StatementCounts { counts.withLock { $0 } }

    func add(_ change: (inout StatementCounts) -> Void) { counts.withLock { change(&$0) } }
}
