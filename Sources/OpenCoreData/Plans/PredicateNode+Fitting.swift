import Foundation

extension PredicateNode {
    /// The predicate with its constants in the types of the properties that they are compared with: `age == "42"` asks for the number 42.
    ///
    /// Nothing is lost on the way. Where that can't be, as with `age == "abc"`, it throws 134060: values of different types are never equal, so that
    /// such a fetch would find nothing and not say why. Every level and store that answers the fetch gets the same constants.
    package func fitted(to entity: NSEntityDescription) throws -> PredicateNode {
        try ConstantFitting(entity: entity).fit(self)
    }
}

extension ExpressionNode {
    /// Throws 134060 for a key that an object on the way does not have.
    ///
    /// - Parameters:
    ///   - entity: that of the object which is asked.
    ///   - variables: what variables stand for.
    ///   - isKnown: whether an object of an entity has a key that the model knows nothing of.
    func checkKeys(
        of entity: NSEntityDescription, variables: [String: NSEntityDescription], besides isKnown: @escaping (NSEntityDescription, String) -> Bool
    ) throws {
        let checking = ConstantFitting(entity: entity, subject: "The expression", checksKeysOnly: true, isKnown: isKnown, variables: variables)
        _ = try checking.inside(self)
    }

    /// The expression as a fetch of the entity could compute it: the predicates within it fitted, identities in place of objects. Throws 134060 for what
    /// can't be computed of any object.
    func fitted(to entity: NSEntityDescription) throws -> ExpressionNode {
        let test = PredicateNode.comparison(PredicateComparison(left: self, right: .constant(.null), type: .equalTo))
        try test.checkFetchable(entity.name)
        guard case .comparison(let fitted) = try ConstantFitting(entity: entity, subject: "The expression").fit(test.frozen()) else { return self }
        return fitted.left
    }
}

extension ComparedKind {
    fileprivate var inWords: String {
        switch self {
        case .number: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .object: "an object"
        }
    }

    /// Whether the value is of this kind as it stands.
    fileprivate func takes(_ value: PredicateValue) -> Bool {
        switch (self, value) {
        case (_, .null), (_, .opaque), (.number, .integer), (.number, .bool), (.number, .double), (.number, .decimal), (.string, .string),
            (.date, .date), (.data, .data), (.uuid, .uuid), (.url, .url), (.object, .object):
            true
        default: false
        }
    }

    /// The value as one of this kind; nil where something would be lost.
    fileprivate func fitting(_ value: PredicateValue) -> PredicateValue? {
        if takes(value) { return value }
        return switch (self, value) {
        case (.number, .string(let text)): Self.number(text)
        case (.string, .bool(let flag)): .string(flag ? "1" : "0")
        case (.string, .integer(let number)): .string(String(number))
        case (.string, .double(let number)): .string(String(number))
        case (.string, .decimal(let number)): .string(number.description)
        case (.string, .uuid(let uuid)): .string(uuid.uuidString)
        case (.string, .url(let url)): .string(url.absoluteString)
        // Dates are stored as such numbers.
        case (.date, .integer(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case (.date, .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
        case (.url, .string(let text)): URL(string: text).map { .url($0) }
        default: nil
        }
    }

    /// The number that a text writes out, in any way that a literal may be written.
    private static func number(_ text: String) -> PredicateValue? {
        if let integer = Int64(text) { return .integer(integer) }
        // A decimal has the digits that were written; a real has those that are left.
        let isPlain = text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D || $0 == 0x2B || $0 == 0x2E }
        guard let double = Double(text), double.isFinite else { return nil }
        if isPlain, let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN { return .decimal(decimal) }
        return .double(double)
    }
}

/// Brings constants into the types of what they are compared with.
private struct ConstantFitting {
    let entity: NSEntityDescription
    var subject = "The predicate"
    /// Whether constants stay as they are, whatever they are compared with.
    var checksKeysOnly = false
    /// Whether an object of an entity has a key that the model knows nothing of.
    var isKnown: (NSEntityDescription, String) -> Bool = { _, _ in false }
    /// What the variables of subqueries stand for.
    var variables: [String: NSEntityDescription] = [:]

    func fit(_ node: PredicateNode) throws -> PredicateNode {
        switch node {
        case .constant, .opaque: node
        case .and(let children): .and(try children.map(fit))
        case .or(let children): .or(try children.map(fit))
        case .not(let child): .not(try fit(child))
        case .comparison(let comparison): try wholeComposite(comparison) ?? .comparison(try fit(comparison))
        }
    }

    /// A composite that is compared with nil is nil where all of its leaves are; nil for another comparison.
    private func wholeComposite(_ comparison: PredicateComparison) -> PredicateNode? {
        guard comparison.modifier == .direct, comparison.type == .equalTo || comparison.type == .notEqualTo else { return nil }
        let side: ExpressionNode
        switch (comparison.left, comparison.right) {
        case (let other, .constant(.null)), (.constant(.null), let other): side = other
        default: return nil
        }
        let start: NSEntityDescription?, base: ExpressionNode, path: PredicateKeyPath
        switch side {
        case .keyPath(let found): (start, base, path) = (entity, .evaluatedObject, found)
        case .keyPathOf(let owner, let found): (start, base, path) = (destination(owner), owner, found)
        default: return nil
        }
        guard let start, let keys = start.folded(path).keys, let composite = start.composite(at: keys) else { return nil }
        // What no store keeps is nil to all of them.
        guard !composite.storedLeafPaths.isEmpty else { return nil }
        let leaves = composite.storedLeafPaths.map { leaf in
            PredicateNode.comparison(
                PredicateComparison(
                    left: base.appending(PredicateKeyPath(keys: keys.dropLast() + [leaf])), right: .constant(.null), type: comparison.type))
        }
        return comparison.type == .equalTo ? .and(leaves) : .or(leaves)
    }

    private func fit(_ comparison: PredicateComparison) throws -> PredicateComparison {
        var result = comparison
        result.left = try inside(comparison.left)
        result.right = try inside(comparison.right)
        if checksKeysOnly { return result }
        if let left = property(result.left) { result.right = try fit(result.right, to: left, isOnTheLeft: true, result) }
        if let right = property(result.right) { result.left = try fit(result.left, to: right, isOnTheLeft: false, result) }
        return result
    }

    private func fit(
        _ side: ExpressionNode, to property: Property, isOnTheLeft: Bool, _ comparison: PredicateComparison
    ) throws -> ExpressionNode {
        let other = isOnTheLeft ? comparison.left : comparison.right
        switch side {
        case .constant(.null): return side
        case .constant(.collection(let collection)):
            try check(comparison, property, isOnTheLeft: isOnTheLeft, isCollection: side.isCollection)
            if collection.elements.allSatisfy({ property.kind.takes($0) }) { return side }
            return .constant(
                .collection(PredicateCollection(try collection.elements.map { try fit($0, property, other) }, kind: collection.kind)))
        case .constant(let value):
            try check(comparison, property, isOnTheLeft: isOnTheLeft, isCollection: side.isCollection)
            return .constant(try fit(value, property, other))
        case .aggregate(let elements):
            try check(comparison, property, isOnTheLeft: isOnTheLeft, isCollection: side.isCollection)
            return .aggregate(
                try elements.map { element in
                    if case .constant(let value) = element { return .constant(try fit(value, property, other)) }
                    return element
                })
        default: return side
        }
    }

    private func fit(_ value: PredicateValue, _ property: Property, _ other: ExpressionNode) throws -> PredicateValue {
        if let fitting = property.kind.fitting(value) { return fitting }
        let constant = ExpressionNode.constant(value).canonicalFormat
        throw refusal("\(other.canonicalFormat) is \(property.kind.inWords), with which \(constant) can't be compared.")
    }

    /// Operators on strings need strings: of anything else they hold for nothing.
    private func check(_ comparison: PredicateComparison, _ property: Property, isOnTheLeft: Bool, isCollection: Bool) throws {
        let isOfStrings: Bool
        switch comparison.type {
        case .beginsWith, .endsWith, .like, .matches: isOfStrings = true
        // An element of a collection, or a part of a string.
        case .contains: isOfStrings = isOnTheLeft ? !property.isMany || comparison.modifier != .direct : !isCollection
        case .in: isOfStrings = isOnTheLeft ? !isCollection : !property.isMany
        default: isOfStrings = false
        }
        guard isOfStrings, property.kind != .string else { return }
        let name = (isOnTheLeft ? comparison.left : comparison.right).canonicalFormat
        throw refusal("\(name) is \(property.kind.inWords), and the operator of \"\(NSPredicate.make(.comparison(comparison)))\" compares strings.")
    }

    private func refusal(_ what: String) -> NSError {
        NSError.coreData(.coreData, "\(subject) does not fit \(entity.name ?? "?"): \(what) Change the constant.")
    }

    // MARK: What is compared

    private struct Property {
        let kind: ComparedKind
        /// Whether there may be several: the path goes over a to-many.
        var isMany = false
    }

    /// Predicates inside of an expression.
    fileprivate func inside(_ node: ExpressionNode) throws -> ExpressionNode {
        switch node {
        case .subquery(let collection, let variable, let predicate):
            let collection = try inside(collection)
            guard let members = destination(collection) else { return .subquery(collection: collection, variable: variable, predicate: predicate) }
            var inner = self
            inner.variables[variable] = members
            return .subquery(collection: collection, variable: variable, predicate: try inner.fit(predicate))
        case .keyPath(let told):
            let path = entity.folded(told)
            if let length = lengthOfText(path, from: entity, .evaluatedObject) { return length }
            try checkKeys(path, from: entity)
            return .keyPath(path)
        case .keyPathOf(let base, let told):
            var path = told
            if let start = destination(base) {
                path = start.folded(told)
                if let length = lengthOfText(path, from: start, try inside(base)) { return length }
                try checkKeys(path, from: start)
            }
            return .keyPathOf(try inside(base), path)
        case .cast(let operand, let type): return .cast(try inside(operand), type)
        case .aggregate(let elements): return .aggregate(try elements.map(inside))
        case .index(let base, let place): return .index(try inside(base), place)
        case .function(let name, let arguments): return .function(name, try arguments.map(inside))
        case .setOperation(let operation, let left, let right): return .setOperation(operation, try inside(left), try inside(right))
        case .conditional(let condition, let yes, let no): return .conditional(try fit(condition), try inside(yes), try inside(no))
        case .message(let target, let selector, let arguments):
            if selector.hasPrefix("valueForKey"), case .constant(.string(let text))? = arguments.first, let path = PredicateKeyPath(text),
                let start = destination(target)
            {
                try checkKeys(start.folded(path), from: start)
            }
            return .message(try inside(target), selector, try arguments.map(inside))
        default: return node
        }
    }

    /// What an expression that is no constant yields; nil where the model does not tell.
    private func property(_ node: ExpressionNode) -> Property? {
        switch node {
        case .evaluatedObject: return Property(kind: .object)
        case .variable(let name): return variables[name].map { _ in Property(kind: .object) }
        case .keyPath(let path): return follow(path, from: entity)
        case .keyPathOf(let base, let path): return destination(base).flatMap { follow(path, from: $0) }
        case .subquery: return Property(kind: .object, isMany: true)
        case .index(_, .size): return Property(kind: .number)
        case .function(let name, let arguments):
            if Self.numeric.contains(name) { return Property(kind: .number) }
            if PredicateFunction.ofText.contains(name) { return Property(kind: .string) }
            if ["min:", "max:"].contains(name), arguments.count == 1 { return property(arguments[0]).map { Property(kind: $0.kind) } }
            return nil
        default: return nil
        }
    }

    private static let numeric: Set<String> = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "abs:", "sum:", "count:", "average:",
    ]

    /// The entity of the objects that an expression yields.
    private func destination(_ node: ExpressionNode) -> NSEntityDescription? {
        switch node {
        case .evaluatedObject: entity
        case .variable(let name): variables[name]
        case .keyPath(let path): path.keys.flatMap { walk($0, from: entity)?.entity }
        case .keyPathOf(let base, let path): destination(base).flatMap { start in path.keys.flatMap { walk($0, from: start)?.entity } }
        case .subquery(let collection, _, _): destination(collection)
        default: nil
        }
    }

    /// What `name.length` says where `name` is a text: in Core Data, a string has that key. Nil for another path.
    private func lengthOfText(_ path: PredicateKeyPath, from start: NSEntityDescription, _ base: ExpressionNode) -> ExpressionNode? {
        guard !checksKeysOnly, path.steps.count > 1, path.steps.last == .key("length") else { return nil }
        let text = PredicateKeyPath(steps: Array(path.steps.dropLast()))
        guard let property = follow(text, from: start), property.kind == .string, !property.isMany else { return nil }
        return .function("length:", [base.appending(text)])
    }

    /// Throws for a key that is none of the entity it is asked of. What a value that is no object says to a key is no matter of the model.
    private func checkKeys(_ path: PredicateKeyPath, from start: NSEntityDescription) throws {
        var current = start
        for case .key(let key) in path.steps where key != "self" && key != "objectID" {
            let relationship: NSRelationshipDescription?
            switch current.layout.place(of: key) {
            case .slot(let slot)?: relationship = current.layout.relationship(atSlot: slot)
            case .toMany(let number)?: relationship = current.layout.toManys[number]
            case .composite? where checksKeysOnly: return
            case .composite(let number)?:
                let paths = current.layout.composites[number].leafPaths.joined(separator: ", ")
                throw NSError.coreData(
                    .coreData,
                    "\(subject) names the composite attribute \(current.name ?? "?").\(key), which no row has as one: name an element, \(paths).")
            case nil where isKnown(current, key): return
            case nil:
                let known = current.leavesByName.keys.sorted().joined(separator: ", ")
                throw NSError.coreData(
                    .coreData,
                    "\(subject) names \(path) of \(start.name ?? "?"), but \(current.name ?? "?") has no property \"\(key)\"; it has \(known).")
            }
            guard let destination = relationship?.destinationEntity else { return }
            current = destination
        }
    }

    private func follow(_ path: PredicateKeyPath, from entity: NSEntityDescription) -> Property? {
        guard let split = path.split else { return path.keys.flatMap { walk($0, from: entity) }.map { Property(kind: $0.kind, isMany: $0.isMany) } }
        switch split.collectionOperator {
        case .count, .sum, .avg: return Property(kind: .number)
        default:
            guard let keys = split.collection.keys, let rest = split.rest.keys, let end = walk(keys + rest, from: entity) else { return nil }
            let isOne = split.collectionOperator == .min || split.collectionOperator == .max
            return Property(kind: end.kind, isMany: !isOne)
        }
    }

    /// Where keys lead to: a kind of value, and an entity where that is an object.
    private func walk(_ keys: [String], from start: NSEntityDescription) -> (kind: ComparedKind, entity: NSEntityDescription?, isMany: Bool)? {
        var current = start, isMany = false
        for (index, key) in keys.enumerated() {
            let relationship: NSRelationshipDescription
            switch current.layout.place(of: key) {
            case .slot(let slot)?:
                guard let toOne = current.layout.relationship(atSlot: slot) else {
                    guard index == keys.count - 1, let attribute = current.layout.attribute(atSlot: slot) else { return nil }
                    return attribute.kind.compared.map { ($0, nil, isMany) }
                }
                relationship = toOne
            case .toMany(let number)?:
                relationship = current.layout.toManys[number]
                isMany = true
            case .composite?: return nil
            case nil:
                if key == "self" || key == "objectID" { continue }
                return nil
            }
            guard let destination = relationship.destinationEntity else { return nil }
            current = destination
        }
        return (.object, current, isMany)
    }
}

extension ExpressionNode {
    fileprivate var isCollection: Bool {
        switch self {
        case .constant(.collection), .aggregate: true
        default: false
        }
    }
}

/// Predicates and expressions as fetches ask them: what has no answer is the error 134060.
extension PredicateNode {
    /// Whether the predicate holds for an object.
    package func selects(_ object: Any?) throws -> Bool {
        do { return try evaluate(object) } catch { throw error.ofAFetch }
    }

    /// Throws for what could not be answered for any object: nesting that is too deep, a variable without a value, a pattern that is none.
    ///
    /// - Parameters:
    ///   - name: what is fetched.
    ///   - known: the variables that will have a value.
    package func checkFetchable(_ name: String?, variables known: Set<String> = []) throws {
        do { try checkAnswerable(variables: known) } catch { throw error.fetching(name) }
    }
}

extension ExpressionNode {
    /// The value for an object.
    package func computed(for object: Any?) throws -> PredicateValue {
        do { return try evaluate(in: EvaluationScope(object)) } catch { throw error.ofAFetch }
    }

    /// See `PredicateNode.checkFetchable(_:variables:)`.
    package func checkFetchable(_ name: String?) throws {
        do { try checkAnswerable() } catch { throw error.fetching(name) }
    }
}

extension PredicateEvaluationError {
    /// As a fetch throws it.
    package var ofAFetch: NSError { NSError.coreData(.coreData, description) }

    fileprivate func fetching(_ name: String?) -> NSError { NSError.coreData(.coreData, "\(name ?? "?") can't be fetched. \(description)") }
}
