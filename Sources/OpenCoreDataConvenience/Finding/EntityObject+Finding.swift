import CoreData
import Foundation

// Unsaved changes of the context and its parents count everywhere, and so do objects of subentities. Everything here throws what the fetch throws,
// and `RecordError` where the context's model has no entity of this class.
extension EntityObject {
    /// The objects that a predicate holds for; all, without one.
    ///
    /// - Parameters:
    ///   - order: By what they are sorted; their order is the store's without it.
    ///   - limit: At most how many; 0: all.
    ///   - offset: How many of the first to leave out.
    public static func findAll(
        matching predicate: NSPredicate? = nil, sortedBy order: [Sorting] = [], limit: Int = 0, offset: Int = 0,
        in context: NSManagedObjectContext
    ) throws -> [Self] {
        let request = try request(matching: predicate, sortedBy: order, in: context)
        request.fetchLimit = limit
        request.fetchOffset = offset
        return try context.fetch(request)
    }

    /// The objects that a predicate's text holds for: `findAll(where: "age > %@", 30, in: context)`. Throws `PredicateFormatError` for text that is none.
    public static func findAll(
        where format: String, _ arguments: Any?..., sortedBy order: [Sorting] = [], limit: Int = 0, offset: Int = 0,
        in context: NSManagedObjectContext
    ) throws -> [Self] {
        let predicate = try NSPredicate.parse(format, arguments: arguments)
        return try findAll(matching: predicate, sortedBy: order, limit: limit, offset: offset, in: context)
    }

    /// The objects with a value in an attribute; those without a value, for nil. The value is converted as an import does it (`"7"` finds 7).
    public static func findAll(
        by attribute: String, value: Any?, sortedBy order: [Sorting] = [], in context: NSManagedObjectContext
    ) throws -> [Self] {
        try findAll(matching: equality(attribute, value, in: context), sortedBy: order, in: context)
    }

    /// The first object that a predicate holds for, in an order; nil if there is none.
    public static func findFirst(
        matching predicate: NSPredicate? = nil, sortedBy order: [Sorting] = [], in context: NSManagedObjectContext
    ) throws -> Self? {
        try findAll(matching: predicate, sortedBy: order, limit: 1, in: context).first
    }

    /// The first object that a predicate's text holds for: `findFirst(where: "name == %@", "Ada", in: context)`.
    /// Throws `PredicateFormatError` for text that is none.
    public static func findFirst(
        where format: String, _ arguments: Any?..., sortedBy order: [Sorting] = [], in context: NSManagedObjectContext
    ) throws -> Self? {
        try findFirst(matching: NSPredicate.parse(format, arguments: arguments), sortedBy: order, in: context)
    }

    /// The first object with a value in an attribute; nil if there is none.
    public static func findFirst(
        by attribute: String, value: Any?, sortedBy order: [Sorting] = [], in context: NSManagedObjectContext
    ) throws -> Self? {
        try findFirst(matching: equality(attribute, value, in: context), sortedBy: order, in: context)
    }

    /// How many objects a predicate holds for; how many there are, without one.
    public static func count(matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> Int {
        try context.count(for: request(matching: predicate, sortedBy: [], in: context))
    }

    /// How many objects a predicate's text holds for. Throws `PredicateFormatError` for text that is none.
    public static func count(where format: String, _ arguments: Any?..., in context: NSManagedObjectContext) throws -> Int {
        try count(matching: NSPredicate.parse(format, arguments: arguments), in: context)
    }

    /// Whether a predicate holds for any object; whether there is any, without one.
    public static func exists(matching predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> Bool {
        let request = try request(matching: predicate, sortedBy: [], in: context)
        request.fetchLimit = 1
        return try context.count(for: request) > 0
    }

    /// Whether a predicate's text holds for any object. Throws `PredicateFormatError` for text that is none.
    public static func exists(where format: String, _ arguments: Any?..., in context: NSManagedObjectContext) throws -> Bool {
        try exists(matching: NSPredicate.parse(format, arguments: arguments), in: context)
    }

    private static func equality(_ name: String, _ value: Any?, in context: NSManagedObjectContext) throws(RecordError) -> NSPredicate {
        let entity = try entity(in: context)
        let attribute = try entity.attribute(name)
        let wanted = try AttributeConversion(attribute).value(value ?? NSNull(), of: entity)
        return NSPredicate(format: "%K == %@", name, wanted)
    }
}
