import CoreData
import Foundation

// Unsaved changes count. A context without a parent and without changes lets the store compute; any other counts over the objects.
extension EntityObject {
    /// The sum of an attribute; 0 if there is no value. Whole and decimal numbers are added exactly.
    ///
    /// - Throws: `RecordError` if the attribute holds no numbers, and if the sum of whole numbers does not fit 64 bits; and what the fetch throws.
    public static func sum(of attribute: String, matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> NSNumber {
        try aggregate("sum:", attribute, predicate, context) { try $0.sum } ?? 0
    }

    /// The arithmetic mean of an attribute's values; nil if there is none. Objects without a value do not count.
    ///
    /// - Throws: `RecordError` if the attribute holds no numbers, and what the fetch throws.
    public static func average(of attribute: String, matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> Double? {
        try aggregate("average:", attribute, predicate, context) { $0.average }?.doubleValue
    }

    /// The smallest value of an attribute that can be sorted (numbers, dates, text); nil if there is none.
    ///
    /// - Parameter type: The type to have it as: `minimum(of: "age", as: Int.self, in: context)`.
    /// - Throws: `RecordError` if it is of another type, and what the fetch throws.
    public static func minimum<Value>(
        of attribute: String, as type: Value.Type, matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext
    ) throws -> Value? {
        try extreme(.ascending(attribute), type, predicate, context)
    }

    /// The largest value of an attribute that can be sorted (numbers, dates, text); nil if there is none.
    ///
    /// - Parameter type: The type to have it as: `maximum(of: "born", as: Date.self, in: context)`.
    /// - Throws: `RecordError` if it is of another type, and what the fetch throws.
    public static func maximum<Value>(
        of attribute: String, as type: Value.Type, matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext
    ) throws -> Value? {
        try extreme(.descending(attribute), type, predicate, context)
    }

    private static func extreme<Value>(
        _ order: Sorting, _ type: Value.Type, _ predicate: NSPredicate?, _ context: NSManagedObjectContext
    ) throws -> Value? {
        let entity = try entity(in: context)
        _ = try entity.attribute(order.key)
        guard
            let found = try findFirst(matching: having(order.key, predicate), sortedBy: [order], in: context)?.value(forKey: order.key)
        else { return nil }
        if let value = found as? Value { return value }
        throw RecordError(
            entity: entity.name ?? "?", property: order.key, value: found, problem: "the value is no \(type)",
            remedy: "ask for \(Swift.type(of: found))")
    }

    private static func having(_ key: String, _ predicate: NSPredicate?) -> NSPredicate {
        let hasValue = NSPredicate(format: "%K != nil", key)
        return predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [hasValue, $0]) } ?? hasValue
    }

    private static func aggregate(
        _ function: String, _ name: String, _ predicate: NSPredicate?, _ context: NSManagedObjectContext, inMemory: (Numbers) throws -> NSNumber?
    ) throws -> NSNumber? {
        let entity = try entity(in: context)
        let attribute = try entity.attribute(name)
        guard attribute.isNumber else {
            throw RecordError(
                entity: entity.name ?? "?", property: name, problem: "the attribute holds no numbers", remedy: "use one of a numeric type")
        }
        guard context.parent == nil, !context.hasChanges else {
            let objects = try findAll(matching: having(name, predicate), in: context)
            return try inMemory(Numbers(values: objects.compactMap { $0.value(forKey: name) as? NSNumber }, entity: entity, attribute: attribute))
        }
        let column = NSExpressionDescription()
        column.name = "answer"
        column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: name)])
        // Of whole numbers the store says by the type of its answer whether it is one.
        if function == "average:" { column.expressionResultType = .doubleAttributeType }
        if attribute.isBinary || attribute.attributeType == .decimalAttributeType { column.expressionResultType = attribute.attributeType }
        let request = NSFetchRequest<NSDictionary>()
        request.entity = entity
        request.predicate = having(name, predicate)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column]
        let answer = try context.fetch(request).first?["answer"]
        guard function == "sum:", column.expressionResultType == .undefinedAttributeType else { return answer as? NSNumber }
        guard let whole = answer as? Int64 else { throw RecordError.sumTooLarge(entity, attribute, answer) }
        return NSNumber(value: whole)
    }
}

extension NSAttributeDescription {
    fileprivate var isNumber: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType, .doubleAttributeType,
            .floatAttributeType:
            true
        default: false
        }
    }

    fileprivate var isBinary: Bool { attributeType == .doubleAttributeType || attributeType == .floatAttributeType }
}

/// The values of one attribute.
private struct Numbers {
    let values: [NSNumber]
    let entity: NSEntityDescription
    let attribute: NSAttributeDescription

    private var reals: Double { values.reduce(0) { $0 + $1.doubleValue } }
    private var decimals: Decimal { values.reduce(0) { $0 + $1.decimalValue } }
    private var whole: Int128 { values.reduce(0) { $0 + Int128($1.int64Value) } }

    var sum: NSNumber? {
        get throws {
            if attribute.isBinary { return NSNumber(value: reals) }
            if attribute.attributeType == .decimalAttributeType { return NSDecimalNumber(decimal: decimals) }
            guard let sum = Int64(exactly: whole) else { throw RecordError.sumTooLarge(entity, attribute, Double(whole)) }
            return NSNumber(value: sum)
        }
    }

    var average: NSNumber? {
        if values.isEmpty { return nil }
        if attribute.isBinary { return NSNumber(value: reals / Double(values.count)) }
        if attribute.attributeType == .decimalAttributeType { return NSDecimalNumber(decimal: decimals / Decimal(values.count)) }
        return NSNumber(value: Double(whole) / Double(values.count))
    }
}

extension RecordError {
    fileprivate static func sumTooLarge(_ entity: NSEntityDescription, _ attribute: NSAttributeDescription, _ sum: Any?) -> RecordError {
        RecordError(
            entity: entity.name ?? "?", property: attribute.name, value: sum, problem: "the sum does not fit 64 bits",
            remedy: "sum fewer objects at a time")
    }
}
