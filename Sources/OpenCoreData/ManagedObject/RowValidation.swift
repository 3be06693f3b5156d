import Foundation

/// The rules of the model, applied to a row. Works without an instance, so that pushed rows need none.
enum RowValidation {
    /// Throws the one error, or 1560 with several in `NSDetailedErrorsKey`.
    static func check(
        _ row: RowSnapshot, id: NSManagedObjectID, object: NSManagedObject?, memberCount: ((Int) -> Int)?
    ) throws {
        let layout = row.layout
        if layout.ruledSlots.isEmpty && layout.countedToManys.isEmpty { return }
        var errors: [NSError] = []
        for slot in layout.ruledSlots {
            if let error = error(for: row[slot], at: slot, layout: layout, id: id, object: object) { errors.append(error) }
        }
        for number in layout.countedToManys {
            guard let count = memberCount?(number) else { continue }
            if let error = check(count, layout.toManys[number], id: id, object: object) { errors.append(error) }
        }
        try throwAny(errors)
    }

    /// What is wrong with one value; nil for nothing.
    static func error(
        for value: AttributeValue, at slot: Int, layout: EntityLayout, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        switch layout.slots[slot] {
        case .attribute(let attribute): return check(value, attribute, id: id, object: object)
        case .toOne(let relationship):
            if relationship.isOptional || !value.isNull { return nil }
            return error(.validationMissingMandatoryProperty, relationship.name, nil, id, object, "is required")
        }
    }

    static func throwAny(_ errors: [NSError]) throws {
        if errors.count == 1 { throw errors[0] }
        if errors.count > 1 {
            throw NSError.coreData(
                .validationMultipleErrors,
                "Multiple validation errors occurred: " + errors.map(\.localizedDescription).joined(separator: "; "),
                userInfo: [NSDetailedErrorsKey: errors])
        }
    }

    static func check(
        _ count: Int, _ relationship: NSRelationshipDescription, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        if count == 0 {
            guard !relationship.isOptional else { return nil }
            return error(.validationMissingMandatoryProperty, relationship.name, nil, id, object, "is required")
        }
        if count < relationship.minCount {
            return error(
                .validationRelationshipLacksMinimumCount, relationship.name, count, id, object,
                "has \(count) objects, needs at least \(relationship.minCount)")
        }
        if relationship.maxCount > 0 && count > relationship.maxCount {
            return error(
                .validationRelationshipExceedsMaximumCount, relationship.name, count, id, object,
                "has \(count) objects, allows at most \(relationship.maxCount)")
        }
        return nil
    }

    private static func check(
        _ value: AttributeValue, _ attribute: NSAttributeDescription, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        func failure(_ code: CocoaError.Code, _ what: String) -> NSError {
            error(code, attribute.name, value.plain, id, object, what)
        }
        switch value {
        case .null:
            return attribute.isOptional || attribute.isTransient ? nil : failure(.validationMissingMandatoryProperty, "is required")
        case .int64(let number):
            let range: ClosedRange<Int64> =
                switch attribute.attributeType {
                case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
                case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
                default: Int64.min...Int64.max
                }
            if number > range.upperBound { return failure(.validationNumberTooLarge, "is \(number), more than its type holds") }
            if number < range.lowerBound { return failure(.validationNumberTooSmall, "is \(number), less than its type holds") }
            return bounds(Double(number), attribute, failure)
        case .double(let number): return bounds(number, attribute, failure)
        case .decimal(let number): return bounds(NSDecimalNumber(decimal: number).doubleValue, attribute, failure)
        case .date(let seconds):
            if let maximum = attribute.maximumValue, seconds > maximum { return failure(.validationDateTooLate, "is too late") }
            if let minimum = attribute.minimumValue, seconds < minimum { return failure(.validationDateTooSoon, "is too soon") }
            return nil
        case .string(let string):
            if attribute.minimumValue != nil || attribute.maximumValue != nil {
                let length = Double(string.count)
                if let maximum = attribute.maximumValue, length > maximum { return failure(.validationStringTooLong, "is too long") }
                if let minimum = attribute.minimumValue, length < minimum { return failure(.validationStringTooShort, "is too short") }
            }
            if let pattern = attribute.regularExpression,
                string.range(of: "^(?:\(pattern))$", options: .regularExpression) == nil
            {
                return failure(.validationStringPatternMatching, "does not match \(pattern)")
            }
            return nil
        default: return nil
        }
    }

    private static func bounds(
        _ number: Double, _ attribute: NSAttributeDescription, _ failure: (CocoaError.Code, String) -> NSError
    ) -> NSError? {
        if let maximum = attribute.maximumValue, number > maximum {
            return failure(.validationNumberTooLarge, "is \(number), more than \(maximum)")
        }
        if let minimum = attribute.minimumValue, number < minimum {
            return failure(.validationNumberTooSmall, "is \(number), less than \(minimum)")
        }
        return nil
    }

    static func error(
        _ code: CocoaError.Code, _ key: String, _ value: Any?, _ id: NSManagedObjectID, _ object: NSManagedObject?, _ what: String
    ) -> NSError {
        var info: [String: Any] = [NSValidationKeyErrorKey: key, NSAffectedObjectsErrorKey: [object.map { $0 as Any } ?? id]]
        if let object { info[NSValidationObjectErrorKey] = object }
        if let value { info[NSValidationValueErrorKey] = value }
        return .coreData(code, "\(id.entity.name ?? "?").\(key) \(what) (object \(id)).", userInfo: info)
    }

    /// Deny: refuses the deletion while objects are left at the other end which are not deleted too.
    static func checkDeletion(of id: NSManagedObjectID, context: NSManagedObjectContext, object: NSManagedObject?) throws {
        let layout = id.layout
        for relationship in id.entity.relationshipsByName.values where relationship.deleteRule == .denyDeleteRule {
            let targets: [NSManagedObjectID]
            switch layout.place(of: relationship.name) {
            case .toMany(let number)?: targets = context.loadMembers(RelationshipKey(owner: id, toMany: number))
            case .slot(let slot)?: targets = [object?.row?[slot].objectID].compactMap { $0 }
            case nil: targets = []
            }
            let left = targets.filter { !context.isDeleted($0) }
            if !left.isEmpty {
                throw error(
                    .validationRelationshipDeniedDelete, relationship.name, left.count, id, object,
                    "still has \(left.count) objects, which forbids deleting it: \(left.prefix(5).map(\.description).joined(separator: ", "))")
            }
        }
    }
}

extension NSAttributeDescription {
    /// Whether a value of the right type can be wrong.
    var hasRules: Bool {
        let isNarrow = attributeType == .integer16AttributeType || attributeType == .integer32AttributeType
        return (!isOptional && !isTransient) || isNarrow || minimumValue != nil || maximumValue != nil || regularExpression != nil
    }
}

extension NSRelationshipDescription {
    /// Whether the number of members can be wrong.
    var hasCounts: Bool { !isOptional || minCount > 0 || maxCount > 1 }
}
