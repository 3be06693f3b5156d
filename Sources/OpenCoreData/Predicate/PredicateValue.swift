import Foundation

/// A constant of a predicate, or a value met while evaluating one.
package enum PredicateValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    /// Something with an identity: a managed object, or the ID of one.
    case object(PredicateObject)
    case collection(PredicateCollection)
    /// Anything else: a dictionary, an object known only by its keys.
    case opaque(OpaqueValue)

    /// Whether this is nil.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// A real number. Not-a-number becomes nil, because that is what SQLite stores for it.
    package static func real(_ value: Double) -> PredicateValue {
        value.isNaN ? .null : .double(value)
    }
}

/// An object in a predicate, compared by its identity.
// Unchecked: of the object only the identity is read, and `PredicateNode.frozen()` replaces the object by it before a node crosses queues.
package struct PredicateObject: Hashable, @unchecked Sendable {
    package let object: any PredicateIdentity
    /// Whether the object stands for itself, so that its identity cannot change any more.
    package let isFrozen: Bool

    package init(_ object: any PredicateIdentity) {
        self.object = object
        isFrozen = object is FrozenIdentity
    }

    private init(frozen object: any PredicateIdentity) {
        self.object = object
        isFrozen = true
    }

    package var identity: AnyHashable {
        Self.erase(object.predicateIdentity)
    }

    private static func erase(_ identity: some Hashable) -> AnyHashable {
        AnyHashable(identity)
    }

    /// The identity in place of the object.
    package var frozen: PredicateObject {
        if isFrozen { return self }
        let identity = object.predicateIdentity
        return PredicateObject(frozen: identity as? any PredicateIdentity ?? FrozenIdentity(predicateIdentity: identity))
    }

    package static func == (left: PredicateObject, right: PredicateObject) -> Bool {
        left.identity == right.identity
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
    }
}

/// An identity that is not itself a `PredicateIdentity`.
private struct FrozenIdentity: PredicateIdentity {
    let predicateIdentity: any Hashable & Sendable
}

/// A value that predicates know nothing of, except perhaps its keys.
// Unchecked: it is whatever the caller passed or an object answered, and is used only where the predicate is evaluated.
package final class OpaqueValue: Hashable, @unchecked Sendable {
    package let value: Any

    package init(_ value: Any) {
        self.value = value
    }

    package static func == (left: OpaqueValue, right: OpaqueValue) -> Bool {
        if left === right { return true }
        guard let first = left.value as? any Hashable, let second = right.value as? any Hashable else { return false }
        return AnyHashable(first) == AnyHashable(second)
    }

    package func hash(into hasher: inout Hasher) {
        guard let hashable = value as? any Hashable else { return hasher.combine(ObjectIdentifier(self)) }
        hasher.combine(AnyHashable(hashable))
    }
}
