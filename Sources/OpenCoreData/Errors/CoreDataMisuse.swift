import Foundation
import Synchronization

/// Something that a program did and that makes no sense: an unknown key, a value of the wrong type, a text that is no predicate. Where Apple's framework
/// raises an exception, this library stops the program, unless it was told to go on: see `handle(with:)`.
public struct CoreDataMisuse: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// What sort of misuse it is. New ones may come: a `switch` over them needs a `default`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind as text, such as `"unknownKey"`: what `description` begins with.
        public let rawValue: String
        /// A kind with this text. Those that the library reports are static members.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A key that the entity does not have.
        public static let unknownKey = Kind(rawValue: "unknownKey")
        /// A value that a property can't have.
        public static let wrongType = Kind(rawValue: "wrongType")
        /// A text that is no key path, or a key path that leads to what has no keys.
        public static let malformedKeyPath = Kind(rawValue: "malformedKeyPath")
        /// A text that is no predicate or expression, or one that has no answer where nothing can be thrown.
        public static let malformedPredicate = Kind(rawValue: "malformedPredicate")
        /// The name of an entity that the model does not have.
        public static let unknownEntity = Kind(rawValue: "unknownEntity")
        /// An object that is used with one of another context.
        public static let otherContext = Kind(rawValue: "otherContext")
        /// Anything else.
        public static let other = Kind(rawValue: "other")
    }

    /// What sort of misuse it is: what to count and filter by.
    public let kind: Kind
    /// What was done, where, and what to do instead.
    public let message: String
    /// Whether the program goes on after the handler has returned. If not, it stops then: there is no right value to go on with.
    public let isSurvivable: Bool

    init(_ kind: Kind, _ message: String, isSurvivable: Bool = true) {
        self.kind = kind
        self.message = message
        self.isSurvivable = isSurvivable
    }

    /// One line for a log: the kind, a colon, and `message`.
    public var description: String { "\(kind.rawValue): \(message)" }
    /// `message`.
    public var errorDescription: String? { message }

    private struct Handling {
        var handler: (@Sendable (CoreDataMisuse) -> Void)?
    }

    private static let handling = Mutex(Handling())

    /// Has `handler` told of every misuse in this process, on the thread where it happens; nil, as at first, stops the program at each. For a server that
    /// should outlive a mistake in one request, and for tests. It may not use the context that it is called from; what it is told is a mistake in the
    /// program, to be mended there.
    ///
    /// With a handler, these do not stop the program:
    ///
    /// | misuse | what happens |
    /// | --- | --- |
    /// | `value(forKey:)`, `primitiveValue(forKey:)`, `value(forKeyPath:)` with an unknown key or a text that is no key path | nil |
    /// | `setValue(_:forKey:)`, `setPrimitiveValue(_:forKey:)`, `setValue(_:forKeyPath:)` with one, or with a value of the wrong type | nothing is set |
    /// | relating objects of two contexts; deleting or inserting an object of another context | nothing is done |
    /// | `validateValue(_:forKey:)` with an unknown key | it throws 1550 |
    /// | a fetch of dictionaries, or one that prefetches, with an unknown property | the fetch throws 134060 |
    /// | `NSPredicate(format:)` and `NSExpression(format:)` with a text that is none | the result has no answer: a fetch with it throws 134060 |
    /// | `evaluate(with:)` and `expressionValue(with:context:)` where there is no answer | false, and nil |
    ///
    /// A fetch for an entity that the model does not have throws 134060 with or without a handler.
    ///
    /// Of everything else the handler is told, with `isSurvivable` false, and when it returns the program stops: inserting an object of an unknown entity,
    /// use outside of a context's queue, changing a model in use, a fault that can't be read, a deadlock. Nothing is told of what the language itself
    /// stops the program for.
    public static func handle(with handler: (@Sendable (CoreDataMisuse) -> Void)?) { handling.withLock { $0.handler = handler } }

    /// Tells whoever handles misuses. No lock is held meanwhile.
    ///
    /// - Returns: whether there is anybody.
    @discardableResult
    func tell() -> Bool {
        guard let handler = Self.handling.withLock({ $0.handler }) else { return false }
        handler(self)
        return true
    }

    /// Returns where somebody handles misuses; else stops the program.
    func survive() {
        // Apple raises an exception here, which a caller can't catch in Swift either.
        if !tell() { fatalError("OpenCoreData: \(message)") }
    }

    /// The same where an error can be thrown: gives it.
    func survived(as code: CocoaError.Code = .coreData) -> NSError {
        survive()
        return NSError.coreData(code, message)
    }
}

extension CoreDataMisuse {
    static func unknownKey(_ key: String, entity: String?) -> CoreDataMisuse {
        CoreDataMisuse(.unknownKey, "entity \(entity ?? "?") is not key value coding-compliant for the key \"\(key)\".")
    }

    static func wrongType(_ value: Any?, key: String, entity: String?, expected: String) -> CoreDataMisuse {
        let value = value ?? "nil"
        return CoreDataMisuse(
            .wrongType,
            "unacceptable type of value for \(entity ?? "?").\(key): desired type = \(expected); given type = \(type(of: value)); value = \(value).")
    }

    static func noKeys(_ key: String, of value: Any) -> CoreDataMisuse {
        CoreDataMisuse(.malformedKeyPath, "a \(type(of: value)) has no value for the key \"\(key)\".")
    }

    static func malformedKeyPath(_ text: String) -> CoreDataMisuse {
        CoreDataMisuse(.malformedKeyPath, "\"\(text)\" is not a key path by which a value can be read or set.")
    }

    static func otherContext(_ id: String) -> CoreDataMisuse {
        CoreDataMisuse(
            .otherContext,
            "illegal attempt to relate or use \(id) in a different context from its own. Pass its objectID and use object(with:).")
    }

    static func insertedElsewhere(_ id: String, _ owner: String) -> CoreDataMisuse {
        CoreDataMisuse(
            .otherContext,
            "an object can't be inserted into two contexts: \(id) belongs to \(owner). Make one there, or pass its objectID and use object(with:).")
    }
}
