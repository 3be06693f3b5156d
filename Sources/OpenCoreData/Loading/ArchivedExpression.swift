import Foundation

/// An expression as Apple's Foundation archives it, put into words and parsed: variables, key paths, constants, functions and lists.
// Decoded and read on one thread.
final class ArchivedExpression: NSObject, NSCoding, @unchecked Sendable {
    /// What an archive holds that is not understood, in words.
    struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    private let type: Int
    private let operand: ArchivedExpression?
    private let arguments: [ArchivedExpression]
    private let elements: [ArchivedExpression]
    private let selector: String?
    private let keyPath: String?
    private let variable: String?
    private let constant: Any?

    /// Foundation's classes of expressions, all of which archive themselves by the same keys.
    private static let classNames = [
        "NSExpression", "NSConstantValueExpression", "NSSelfExpression", "NSVariableExpression", "NSKeyPathExpression",
        "NSKeyPathSpecifierExpression", "NSFunctionExpression", "NSAggregateExpression",
    ]

    /// What else there may be in an archive. Foundation's own check of classes stops the process here, so it is made before.
    private static let plainNames: Set<String> = [
        "NSString", "NSMutableString", "NSNumber", "NSDecimalNumber", "NSDate", "NSData", "NSMutableData", "NSArray", "NSMutableArray", "NSNull",
    ]

    static func read(_ data: Data) throws -> NSExpression {
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let objects = list?["$objects"] as? [Any] ?? []
        try checkDepth(objects)
        for name in objects.compactMap({ ($0 as? [String: Any])?["$classname"] as? String }) {
            guard classNames.contains(name) || plainNames.contains(name) else {
                throw Unknown(description: "it holds an object of the class \(name)")
            }
        }
        let decoder = try NSKeyedUnarchiver(forReadingFrom: data)
        decoder.requiresSecureCoding = false
        decoder.decodingFailurePolicy = .setErrorAndReturn
        for name in classNames { decoder.setClass(ArchivedExpression.self, forClassName: name) }
        defer { decoder.finishDecoding() }
        guard let archived = decoder.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? ArchivedExpression else {
            throw Unknown(description: decoder.error.map { "\(($0 as NSError).localizedDescription)" } ?? "there is none in the archive")
        }
        var arguments: [Any?] = []
        let format = try archived.format(&arguments)
        return try NSExpression.parse(format, arguments: arguments)
    }

    /// A level of an expression is two objects: itself, and the list of its arguments.
    private static let deepest = 2 * PredicateEvaluationError.levels + 10
    private static let largest = 100_000

    /// Foundation follows what an object holds for as long as there is anything, and one that holds itself has no end; what is held twice is written out
    /// twice.
    private static func checkDepth(_ objects: [Any]) throws {
        let held = try objects.map(references), refusal = Unknown(description: "it nests too deep, or holds itself")
        // How deep an object nests, and how many it is when all is written out; nil while that is being found out.
        var known: [Int: (depth: Int, size: Int)?] = [:]
        func measure(_ object: Int, at level: Int) throws -> (depth: Int, size: Int) {
            if let found = known[object] {
                guard let found else { throw refusal }
                return found
            }
            guard level <= deepest else { throw refusal }
            known[object] = .some(nil)
            var result = (depth: 0, size: 1)
            for next in held.indices.contains(object) ? held[object] : [] {
                let part = try measure(next, at: level + 1)
                result = (max(result.depth, part.depth + 1), min(result.size + part.size, largest + 1))
            }
            known[object] = result
            return result
        }
        for object in held.indices {
            let (depth, size) = try measure(object, at: 0)
            guard depth <= deepest, size <= largest else { throw refusal }
        }
    }

    /// The numbers of the objects that one holds. Foundation shows them only where it writes them.
    private static func references(in object: Any) throws -> [Int] {
        guard object is [String: Any] || object is [Any] else { return [] }
        let text = String(decoding: try PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0), as: UTF8.self)
        return text.matches(of: /<key>CF\$UID<\/key>\s*<integer>(\d+)<\/integer>/).compactMap { Int($0.1) }
    }

    init?(coder: NSCoder) {
        func object(_ key: String) -> Any? { coder.containsValue(forKey: key) ? coder.decodeObject(forKey: key) : nil }
        func text(_ key: String) -> String? { (object(key) as? NSString).map { String(describing: $0) } ?? object(key) as? String }
        func expressions(_ key: String) -> [ArchivedExpression] {
            let found = object(key)
            return (found as? NSArray)?.compactMap { $0 as? ArchivedExpression } ?? (found as? [ArchivedExpression]) ?? []
        }
        type = coder.decodeInteger(forKey: "NSExpressionType")
        operand = object("NSOperand") as? ArchivedExpression
        arguments = expressions("NSArguments")
        elements = expressions("NSCollection")
        selector = text("NSSelectorName")
        keyPath = text("NSKeyPath")
        variable = text("NSVariable")
        constant = object("NSConstantValue")
    }

    func encode(with coder: NSCoder) { Violation.misuse("an expression that was read from a mapping is not archived again") }

    /// In the words of the predicate language; constants go to the arguments.
    private func format(_ values: inout [Any?]) throws -> String {
        switch UInt(exactly: type).flatMap(NSExpression.ExpressionType.init) {
        case .constantValue:
            values.append(constant is NSNull ? nil : constant)
            return "%@"
        case .evaluatedObject: return "SELF"
        case .variable:
            guard let variable else { throw Unknown(description: "a variable has no name") }
            return "$\(variable)"
        case .aggregate: return try "{" + elements.map { try $0.format(&values) }.joined(separator: ", ") + "}"
        case .keyPath where keyPath != nil: return keyPath ?? ""
        case .function, .keyPath: return try function(&values)
        default:
            // 10 is Foundation's own number for a path within a key path expression.
            guard let keyPath else { throw Unknown(description: "it is of the kind \(type)") }
            return keyPath
        }
    }

    private func function(_ values: inout [Any?]) throws -> String {
        guard let selector else { throw Unknown(description: "a function has no name") }
        if ["valueForKeyPath:", "valueForKey:"].contains(selector), let path = arguments.first {
            let base = try operand?.format(&values) ?? "SELF", words = try path.format(&values)
            return base == "SELF" ? words : "\(base).\(words)"
        }
        if PredicateFunction(selector) != nil {
            return try selector + "(" + arguments.map { try $0.format(&values) }.joined(separator: ", ") + ")"
        }
        guard selector.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ":" || $0 == "_") }) else {
            throw Unknown(description: "\"\(selector)\" is no selector")
        }
        let object = try operand?.format(&values) ?? "SELF"
        let rest = try arguments.map { try ", " + $0.format(&values) }.joined()
        return "FUNCTION(\(object), '\(selector)'\(rest))"
    }
}
