import Foundation

/// What a `%` in a format string stands for.
enum PredicatePlaceholder: String {
    case object = "%@"
    case keyPath = "%K"
    case integer = "%d"
    case real = "%f"
    case text = "%s"

    init?(_ conversion: Unicode.Scalar) {
        switch conversion {
        case "@": self = .object
        case "K": self = .keyPath
        case "d", "D", "i", "u", "U", "x", "X", "o", "O": self = .integer
        case "f", "F", "e", "E", "g", "G", "a", "A": self = .real
        case "s", "S", "c", "C": self = .text
        default: return nil
        }
    }

    /// What the argument must be.
    var requirement: String {
        switch self {
        case .object: "an argument for %@"
        case .keyPath: "an argument for %K: the text of a key path"
        case .integer: "an argument for %d: a whole number"
        case .real: "an argument for %f: a number"
        case .text: "an argument for %s: a string"
        }
    }
}

/// The values that take the places of `%@`, `%K` and the others, in order. Values left over are ignored.
struct PredicateArguments {
    private let values: [Any?]
    private var next = 0

    /// Where `parse` stands, to return to.
    var position: Int {
        get { next }
        set { next = newValue }
    }

    init(_ values: [Any?]) {
        self.values = values
    }

    /// The next value as an expression; nil when there is none left, or it does not suit.
    mutating func take(_ placeholder: PredicatePlaceholder) -> ExpressionNode? {
        guard next < values.count else { return nil }
        defer { next += 1 }
        let argument = values[next]
        if placeholder == .object, let expression = argument as? NSExpression { return expression.node }
        let value = PredicateValue(argument)
        switch (placeholder, value) {
        case (.object, _): return .constant(value)
        case (.keyPath, .string(let text)):
            if text.uppercased() == "SELF" { return .evaluatedObject }
            return PredicateKeyPath(text).map { .evaluatedObject.appending($0.droppingSelf) }
        case (.integer, .integer), (.real, .double), (.text, .string): return .constant(value)
        case (.integer, .decimal(let number)) where number.isWhole: return .constant(value)
        case (.integer, .bool(let flag)): return .constant(.integer(flag ? 1 : 0))
        case (.real, _): return Arithmetic.real(value).map { .constant(.real($0)) }
        default: return nil
        }
    }
}

extension PredicateKeyPath {
    /// The path without a leading `SELF`, which says nothing.
    fileprivate var droppingSelf: PredicateKeyPath {
        guard steps.count > 1, case .key(let key) = steps[0], key.uppercased() == "SELF" else { return self }
        return PredicateKeyPath(steps: Array(steps.dropFirst()))
    }
}

extension Decimal {
    /// Whether there is nothing after the point.
    fileprivate var isWhole: Bool {
        exponent >= 0
    }
}
