import GRDB

/// How much of a file a connection keeps in memory, where the store's options do not say it.
///
/// What is appended passes through the cache once, so that little is enough for it. A save that changes rows all over a file needs pages of its indexes again
/// and again: it has more, and gives it back. So does whoever opens a store, and may have to migrate it.
struct PageCache {
    /// Of the connection that writes, in KiB.
    static let writer = 16_384
    /// Of a connection that reads: readers share their pages with the system's cache.
    static let reader = 8_192
    /// Of the connection that writes, while it changes rows in many places.
    static let scattered = 65_536
    /// From how many rows on those are many.
    static let manyRows = 10_000

    /// False: its size is the options'.
    let mayGrow: Bool
    private(set) var isLarge = false

    init(mayGrow: Bool) { self.mayGrow = mayGrow }

    /// Makes room for a change of so many rows in places that do not follow each other.
    mutating func grow(for rows: Int, in database: Database) throws {
        guard mayGrow, !isLarge, rows >= Self.manyRows else { return }
        try database.execute(sql: "PRAGMA cache_size = \(-Self.scattered)")
        isLarge = true
    }

    /// Gives the room back. After the transaction.
    mutating func shrink(in database: Database) {
        guard isLarge else { return }
        try? Self.settle(database)
        isLarge = false
    }

    /// Keeps on the connection that writes what is enough while nothing large goes on.
    static func settle(_ database: Database) throws { try database.execute(sql: "PRAGMA cache_size = \(-writer)") }
}
