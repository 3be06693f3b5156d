import Foundation
import Synchronization

/// Turns values into others, and where it can, back. Foundation has this class only on Apple's systems.
///
/// The transformer that a transformable attribute names (`NSAttributeDescription.valueTransformerName`) makes the bytes that a store keeps: from the
/// attribute's value by `transformedValue(_:)`, and back by `reverseTransformedValue(_:)`. A `NSSecureUnarchiveFromDataTransformer` is asked the other
/// way round, as it is for bindings. It is called on whichever thread saves or reads.
// What a subclass keeps must not change once it is registered: any thread may call it.
open class ValueTransformer: NSObject, RegisteredTransformer, @unchecked Sendable {
    public required override init() { super.init() }

    /// The class of what it gives.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether it goes back.
    open class func allowsReverseTransformation() -> Bool { true }

    /// What it makes of a value: the value itself, unless a subclass says otherwise.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value that it made this of. Stops the program where it does not go back.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        if !Swift.type(of: self).allowsReverseTransformation() { Violation.misuse("\(Swift.type(of: self)) does not transform back") }
        return transformedValue(value)
    }

    // MARK: Names

    private static let registered = Mutex<[NSValueTransformerName: ValueTransformer]>([
        .negateBooleanTransformerName: NegateBoolean(), .isNilTransformerName: IsNil(wanted: true), .isNotNilTransformerName: IsNil(wanted: false),
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        // Models name it by the name of the constant, too.
        NSValueTransformerName("NSSecureUnarchiveFromDataTransformerName"): NSSecureUnarchiveFromDataTransformer(),
        .keyedUnarchiveFromDataTransformerName: UnarchiveFromData(), .unarchiveFromDataTransformerName: UnarchiveFromData(),
    ])

    /// Makes a transformer known by a name, in place of the one before; nil: forgets it. Before a store is added that needs it.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registered.withLock { $0[name] = transformer }
    }

    /// All names that are known.
    public class func valueTransformerNames() -> [NSValueTransformerName] {
        registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    /// What is registered by the name; else the class of that name, which is registered then.
    fileprivate static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
        if let known = registered.withLock({ $0[name] }) { return known }
        guard let type = ClassNames.classes(named: name.rawValue).lazy.compactMap({ $0 as? ValueTransformer.Type }).first else { return nil }
        let made = type.init()
        return registered.withLock { registered in
            let known = registered[name] ?? made
            registered[name] = known
            return known
        }
    }

    /// Whether it makes objects of data, and data of objects on the way back.
    var unarchives: Bool { self is NSSecureUnarchiveFromDataTransformer || self is UnarchiveFromData }
}

/// Lets `ValueTransformer(forName:)` give an object that is there already, which an initialiser of a class can't.
public protocol RegisteredTransformer {}

extension RegisteredTransformer {
    /// The transformer that is known by this name; nil if there is none, or it is of another class.
    public init?(forName name: NSValueTransformerName) {
        guard let known = ValueTransformer.named(name) as? Self else { return nil }
        self = known
    }
}

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A boolean is its opposite.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// Whether a value is nil.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// Whether a value is not nil.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// What a keyed archive holds.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// The same: other archives than keyed ones are none on Linux.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// What a keyed archive holds: a value of a plain class (`NSSecureUnarchiveFromDataTransformer`).
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// A boolean is its opposite.
private final class NegateBoolean: ValueTransformer, @unchecked Sendable {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override func transformedValue(_ value: Any?) -> Any? { !((value as? Bool) ?? (value as? NSNumber)?.boolValue ?? false) }
}

/// Whether a value is nil, or is not.
private final class IsNil: ValueTransformer, @unchecked Sendable {
    private let wanted: Bool

    init(wanted: Bool) {
        self.wanted = wanted
        super.init()
    }

    required init() { Violation.misuse("whether a value is nil has two answers") }

    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { false }
    override func transformedValue(_ value: Any?) -> Any? { (value == nil) == wanted }
}

/// What a keyed archive holds.
private final class UnarchiveFromData: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Data).flatMap { KeyedArchive($0)?.made() } }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, KeyedArchive.canArchive(value) else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
    }
}
