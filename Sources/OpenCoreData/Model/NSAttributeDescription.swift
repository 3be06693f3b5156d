import Foundation

/// A value of a managed object that is neither another object nor a set of them.
// Mutable only until the model is frozen, as its superclass says.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The Swift spelling of the attribute types.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let undefined = AttributeType(rawValue: 0)
        public static let integer16 = AttributeType(rawValue: 100)
        public static let integer32 = AttributeType(rawValue: 200)
        public static let integer64 = AttributeType(rawValue: 300)
        public static let decimal = AttributeType(rawValue: 400)
        public static let double = AttributeType(rawValue: 500)
        public static let float = AttributeType(rawValue: 600)
        public static let string = AttributeType(rawValue: 700)
        public static let boolean = AttributeType(rawValue: 800)
        public static let date = AttributeType(rawValue: 900)
        public static let binaryData = AttributeType(rawValue: 1000)
        public static let uuid = AttributeType(rawValue: 1100)
        public static let uri = AttributeType(rawValue: 1200)
        public static let transformable = AttributeType(rawValue: 1800)
        public static let objectID = AttributeType(rawValue: 2000)
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

    /// The name of the transformer of a transformable attribute.
    open var valueTransformerName: String? { willSet { checkEditable() } }
    /// Whether large data may be kept beside the store's file.
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { checkEditable() } }
    /// Whether the value is kept in the tombstone of persistent history.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { checkEditable() } }

    public override init() { super.init() }

    /// An attribute in one line.
    public convenience init(name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil) {
        self.init()
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }
}
