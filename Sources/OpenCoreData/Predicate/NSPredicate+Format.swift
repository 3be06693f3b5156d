public import Foundation

extension NSPredicate: PredicateFormatInitializable {}

extension PredicateFormatInitializable where Self: NSPredicate {
    /// The predicate that the text says, with the arguments in place of `%@`, `%K`, `%d` and the others.
    ///
    ///     NSPredicate(format: "age >= %d AND owner.name BEGINSWITH[cd] %@", 18, "é")
    ///
    /// An argument for `%@` may be any value, nil, a collection, an object, an object's ID or an `NSExpression`. Text within quotes is
    /// taken as it is, except that `%%` is one percent sign. Traps when the text is no predicate (see `CoreDataMisuse`); what comes from
    /// outside goes through `NSPredicate.parse(_:arguments:)`.
    public init(format: String, _ arguments: Any?...) {
        self.init(format: format, anyArguments: arguments)
    }

    /// The same with the arguments in an array.
    public init(format: String, argumentArray: [Any]?) {
        self.init(format: format, anyArguments: argumentArray ?? [])
    }

    private init(format: String, anyArguments: [Any?]) {
        do {
            guard let predicate = try NSPredicate.parse(format, arguments: anyArguments) as? Self else {
                PredicateViolations.formatIsNot(Self.self, format: format)
            }
            self = predicate
        } catch {
            PredicateViolations.malformedFormat(error)
            guard let nothing = NSPredicate.make(.unanswerable(.malformedFormat(error.description))) as? Self else {
                PredicateViolations.formatIsNot(Self.self, format: format)
            }
            self = nothing
        }
    }
}

extension NSPredicate {
    /// The predicate that the text says, for text that may be wrong.
    ///
    /// - Parameter arguments: Take the places of `%@`, `%K` and the others, in order; those left over are ignored.
    /// - Throws: `PredicateFormatError`, which names the place and what was expected there.
    public static func parse(_ format: String, arguments: [Any?] = []) throws(PredicateFormatError) -> NSPredicate {
        make(try PredicateParser.predicate(format, arguments: arguments))
    }

    /// Whether the predicate holds for the object: `evaluate(with:substitutionVariables:)` for a predicate that may be wrong, which that one
    /// stops the program for.
    ///
    /// - Throws: `PredicateEvaluationError`, which says why there is no answer.
    public func holds(for object: Any?, substitutionVariables bindings: [String: Any] = [:]) throws(PredicateEvaluationError) -> Bool {
        try node.evaluate(object, bindings: bindings)
    }

    /// The predicate with values in place of its variables; an `NSExpression` stands for what it says. Variables without a value stay.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate.make(node.substituting(variables.mapValues { ($0 as? NSExpression)?.node ?? .constant(PredicateValue($0)) }))
    }

    /// The predicate as text, which parses back to an equal predicate unless it holds objects or code.
    ///
    /// On Apple's platforms this is `predicateFormat`. Foundation on Linux marks that one deprecated, because its own predicates have no
    /// text; those made here answer the same text to both.
    public var canonicalFormat: String {
        node.canonicalFormat
    }
}
