/// What a condition asks of one thing that only a run knows.
struct Comparison: Hashable {
    enum Test: Hashable {
        /// Python takes it for true.
        case truth
        case missing
        case equals(Term)
        case among([Term])
        /// It has this in it: a key of a mapping, or a part of a text.
        case contains(Term)
        case ordered(String, Term)
    }

    let reference: Term.Reference
    let test: Test
    /// The opposite is asked.
    var isNegated = false
}

extension Evaluator {
    /// A condition as comparisons of which one has to hold. A condition that is known before a run is none of them.
    /// - Throws: `Unsayable` for anything else.
    func alternatives(_ expression: JinjaExpression) throws -> [Comparison] {
        if case .binary("or", let left, let right) = expression { return try alternatives(left) + alternatives(right) }
        // Not (a and b) is not a, or not b.
        if case .not(.binary("and", let left, let right)) = expression { return try alternatives(.not(left)) + alternatives(.not(right)) }
        return [try comparison(expression)]
    }

    private func comparison(_ expression: JinjaExpression) throws -> Comparison {
        switch expression {
        case .not(let inner):
            var result = try comparison(inner)
            result.isNegated.toggle()
            return result
        case .test("none", let inner), .test("undefined", let inner): return Comparison(reference: try reference(inner), test: .missing)
        case .test("defined", let inner): return Comparison(reference: try reference(inner), test: .missing, isNegated: true)
        case .test("true", let inner), .test("True", let inner): return Comparison(reference: try reference(inner), test: .equals(.bool(true)))
        case .test("false", let inner), .test("False", let inner): return Comparison(reference: try reference(inner), test: .equals(.bool(false)))
        case .binary("==", let left, let right): return try equality(left, right)
        case .binary("!=", let left, let right):
            var result = try equality(left, right)
            result.isNegated.toggle()
            return result
        case .binary("in", let left, let right):
            if case .reference(let stack) = try term(right) { return Comparison(reference: stack, test: .contains(try known(left))) }
            guard case .list(let elements) = try known(right) else { throw Unsayable("what it is looked for in is no list") }
            return Comparison(reference: try reference(left), test: .among(elements))
        case .binary(let sign, let left, let right) where ["<", ">", "<=", ">="].contains(sign):
            return Comparison(reference: try reference(left), test: .ordered(sign, try known(right)))
        default: return Comparison(reference: try reference(expression), test: .truth)
        }
    }

    private func equality(_ left: JinjaExpression, _ right: JinjaExpression) throws -> Comparison {
        let a = try term(left), b = try term(right)
        switch (a, b) {
        case (.reference(let found), _) where b.isConstant: return Self.equality(found, b)
        case (_, .reference(let found)) where a.isConstant: return Self.equality(found, a)
        default: throw Unsayable("only something of an answer or a record can be compared, and only with what is known")
        }
    }

    private static func equality(_ reference: Term.Reference, _ value: Term) -> Comparison {
        Comparison(reference: reference, test: value == Term.none ? .missing : .equals(value))
    }

    private func reference(_ expression: JinjaExpression) throws -> Term.Reference {
        guard case .reference(let reference) = try term(expression) else {
            throw Unsayable("only something of an answer or a record can be compared, and only with what is known")
        }
        return reference
    }

    private func known(_ expression: JinjaExpression) throws -> Term {
        let term = try term(expression)
        guard term.isConstant else { throw Unsayable("what something is compared with has to be known before a run") }
        return term
    }
}
