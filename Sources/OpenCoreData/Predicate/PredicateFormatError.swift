/// A format string that is not a predicate.
public struct PredicateFormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text as given.
    public let format: String
    /// Where it stops making sense: the number of Unicode scalars before that place.
    public let position: Int
    /// What could have stood there: "a comparison operator", "an argument for %@".
    public let expected: String
    /// What stands there instead.
    public let found: String

    init(format: String, position: Int, expected: String, found: String) {
        self.format = format
        self.position = position
        self.expected = expected
        self.found = found
    }

    /// One sentence: the place, counted from 1, what was expected and found there, and the whole text.
    public var description: String {
        "predicate format, character \(position + 1): expected \(expected), found \(found), in: \(format)"
    }
}

/// Lets an initialiser in an extension of `NSPredicate` return a subclass, which only initialisers in protocol extensions can.
public protocol PredicateFormatInitializable {}

/// Something that predicates compare by who it is: a managed object, or the ID of one.
///
/// `owner == %@` holds for an object and for its ID alike, because both answer the same identity.
public protocol PredicateIdentity {
    /// What stands for the object: for a managed object its ID, for an ID itself.
    var predicateIdentity: any Hashable & Sendable { get }
}

/// Why a predicate, or an expression, has no answer.
///
/// A fetch throws 134060 instead, with the same sentence.
public enum PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `$name`, without the dollar sign, has no value.
    case unboundVariable(String)
    /// What stands on the right of `MATCHES` is no regular expression, or is longer than one may be.
    case malformedPattern(String)
    /// The regular expression tried a million ways, and a hundred for each character of the string, and had no answer yet.
    case costlyPattern(String)
    /// The predicate nests more than `PredicateEvaluationError.levels` levels deep.
    case tooDeep
    /// The target of `FUNCTION(…)` does not know the selector.
    case unansweredMessage(String)
    /// A fetch within the expression failed, for the reason that is told.
    case failedFetch(String)
    /// The text that it was made of is no predicate, which somebody was told of: see `CoreDataMisuse.handle(with:)`.
    case malformedFormat(String)

    /// How deep a predicate may nest: each `NOT`, `AND` and `OR`, each comparison, function and subquery within another one is a level.
    public static let levels = 100

    /// The reason in a sentence or two, with what to change. Of a long pattern only the first 200 characters are quoted.
    public var description: String {
        switch self {
        case .unboundVariable(let name):
            "The predicate's variable $\(name) has no value: give it one with withSubstitutionVariables(_:)."
        case .malformedPattern(let pattern):
            "MATCHES was given \(Self.quoted(pattern)), which is not a regular expression of at most \(RegularExpressions.longest) characters. "
                + "Change the pattern."
        case .costlyPattern(let pattern):
            "The regular expression \(Self.quoted(pattern)) after MATCHES takes more than a million steps, and a hundred for each character of "
                + "the string. Change the pattern so that no repetition is directly inside another, as in (a+)+."
        case .tooDeep:
            "The predicate nests more than \(Self.levels) levels deep. Write it flatter: AND, OR and IN take any number of parts."
        case .malformedFormat(let reason): "There is no predicate to answer: \(reason)"
        case .failedFetch(let reason): "The fetch within the expression failed: \(reason)"
        case .unansweredMessage(let selector):
            "FUNCTION(…, '\(selector.prefix(200))') was sent to something that does not answer it: there is no Objective-C to send it to. Use a block, or a "
                + "key path."
        }
    }

    /// Its beginning is enough to find it by.
    private static func quoted(_ pattern: String) -> String {
        pattern.count <= 200 ? "\"\(pattern)\"" : "\"\(pattern.prefix(200))…\""
    }
}

/// The ways to misuse a predicate. They stop the program, as an exception does on Apple's platforms, or where something can stand in for the answer leave
/// it to whoever handles misuses.
enum PredicateViolations {
    /// `NSPredicate(format:)` was given a text that is none. Texts from outside go through `NSPredicate.parse(_:arguments:)`.
    static func malformedFormat(_ error: PredicateFormatError) { CoreDataMisuse(.malformedPredicate, error.description).survive() }

    /// A predicate was evaluated that has no answer, where nothing can be thrown: a variable without a value, a pattern that is none.
    /// `holds(for:substitutionVariables:)` and `value(for:context:)` throw the error instead.
    static func noAnswer(_ error: PredicateEvaluationError) { CoreDataMisuse(.malformedPredicate, error.description).survive() }

    /// `init(format:)` was called on a subclass which the format does not describe.
    static func formatIsNot(_ type: Any.Type, format: String) -> Never {
        Violation.misuse("the predicate format does not describe a \(type): \(format)")
    }

    /// A reader was asked of an expression of another type: `keyPath` of a constant.
    static func expressionHasNo(_ property: String, _ expression: NSExpression) -> Never {
        Violation.misuse("the expression \(expression.description) has no \(property)")
    }

    /// `NSExpression(forFunction:arguments:)` was given a name that is no function, or the wrong number of arguments.
    static func unknownFunction(_ name: String, argumentCount: Int) -> Never {
        Violation.misuse("there is no function \(name) of \(argumentCount) arguments")
    }

    /// Key path text with an empty component or an unknown `@operator`.
    static func malformedKeyPath(_ text: String) -> Never { Violation.misuse("not a key path: \"\(text)\"") }
}
