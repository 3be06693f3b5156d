import Foundation

/// The rules of the model, applied to a row. Works without an instance, so that pushed rows need none.
enum RowValidation {
    /// Throws the one error, or 1560 with several in `NSDetailedErrorsKey`.
    static func check(
        _ row: RowSnapshot, id: NSManagedObjectID, object: NSManagedObject?, memberCount: ((Int) throws -> Int)?
    ) throws {
        let layout = row.layout
        if layout.rules.isEmpty && layout.countedToManys.isEmpty && layout.wholeComposites.isEmpty { return }
        var errors: [NSError] = []
        for rule in layout.rules {
            let value = row[rule.slot]
            if rule.admits(value) { continue }
            if let error = error(for: value, at: rule.slot, layout: layout, id: id, object: object) { errors.append(error) }
        }
        for number in layout.wholeComposites {
            errors += Self.errors(ofComposite: number, layout: layout, id: id, object: object) { row[$0] }
        }
        for number in layout.countedToManys {
            guard let count = try memberCount?(number) else { continue }
            if let error = check(count, layout.toManys[number], id: id, object: object) { errors.append(error) }
        }
        try throwAny(errors)
    }

    /// What is wrong with one value; nil for nothing.
    static func error(
        for value: AttributeValue, at slot: Int, layout: EntityLayout, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        switch layout.slots[slot] {
        case .attribute(let attribute):
            return check(value, attribute, id: id, object: object)
                ?? (value.isNull ? nil : predicates(of: attribute, attribute.name, refuse: value.plain, id: id, object: object))
        case .toOne(let relationship):
            if relationship.isOptional || !value.isNull { return nil }
            return error(.validationMissingMandatoryProperty, relationship.name, nil, id, object, "is required")
        }
    }

    /// What a composite misses as a whole: a value at all, or those that its elements must have once there is one. What a leaf must have in any case, is asked of
    /// its slot.
    static func errors(
        ofComposite number: Int, layout: EntityLayout, id: NSManagedObjectID, object: NSManagedObject?, _ value: (Int) -> AttributeValue
    ) -> [NSError] {
        let composite = layout.composites[number]
        func missing(_ path: String) -> NSError { error(.validationMissingMandatoryProperty, path, nil, id, object, "is required") }
        func isAsked(_ slot: Int) -> Bool { layout.attribute(atSlot: slot)?.isRequired == true }
        // What is in memory only may be missing.
        if composite.slots.allSatisfy({ layout.isTransient[$0] }) { return [] }
        guard composite.slots.contains(where: { !layout.isTransient[$0] && !value($0).isNull }) else {
            return composite.attribute.isRequired && !composite.slots.contains(where: isAsked) ? [missing(composite.path)] : []
        }
        let whole = composite.attribute.validationPredicates.isEmpty ? nil : composite.dictionary(in: layout) { value($0).plain }
        let refusal = whole.flatMap { predicates(of: composite.attribute, composite.path, refuse: $0, id: id, object: object) }
        return [refusal].compactMap(\.self)
            + zip(composite.attribute.elements, composite.parts).flatMap { element, part -> [NSError] in
                switch part.place {
                case .slot(let slot):
                    element.isRequired && !layout.isTransient[slot] && value(slot).isNull && !isAsked(slot) ? [missing(layout.names[slot])] : []
                case .composite(let inner): errors(ofComposite: inner, layout: layout, id: id, object: object, value)
                case .toMany: []
                }
            }
    }

    /// Notes what is wrong with a value, so that everything that is wrong is told at once. A store that could not be read is nothing wrong with
    /// any value: it is thrown as it is, or a save would be taken to be refused for good.
    static func collect(_ error: any Error, into errors: inout [NSError]) throws {
        let found = error as NSError
        let isOfStore = found.domain == CocoaError.errorDomain && (134_000..<135_000).contains(found.code)
        if isOfStore || SQLiteError(in: error) != nil { throw error }
        errors.append(contentsOf: found.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [found])
    }

    static func throwAny(_ errors: [NSError]) throws {
        if errors.count == 1 { throw errors[0] }
        if errors.count > 1 {
            throw NSError.coreData(
                .validationMultipleErrors,
                "\(errors.count) validation errors: " + errors.prefix(5).map(\.localizedDescription).joined(separator: " "),
                userInfo: [NSDetailedErrorsKey: errors])
        }
    }

    static func check(
        _ count: Int, _ relationship: NSRelationshipDescription, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        if count == 0 {
            guard !relationship.isOptional, relationship.minCount > 0 else { return nil }
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
        // What stands there is what was computed last.
        if attribute.isComputed { return nil }
        func failure(_ code: CocoaError.Code, _ what: String) -> NSError {
            error(code, attribute.name, value.plain, id, object, what)
        }
        switch value {
        case .null:
            return attribute.isRequired ? failure(.validationMissingMandatoryProperty, "is required") : nil
        case .int64(let number):
            let range = attribute.kind.integers ?? Int64.min...Int64.max
            if number > range.upperBound { return failure(.validationNumberTooLarge, "is \(number), more than its type can hold") }
            if number < range.lowerBound { return failure(.validationNumberTooSmall, "is \(number), less than its type can hold") }
            return bounds(.integer(number), attribute, failure)
        case .double(let number):
            // SQLite has no place for it: it would come back as nil.
            if number.isNaN { return failure(.managedObjectValidation, "is not a number, which can't be stored") }
            return bounds(.double(number), attribute, failure)
        case .decimal(let number):
            if number.isNaN { return failure(.managedObjectValidation, "is not a number, which can't be stored") }
            return bounds(.decimal(number), attribute, failure)
        case .date(let seconds):
            // Without the value: Foundation stops the program where such an error is printed.
            if seconds.isNaN { return error(.validationInvalidDate, attribute.name, nil, id, object, "is not a date") }
            if let maximum = attribute.maximumValue, seconds > maximum { return failure(.validationDateTooLate, "is too late") }
            if let minimum = attribute.minimumValue, seconds < minimum { return failure(.validationDateTooSoon, "is too soon") }
            return nil
        case .string(let string):
            if attribute.minimumValue != nil || attribute.maximumValue != nil {
                // As NSString counts.
                let length = Double(string.utf16.count)
                if let maximum = attribute.maximumValue, length > maximum { return failure(.validationStringTooLong, "is too long") }
                if let minimum = attribute.minimumValue, length < minimum { return failure(.validationStringTooShort, "is too short") }
            }
            guard let pattern = attribute.regularExpression else { return nil }
            do {
                let isCovered = try RegularExpressions.wholeMatch(string, pattern: pattern, options: [])
                return isCovered ? nil : failure(.validationStringPatternMatching, "does not match \(pattern)")
            } catch {
                return failure(.validationStringPatternMatching, "could not be compared with its regular expression. \(error)")
            }
        default: return nil
        }
    }

    /// What the attribute's own predicates say of a value.
    private static func predicates(
        of attribute: NSAttributeDescription, _ key: String, refuse value: Any?, id: NSManagedObjectID, object: NSManagedObject?
    ) -> NSError? {
        if attribute.validationPredicates.isEmpty || attribute.isComputed { return nil }
        for (number, predicate) in attribute.validationPredicates.enumerated() {
            let warning = number < attribute.validationWarnings.count ? attribute.validationWarnings[number] : nil
            var reason: String?
            do {
                if try predicate.node.aboutValue(value).evaluate(value, bindings: [:]) { continue }
                reason = warning as? String
            } catch {
                reason = "could not be compared with its validation predicate. \(error)"
            }
            let code = (warning as? NSNumber).map(\.intValue).flatMap { (1550..<1700).contains($0) ? CocoaError.Code(rawValue: $0) : nil }
            let found = error(
                code ?? .managedObjectValidation, key, value, id, object, reason ?? "does not satisfy \(predicate.canonicalFormat)")
            return NSError(
                domain: found.domain, code: found.code, userInfo: found.userInfo.merging([NSValidationPredicateErrorKey: predicate]) { _, new in new }
            )
        }
        return nil
    }

    /// By value, whatever the types: not every integer is a real.
    private static func bounds(
        _ number: PredicateValue, _ attribute: NSAttributeDescription, _ failure: (CocoaError.Code, String) -> NSError
    ) -> NSError? {
        func isBeyond(_ bound: PredicateValue, _ side: Int) -> Bool { Comparison.numericOrder(number, bound).map { $0.signum() == side } ?? false }
        func tooLarge(_ bound: Any) -> NSError { failure(.validationNumberTooLarge, "is \(number.any ?? "nil"), more than \(bound)") }
        func tooSmall(_ bound: Any) -> NSError { failure(.validationNumberTooSmall, "is \(number.any ?? "nil"), less than \(bound)") }
        if let maximum = attribute.maximumValue, isBeyond(.double(maximum), 1) { return tooLarge(maximum) }
        if let maximum = attribute.maximumDecimal, isBeyond(.decimal(maximum), 1) { return tooLarge(maximum) }
        if let minimum = attribute.minimumValue, isBeyond(.double(minimum), -1) { return tooSmall(minimum) }
        if let minimum = attribute.minimumDecimal, isBeyond(.decimal(minimum), -1) { return tooSmall(minimum) }
        return nil
    }

    static func error(
        _ code: CocoaError.Code, _ key: String, _ value: Any?, _ id: NSManagedObjectID, _ object: NSManagedObject?, _ what: String,
        affected: [NSManagedObjectID]? = nil
    ) -> NSError {
        var info: [String: Any] = [NSValidationKeyErrorKey: key, NSAffectedObjectsErrorKey: affected ?? [object.map { $0 as Any } ?? id]]
        if let object { info[NSValidationObjectErrorKey] = object }
        if let value { info[NSValidationValueErrorKey] = value }
        let entity = id.entity
        return .coreData(
            code, "\(entity.wordForPeople).\(entity.wordForPeople(of: key)) \(entity.wordsForPeople(error: what)) (object \(id)).", userInfo: info)
    }

    /// Deny: refuses the deletion while objects are left at the other end which are not deleted too, here or in a parent, whether this
    /// context knows them or not. Throws one 1600 for each relationship, with the IDs of those objects under `NSAffectedObjectsErrorKey`.
    static func checkDeletion(of id: NSManagedObjectID, context: NSManagedObjectContext, object: NSManagedObject?) throws {
        var errors: [NSError] = []
        for relationship in id.layout.denyingRelationships {
            let left = try targets(of: relationship, of: id, in: context).filter { !context.isDeleted($0) }
            if left.isEmpty { continue }
            let names = left.prefix(5).map(\.description).joined(separator: ", ") + (left.count > 5 ? ", …" : "")
            errors.append(
                error(
                    .validationRelationshipDeniedDelete, relationship.name, left.count, id, object,
                    "still has \(left.count) objects, which forbids deleting it: \(names)", affected: left))
        }
        try throwAny(errors)
    }

    /// The other end of a relationship of a deleted object, as this context and its channel see it.
    private static func targets(
        of relationship: NSRelationshipDescription, of id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        switch id.layout.place(of: relationship.name) {
        case .toMany(let number)?: return try context.loadMembers(RelationshipKey(owner: id, toMany: number))
        case .slot(let slot)?:
            let deletion = context.chain.withLock { context.level.change(of: id) }
            // A target that was set here counts; else the one that the channel has now.
            if let row = deletion?.row, row[slot] != deletion?.base?[slot] { return [row[slot].objectID].compactMap { $0 } }
            let current = try context.channel(to: "check a deletion").rows(for: [id])[id] ?? deletion?.row
            return [current?[slot].objectID].compactMap { $0 }
        case .composite?, nil: return []
        }
    }
}

extension ChangeSet {
    /// Whether any row is deleted whose entity has relationships that may forbid it.
    var mayBeDenied: Bool { deletedCount > 0 && entities.values.contains(where: \.mayBeDenied) }

    /// The deleted rows whose entity has relationships that may forbid it.
    var deletionsThatMayBeDenied: [(NSManagedObjectID, PendingRow)] {
        if deletedCount == 0 { return [] }
        return entities.values.filter(\.mayBeDenied).flatMap { changes in
            changes.loose.compactMap { id, change in change.kind == .deleted ? (id, change) : nil }
        }
    }
}

extension EntityChanges {
    fileprivate var mayBeDenied: Bool {
        !entity.layout.denyingRelationships.isEmpty && loose.contains { $0.value.kind == .deleted }
    }
}

extension PredicateNode {
    /// A predicate about a value, not an object: the `length` of a text is what `NSString` counts.
    fileprivate func aboutValue(_ value: Any?) -> PredicateNode {
        guard let text = value as? String else { return self }
        return mapExpressions { expression in
            if case .keyPath(let path) = expression, path.keys == ["length"] { return .constant(.integer(Int64(text.utf16.count))) }
            return expression
        }
    }
}
