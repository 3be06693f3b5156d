/// A store that can record its saves.
package protocol HistoryKeeping: NSPersistentStore {
    /// Whether it does.
    var keepsHistory: Bool { get }
    /// The number of the last transaction that was recorded, by whomever; 0 if there was none.
    func lastTransactionNumber() throws -> Int64
    /// The transactions after a place, or all, ascending. With a number, throws 134301 if not all transactions after that one are there.
    ///
    /// - Parameters:
    ///   - isWanted: asked of each transaction before its changes are read.
    ///   - limit: at most how many; nil: no limit.
    func history(
        after place: HistoryPlace?, withChanges: Bool, limit: Int?, where isWanted: ((HistoryRecord) throws -> Bool)?
    ) throws -> [HistoryRecord]
    /// Deletes the transactions before a place: how many there were.
    func deleteHistory(before place: HistoryPlace) throws -> Int
}
