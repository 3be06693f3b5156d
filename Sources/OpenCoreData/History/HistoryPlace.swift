/// A place in the history of one store.
package enum HistoryPlace: Hashable, Sendable {
    /// The transaction of that number.
    case number(Int64)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case time(Double)
}
