/// What happened to an object or a section of a controller's results, with Apple's raw values.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    /// The object has another place. It may have other values too.
    case move = 3
    /// The object has other values and its place is the same among those that stayed.
    case update = 4
}
