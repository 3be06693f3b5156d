/// Why a predicate, or an expression, has no answer.
///
/// A fetch throws 134060 instead, with the same sentence.
public enum PredicateEvaluationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `$name`, without the dollar sign, has no value.
    case unboundVariable(String)
    /// What stands on the right of `MATCHES` is no regular expression, or is longer than one may be.
    case malformedPattern(String)
    /// The regular expression tried a million ways, and a hundred for each character of the string, and had no answer yet.
    case costlyPattern(String)
    /// The predicate nests more than `PredicateEvaluationError.levels` levels deep.
    case tooDeep

    /// How deep a predicate may nest: each `NOT`, `AND` and `OR`, each comparison, function and subquery within another one is a level.
    public static let levels = 100

    public var description: String {
        switch self {
        case .unboundVariable(let name):
            "The predicate's variable $\(name) has no value: withSubstitutionVariables(_:) gives it one."
        case .malformedPattern(let pattern):
            "MATCHES was given \(Self.quoted(pattern)), which is no regular expression of at most \(RegularExpressions.longest) characters. "
                + "Change the pattern."
        case .costlyPattern(let pattern):
            "The regular expression \(Self.quoted(pattern)) after MATCHES takes more than a million steps, and a hundred for each character of "
                + "the string. Change the pattern so that no repetition stands directly within another one, as in (a+)+."
        case .tooDeep:
            "The predicate nests more than \(Self.levels) levels deep. Write it flatter: AND, OR and IN take any number of parts."
        }
    }

    /// Its beginning is enough to find it by.
    private static func quoted(_ pattern: String) -> String {
        pattern.count <= 200 ? "\"\(pattern)\"" : "\"\(pattern.prefix(200))…\""
    }
}
