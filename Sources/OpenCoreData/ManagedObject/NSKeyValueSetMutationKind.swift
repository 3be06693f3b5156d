/// How a set is changed, with Apple's raw values. Foundation on Linux lacks the type.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus = 2
    /// All but these objects are removed.
    case intersect = 3
    /// The members are replaced by these objects.
    case set = 4
}
