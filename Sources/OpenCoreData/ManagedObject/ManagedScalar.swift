import Foundation

/// A single value: an attribute's, or a to-one's object.
public protocol ManagedScalar {
    static func decode(_ value: ManagedSlot) -> Self?
    func encode() -> ManagedSlot
    /// What a null reads as where the property is not optional; nil: a trap.
    static var zero: Self? { get }
}
