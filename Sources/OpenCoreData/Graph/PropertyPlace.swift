import Foundation

/// Where a property of an entity lives.
public enum PropertyPlace: Hashable, Sendable {
    /// An attribute or to-one: a slot of the row.
    case slot(Int)
    /// A to-many: not in the row; a number of its own.
    case toMany(Int)
}
