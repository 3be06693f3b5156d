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

extension PredicateValue {
    /// The value of anything that a caller passes or an object answers.
    ///
    /// Collections within collections are taken apart as deep as predicates may nest; what is deeper is a value that equals nothing.
    package init(_ any: Any?) {
        self.init(any, levels: PredicateEvaluationError.levels)
    }

    private init(_ any: Any?, levels: Int) {
        guard let any else {
            self = .null
            return
        }
        // The exact types first: comparing metadata is much cheaper than a conditional cast.
        let type = Swift.type(of: any)
        if type == String.self, let value = any as? String { self = .string(value); return }
        if type == Int64.self, let value = any as? Int64 { self = .integer(value); return }
        if type == Int.self, let value = any as? Int { self = .integer(Int64(value)); return }
        if type == Double.self, let value = any as? Double { self = .real(value); return }
        if type == Bool.self, let value = any as? Bool { self = .bool(value); return }
        if type == Date.self, let value = any as? Date { self = .date(value); return }
        if type == UUID.self, let value = any as? UUID { self = .uuid(value); return }
        if type == Data.self, let value = any as? Data { self = .data(value); return }
        if type == Decimal.self, let value = any as? Decimal { self = .exact(value); return }
        if type == PredicateValue.self, let value = any as? PredicateValue { self = value; return }
        if let value = any as? any PredicateIdentity { self = .object(PredicateObject(value)); return }
        if let value = any as? any PredicateCollectionProviding { self = .collection(value.predicateCollection); return }
        if levels > 0, let value = Self(swift: any, levels: levels - 1) ?? Self(foundation: any, levels: levels - 1) { self = value; return }
        self = .opaque(OpaqueValue(any))
    }

    /// Foundation's classes.
    private init?(foundation any: Any, levels: Int) {
        guard let object = any as? NSObject else { return nil }
        switch object {
        case is NSNull: self = .null
        case let value as NSString: self = .string(value._bridgeToSwift())
        case let value as NSDecimalNumber: self = .exact(value.decimalValue)
        case let value as NSNumber: self = Self(number: value)
        case let value as NSDate: self = .date(Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate))
        case let value as NSData: self = .data(Data(referencing: value))
        case let value as NSUUID: self = .uuid(value as UUID)
        case let value as NSURL: self = .url(value as URL)
        case let value as NSArray: self = .collection(PredicateCollection(value.map { PredicateValue($0, levels: levels) }, kind: .array))
        case let value as NSOrderedSet: self = .collection(PredicateCollection(value.map { PredicateValue($0, levels: levels) }, kind: .orderedSet))
        case let value as NSSet: self = .collection(PredicateCollection(value.map { PredicateValue($0, levels: levels) }, kind: .set))
        default: return nil
        }
    }

    private init(number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        // Small integers share the letter of booleans.
        case UInt8(ascii: "c") where number.int64Value & ~1 == 0, UInt8(ascii: "B"): self = .bool(number.boolValue)
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .real(number.doubleValue)
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max): self = .decimal(Decimal(number.uint64Value))
        default: self = .integer(number.int64Value)
        }
    }

    /// The rest of Swift's types: other widths of numbers, optionals, collections.
    private init?(swift any: Any, levels: Int) {
        switch any {
        // Bridging makes every object look like some of Swift's types.
        case is NSObject where type(of: any) is AnyClass: return nil
        case let value as any BinaryInteger:
            if let narrow = Int64(exactly: value) {
                self = .integer(narrow)
            } else if let decimal = Decimal(string: "\(value)") {
                self = .decimal(decimal)
            } else {
                return nil
            }
        case let value as any BinaryFloatingPoint: self = .real(Double(value))
        case let value as Substring: self = .string(String(value))
        case let value as Character: self = .string(String(value))
        case let value as URL: self = .url(value)
        case let value as any OptionalValue: self = PredicateValue(value.wrappedAny, levels: levels)
        case let value as any AnySetOfValues:
            self = .collection(PredicateCollection(value.elementsAsAny.map { PredicateValue($0, levels: levels) }, kind: .set))
        case is [String: Any]: return nil
        case let value as [Any]: self = .collection(PredicateCollection(value.map { PredicateValue($0, levels: levels) }, kind: .array))
        default: return nil
        }
    }

    /// A decimal number; not-a-number becomes nil, as for reals.
    private static func exact(_ value: Decimal) -> PredicateValue {
        value.isNaN ? .null : .decimal(value)
    }

    /// The value as the type a caller expects: `Int64`, `String`, the object itself, an array.
    package var any: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .object(let value): value.object
        case .opaque(let value): value.value
        case .collection(let value): value.elements.map { $0.any ?? NSNull() }
        }
    }
}

private protocol OptionalValue {
    var wrappedAny: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrappedAny: Any? { self.map { $0 as Any } }
}

private protocol AnySetOfValues {
    var elementsAsAny: [Any] { get }
}

extension Set: AnySetOfValues {
    fileprivate var elementsAsAny: [Any] { map { AnyHashable($0).base } }
}
