/// The ways to misuse a predicate that stop the program, as an exception does on Apple's platforms.
enum PredicateViolations {
    /// `NSPredicate(format:)` was given a text that is none. Texts from outside go through `NSPredicate.parse(_:arguments:)`.
    static func malformedFormat(_ error: PredicateFormatError) -> Never {
        // Reason: Apple raises an exception here, which a caller cannot catch in Swift either.
        fatalError(error.description)
    }

    /// `init(format:)` was called on a subclass which the format does not describe.
    static func formatIsNot(_ type: Any.Type, format: String) -> Never {
        // Reason: the caller asked for a class which the text cannot give; there is no value to return.
        fatalError("the predicate format does not describe a \(type): \(format)")
    }

    /// A predicate was evaluated that has no answer, where nothing can be thrown: a variable without a value, a pattern that is none.
    static func noAnswer(_ error: PredicateEvaluationError) -> Never {
        // Reason: Apple raises an exception here; `holds(for:substitutionVariables:)` and `value(for:context:)` throw the error instead.
        fatalError(error.description)
    }

    /// A reader was asked of an expression of another type: `keyPath` of a constant.
    static func expressionHasNo(_ property: String, _ expression: NSExpression) -> Never {
        // Reason: as on Apple's platforms; `expressionType` says which readers there are.
        fatalError("the expression \(expression.description) has no \(property)")
    }

    /// `NSExpression(forFunction:arguments:)` was given a name that is no function, or the wrong number of arguments.
    static func unknownFunction(_ name: String, argumentCount: Int) -> Never {
        // Reason: the expression could never have a value.
        fatalError("there is no function \(name) of \(argumentCount) arguments")
    }

    /// Key path text with an empty component or an unknown `@operator`.
    static func malformedKeyPath(_ text: String) -> Never {
        // Reason: the expression could never have a value.
        fatalError("not a key path: \"\(text)\"")
    }
}
