import Foundation

/// Validation property by property.
extension NSManagedObject {
    /// Checks a value for a property, which may replace it.
    public final func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
        try withUnsafeMutablePointer(to: &value) { try validateValue(AutoreleasingUnsafeMutablePointer($0), forKey: key) }
    }

    /// Checks every property. Throws the one error, or 1560 with several.
    final func validateProperties() throws {
        if isFaulted { try realise() }
        let row = realisedRow
        if Swift.type(of: self) == NSManagedObject.self {
            return try RowValidation.check(row, id: objectID, object: self) { try self.loadedMemberIDs($0).count }
        }
        var errors: [NSError] = []
        let property = ValidatedProperty(self)
        for slot in 0..<row.count { try validate(property, at: .slot(slot), row.layout.names[slot], &errors) }
        for (number, relationship) in row.layout.toManys.enumerated() {
            try validate(property, at: .toMany(number), relationship.name, &errors)
        }
        try RowValidation.throwAny(errors)
    }

    private func validate(_ property: ValidatedProperty, at place: PropertyPlace, _ name: String, _ errors: inout [NSError]) throws {
        property.place = place
        property.replacement = nil
        do {
            try validateValue(AutoreleasingUnsafeMutablePointer(property), forKey: name)
        } catch {
            return try RowValidation.collect(error, into: &errors)
        }
        if let replacement = property.replacement { setValue(replacement, forKey: name) }
    }

    /// The rules of the model for one value: the object's own as it lies in the row, another as key-value coding would set it.
    final func validateProperty(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, _ key: String) throws {
        if let property = value.property, property.object === self, property.replacement == nil, property.name == key {
            switch property.place {
            case .slot(let slot):
                if !layout.isRuled[slot] { return }
                return try RowValidation.check(self.value(atSlot: slot), at: slot, of: self)
            case .toMany(let number):
                guard layout.toManys[number].hasCounts else { return }
                return try RowValidation.check(count: loadedMemberIDs(number).count, of: layout.toManys[number], self)
            }
        }
        guard let place = layout.place(of: key) else { Violation.unknownKey(key, entity: entity.name) }
        switch place {
        case .slot(let slot):
            guard let coded = AttributeValue.coded(PlainValue.of(value.pointee), as: layout.types[slot]) else {
                throw RowValidation.wrongType(key, value.pointee, of: self)
            }
            try RowValidation.check(coded, at: slot, of: self)
        case .toMany(let number):
            guard let count = PlainValue.count(of: value.pointee) else { throw RowValidation.wrongType(key, value.pointee, of: self) }
            try RowValidation.check(count: count, of: layout.toManys[number], self)
        }
    }
}

/// Swift values out of the boxes that `as AnyObject` puts them in.
private enum PlainValue {
    static func of(_ value: AnyObject?) -> Any? {
        guard let value else { return nil }
        if let object = value as? NSManagedObject { return object.objectID }
        return value
    }

    static func count(of value: AnyObject?) -> Int? {
        switch value {
        case nil: 0
        case let objects as Set<NSManagedObject>: objects.count
        case let objects as [NSManagedObject]: objects.count
        case let objects as NSOrderedSet: objects.count
        case let objects as NSSet: objects.count
        default: value is NSNull ? 0 : nil
        }
    }
}

extension RowValidation {
    /// The rules for one value of an object.
    static func check(_ value: AttributeValue, at slot: Int, of object: NSManagedObject) throws {
        if let error = error(for: value, at: slot, layout: object.layout, id: object.objectID, object: object) { throw error }
    }

    static func check(count: Int, of relationship: NSRelationshipDescription, _ object: NSManagedObject) throws {
        guard relationship.hasCounts else { return }
        if let error = check(count, relationship, id: object.objectID, object: object) { throw error }
    }

    static func wrongType(_ key: String, _ value: AnyObject?, of object: NSManagedObject) -> NSError {
        error(.managedObjectValidation, key, value, object.objectID, object, "has a value of the wrong type")
    }
}
