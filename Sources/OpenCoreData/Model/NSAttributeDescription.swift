import Foundation

/// A value of a managed object that is neither another object nor a set of them.
/// Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen, as its superclass says.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The Swift spelling of the attribute types.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The number of the type, the same as that of `NSAttributeType`.
        public let rawValue: UInt
        /// The type with this number. A number that `NSAttributeType` does not know makes an attribute undefined.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// No type. Only transient attributes may have it; they hold any `Hashable` value.
        public static let undefined = AttributeType(rawValue: 0)
        /// An integer from -32,768 through 32,767; the range is checked at the save.
        public static let integer16 = AttributeType(rawValue: 100)
        /// An integer that fits 32 bits; the range is checked at the save.
        public static let integer32 = AttributeType(rawValue: 200)
        /// An integer that fits 64 bits.
        public static let integer64 = AttributeType(rawValue: 300)
        /// An exact decimal number: `Decimal`.
        public static let decimal = AttributeType(rawValue: 400)
        /// A 64-bit floating-point number. NaN is refused at the save.
        public static let double = AttributeType(rawValue: 500)
        /// A 32-bit floating-point number: values are rounded to it when they are set by key.
        public static let float = AttributeType(rawValue: 600)
        /// Text: `String`. The bounds count UTF-16 code units.
        public static let string = AttributeType(rawValue: 700)
        /// True or false. An integer set by key is true unless it is 0.
        public static let boolean = AttributeType(rawValue: 800)
        /// A moment: `Date`, kept as seconds since 2001.
        public static let date = AttributeType(rawValue: 900)
        /// Bytes: `Data`.
        public static let binaryData = AttributeType(rawValue: 1000)
        /// A `UUID`.
        public static let uuid = AttributeType(rawValue: 1100)
        /// A `URL`.
        public static let uri = AttributeType(rawValue: 1200)
        /// Any `Hashable` value. A SQLite store keeps it as a keyed archive: property-list types, URLs, UUIDs, and classes that adopt `NSCoding`.
        public static let transformable = AttributeType(rawValue: 1800)
        /// The ID of an object. A SQLite store keeps it only as a to-one relationship; as an attribute it must be transient there.
        public static let objectID = AttributeType(rawValue: 2000)
        /// Several attributes as one: the type of an `NSCompositeAttributeDescription`.
        public static let composite = AttributeType(rawValue: 2100)
    }

    /// What kind of value it holds.
    open var attributeType: NSAttributeType = .undefinedAttributeType { willSet { checkEditable() } }

    /// The same, in its Swift spelling.
    open var type: AttributeType {
        get { AttributeType(rawValue: attributeType.rawValue) }
        set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    /// The value a new object starts with. Its type must fit `attributeType`.
    open var defaultValue: Any? { willSet { checkEditable() } }

    /// Smallest allowed value of a number or date (seconds since 2001), shortest allowed length of a string.
    open var minimumValue: Double? { willSet { checkEditable() } }
    /// Largest allowed value of a number or date (seconds since 2001), longest allowed length of a string.
    open var maximumValue: Double? { willSet { checkEditable() } }
    /// Smallest allowed value of a number, exactly: not every integer beyond 2⁵³ and hardly any decimal is a `Double`. Holds besides `minimumValue`.
    open var minimumDecimal: Decimal? { willSet { checkEditable() } }
    /// Largest allowed value of a number, exactly. Holds besides `maximumValue`.
    open var maximumDecimal: Decimal? { willSet { checkEditable() } }
    /// A regular expression that a string must match as a whole.
    open var regularExpression: String? { willSet { checkEditable() } }

    /// The class of the values; nil where they may be of any. By the type, unless set: of a transformable attribute it says what the values are.
    open var attributeValueClassName: String? {
        get { ownValueClassName ?? attributeType.valueClassName }
        set {
            checkEditable()
            ownValueClassName = newValue
        }
    }
    private var ownValueClassName: String?

    /// The name of the transformer of a transformable attribute.
    open var valueTransformerName: String? { willSet { checkEditable() } }
    /// Whether large data may be kept beside the store's file.
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { checkEditable() } }
    /// Whether the value is kept in the tombstone of persistent history.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { checkEditable() } }

    /// What it is instead of what its type says: an `AttributeKind`.
    package final var ownKind: (any Sendable)? { willSet { checkEditable() } }

    /// The composite that it is an element of.
    final weak var composite: NSCompositeAttributeDescription?
    /// Whether it is what rows know of an element: it is named by the path.
    final var isLeaf = false

    public override init() { super.init() }

    override func checkEditable() {
        super.checkEditable()
        composite?.checkEditable()
    }

    /// Its name, without dots where these lead into a composite.
    final var plainName: String { isLeaf ? name.replacing(".", with: "_") : name }

    /// Whether a store computes it.
    var isComputed: Bool { false }
    /// Whether an object without a value for it is not saved.
    final var isRequired: Bool { !isOptional && !isTransient && !isComputed }

    /// An attribute in one line.
    public convenience init(name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil) {
        self.init()
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }

    override func duplicate() -> NSPropertyDescription { filledAttribute(NSAttributeDescription()) }

    /// `copy` with what all attributes have.
    final func filledAttribute<Copy: NSAttributeDescription>(_ made: Copy) -> Copy {
        let copy = filled(made)
        copy.attributeType = attributeType
        copy.defaultValue = defaultValue
        copy.minimumValue = minimumValue
        copy.maximumValue = maximumValue
        copy.minimumDecimal = minimumDecimal
        copy.maximumDecimal = maximumDecimal
        copy.regularExpression = regularExpression
        copy.ownValueClassName = ownValueClassName
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        copy.ownKind = ownKind
        return copy
    }
}

/// The types of attributes, with Apple's raw values.
public enum NSAttributeType: UInt, Sendable {
    /// No type. Only transient attributes may have it; they hold any `Hashable` value.
    case undefinedAttributeType = 0
    /// An integer from -32,768 through 32,767; the save checks the range.
    case integer16AttributeType = 100
    /// An integer that fits 32 bits; the save checks the range.
    case integer32AttributeType = 200
    /// An integer that fits 64 bits.
    case integer64AttributeType = 300
    /// An exact decimal number: `Decimal`.
    case decimalAttributeType = 400
    /// A 64-bit floating-point number. The save refuses NaN.
    case doubleAttributeType = 500
    /// A 32-bit floating-point number: a value set by key is rounded to it.
    case floatAttributeType = 600
    /// Text, of which bounds count UTF-16 code units.
    case stringAttributeType = 700
    /// True or false. An integer set by key is true unless it is 0.
    case booleanAttributeType = 800
    /// A moment, kept as seconds since 2001.
    case dateAttributeType = 900
    /// Bytes: `Data`.
    case binaryDataAttributeType = 1000
    /// A `UUID`, which a SQLite store keeps as a blob.
    case UUIDAttributeType = 1100
    /// A `URL`.
    case URIAttributeType = 1200
    /// Any `Hashable` value; a SQLite store keeps an archive of it.
    case transformableAttributeType = 1800
    /// The ID of an object. A SQLite store does not keep such an attribute: it must be transient there.
    case objectIDAttributeType = 2000
    /// Several attributes as one: the type of an `NSCompositeAttributeDescription`.
    case compositeAttributeType = 2100
}

extension NSAttributeType {
    /// Apple's name of the class of its values.
    fileprivate var valueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .compositeAttributeType: "NSDictionary"
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType: nil
        }
    }
}
