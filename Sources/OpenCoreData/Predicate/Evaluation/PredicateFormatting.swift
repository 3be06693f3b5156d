import Foundation

extension PredicateNode {
    /// The predicate as text. Parsed, it gives an equal predicate, unless it holds objects or code, which have no text.
    package var canonicalFormat: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let children): Self.join(children, " AND ", empty: "TRUEPREDICATE")
        case .or(let children): Self.join(children, " OR ", empty: "FALSEPREDICATE")
        case .not(let child): "NOT " + child.operand
        case .comparison(let comparison): comparison.canonicalFormat
        case .opaque: "<code>"
        }
    }

    private static func join(_ children: [PredicateNode], _ word: String, empty: String) -> String {
        children.isEmpty ? empty : children.map(\.operand).joined(separator: word)
    }

    /// The text where a part of a larger predicate is expected.
    private var operand: String {
        switch self {
        case .and(let children) where children.count > 0, .or(let children) where children.count > 0: "(" + canonicalFormat + ")"
        default: canonicalFormat
        }
    }
}

extension PredicateComparison {
    fileprivate var canonicalFormat: String {
        let qualifier =
            switch modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        return "\(qualifier)\(left.canonicalFormat) \(type.symbol)\(options.suffix) \(right.canonicalFormat)"
    }
}

extension NSComparisonPredicate.Operator {
    /// The operator in its canonical spelling.
    package var symbol: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}

extension NSComparisonPredicate.Options {
    fileprivate var suffix: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        if contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension ExpressionNode {
    /// The expression as text.
    package var canonicalFormat: String {
        switch self {
        case .constant(let value): value.canonicalFormat
        case .evaluatedObject: "SELF"
        case .variable(let name): "$" + name
        case .keyPath(let path): path.canonicalFormat(isContinuation: false)
        case .keyPathOf(let base, let path): base.base + "." + path.canonicalFormat(isContinuation: true)
        case .index(let base, let place): base.base + "[" + place.canonicalFormat + "]"
        case .aggregate(let elements): "{" + Self.list(elements) + "}"
        case .function(let name, let arguments):
            if let symbol = Self.symbols[name], arguments.count == 2 {
                "\(arguments[0].operand) \(symbol) \(arguments[1].operand)"
            } else {
                "\(arguments.count == 1 && name.hasSuffix(":") ? String(name.dropLast()) : name)(\(Self.list(arguments)))"
            }
        case .message where fetch != nil: "FETCH(\(Self.list(fetch?.arguments ?? [])))"
        case .message(let target, let selector, let arguments):
            "FUNCTION(" + Self.list([target, .constant(.string(selector))] + arguments) + ")"
        case .cast(let operand, let type): "CAST(\(operand.canonicalFormat), \(type.quoted))"
        case .subquery(let collection, let variable, let predicate):
            "SUBQUERY(\(collection.canonicalFormat), $\(variable), \(predicate.canonicalFormat))"
        case .setOperation(let operation, let left, let right): "\(left.operand) \(operation.rawValue) \(right.operand)"
        case .conditional(let condition, let yes, let no):
            "TERNARY(\(condition.canonicalFormat), \(yes.canonicalFormat), \(no.canonicalFormat))"
        case .anyKey: "ANYKEY"
        case .opaque: "<code>"
        case .unanswerable(.malformedFormat): "<no expression>"
        case .unanswerable: "<nests too deep>"
        }
    }

    /// The functions that are written between their arguments.
    static let symbols = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    /// The text where a part of a larger expression is expected: in parentheses if it consists of two sides.
    private var operand: String {
        switch self {
        case .setOperation: "(" + canonicalFormat + ")"
        case .function(let name, let arguments) where Self.symbols[name] != nil && arguments.count == 2: "(" + canonicalFormat + ")"
        default: canonicalFormat
        }
    }

    /// The text where a key or an index follows, which would otherwise belong to the number after the minus sign.
    private var base: String {
        if case .constant(let value) = self, value.canonicalFormat.hasPrefix("-") { "(" + canonicalFormat + ")" } else { operand }
    }

    private static func list(_ expressions: [ExpressionNode]) -> String {
        expressions.map(\.canonicalFormat).joined(separator: ", ")
    }
}

extension PredicateIndex {
    fileprivate var canonicalFormat: String {
        switch self {
        case .element(let expression): expression.canonicalFormat
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        }
    }
}

extension PredicateKeyPath {
    /// Dotted text in which every reserved word and every unusual name is escaped.
    fileprivate func canonicalFormat(isContinuation: Bool) -> String {
        steps.map { step in
            switch step {
            case .collectionOperator(let found): "@" + found.rawValue
            case .key(let key):
                if !PredicateToken.isIdentifier(key) {
                    "#" + key.quoted
                } else if PredicateToken.reservedWords.contains(key.uppercased()) {
                    "#" + key
                } else {
                    key
                }
            }
        }.joined(separator: ".")
    }
}

extension PredicateValue {
    /// The constant as text.
    package var canonicalFormat: String {
        switch self {
        case .null: "nil"
        case .bool(let flag): flag ? "YES" : "NO"
        case .integer(let number): String(number)
        case .double(let number): number.isFinite ? "\(number)" : "CAST(\"\(number)\", \"NSNumber\")"
        case .string(let text): text.quoted
        case .decimal(let number): "CAST(\"\(NSDecimalNumber(decimal: number).stringValue)\", \"NSDecimalNumber\")"
        case .date(let date): "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .data(let data): "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .url(let url): "CAST(\(url.absoluteString.quoted), \"NSURL\")"
        case .collection(let collection): "{" + collection.elements.map(\.canonicalFormat).joined(separator: ", ") + "}"
        case .object(let object): "<\(object.identity)>"
        case .opaque(let opaque): "<\(opaque.value)>"
        }
    }
}

extension String {
    /// The text as a literal of a format.
    fileprivate var quoted: String {
        var result = "\""
        var percents = 0
        for scalar in unicodeScalars {
            if scalar == "%" {
                percents += 1
                continue
            }
            result += Self.percents(percents)
            percents = 0
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + Self.percents(percents) + "\""
    }

    /// One percent sign stands for itself; where several meet, each is doubled.
    private static func percents(_ count: Int) -> String {
        String(repeating: "%", count: count == 1 ? 1 : 2 * count)
    }
}
