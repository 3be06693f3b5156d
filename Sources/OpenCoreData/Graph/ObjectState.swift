/// Where an object is in its life, as its context sees it.
///
/// | from | to | by |
/// | --- | --- | --- |
/// | detached | inserted | `insert(_:)` |
/// | inserted | clean | a save · `detached` by delete and save, rollback, reset |
/// | clean | updated | setting a value |
/// | updated | clean | a save, rollback, refresh |
/// | clean, updated | deleted | `delete(_:)` |
/// | deleted | detached | a save · `clean` by rollback |
package enum ObjectState: Sendable {
    /// Belongs to no context (any more).
    case detached
    case inserted
    case clean
    case updated
    case deleted
}
