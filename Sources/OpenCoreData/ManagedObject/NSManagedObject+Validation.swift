import CSwiftRuntime
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
        for slot in 0..<row.count where !row.layout.isInComposite(slot) {
            try validate(property, at: .slot(slot), row.layout.names[slot], &errors)
        }
        for number in row.layout.wholeComposites {
            try validate(property, at: .composite(number), row.layout.composites[number].path, &errors)
        }
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
            case .composite(let number): return try RowValidation.check(composite: number, of: self) { self.value(atSlot: $0) }
            }
        }
        guard let place = layout.place(of: key) else {
            throw CoreDataMisuse.unknownKey(key, entity: entity.name).survived(as: .managedObjectValidation)
        }
        switch place {
        case .slot(let slot):
            guard let coded = AttributeValue.coded(PlainValue.of(value.pointee), as: layout.kinds[slot]) else {
                throw RowValidation.wrongType(key, value.pointee, of: self)
            }
            try RowValidation.check(coded, at: slot, of: self)
        case .toMany(let number):
            guard let count = PlainValue.count(of: value.pointee) else { throw RowValidation.wrongType(key, value.pointee, of: self) }
            try RowValidation.check(count: count, of: layout.toManys[number], self)
        case .composite(let number):
            let found: [(slot: Int, value: AttributeValue)]
            do throws(CoreDataMisuse) { found = try elements(of: number, in: value.pointee, key) } catch {
                throw RowValidation.wrongType(key, value.pointee, of: self)
            }
            let values = Dictionary(found.map { ($0.slot, $0.value) }) { _, last in last }
            try RowValidation.check(composite: number, of: self) { values[$0] ?? .null }
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

    /// The rules for a composite attribute of an object, and for each of its elements.
    static func check(composite number: Int, of object: NSManagedObject, _ value: (Int) -> AttributeValue) throws {
        let layout = object.layout, id = object.objectID
        let ofElements = layout.composites[number].slots.compactMap { error(for: value($0), at: $0, layout: layout, id: id, object: object) }
        try throwAny(ofElements + errors(ofComposite: number, layout: layout, id: id, object: object, value))
    }

    static func check(count: Int, of relationship: NSRelationshipDescription, _ object: NSManagedObject) throws {
        guard relationship.hasCounts else { return }
        if let error = check(count, relationship, id: object.objectID, object: object) { throw error }
    }

    static func wrongType(_ key: String, _ value: AnyObject?, of object: NSManagedObject) -> NSError {
        error(.managedObjectValidation, key, value, object.objectID, object, "has a value of the wrong type")
    }
}

extension NSEntityDescription {
    /// Whether the class of its objects has rules: it or a superclass overrides a method that validates, or names one in `keyedValidators`.
    /// The model's rules need no object.
    var validatesItself: Bool { objectClass.validatesItself }
}

extension NSManagedObject {
    static var validatesItself: Bool { self != NSManagedObject.self && KeyedMembers.other(self).validatesItself }

    /// Swift does not say what a class overrides. Its runtime finds what a call would reach, though.
    static var overridesValidation: Bool {
        let base: NSManagedObject.Type = NSManagedObject.self, mine: NSManagedObject.Type = self
        return overrides_validation(unsafeBitCast(mine, to: UnsafeRawPointer.self), unsafeBitCast(base, to: UnsafeRawPointer.self))
    }
}

/// Whether to-manys have as many members as the model asks for, of owners that need no instance for it: two children may each have left enough, and
/// together too few.
struct MemberCounts {
    /// The to-manys that changes may have made too small or too large.
    let keys: Set<RelationshipKey>

    /// - Parameter includingNewOwners: whether those of all new owners may be: members that are new, too, have not changed where somebody took them away.
    init(touchedBy layers: [ChangeSet], includingNewOwners: Bool) {
        var keys: Set<RelationshipKey> = []
        for changes in layers { Self.note(&keys, touchedBy: changes, includingNewOwners) }
        self.keys = keys
    }

    private static func note(_ keys: inout Set<RelationshipKey>, touchedBy changes: ChangeSet, _ includingNewOwners: Bool) {
        // What has a number of members that it must have is in no block.
        for key in changes.pairs.loose.keys where key.relationship.hasCounts { keys.insert(key) }
        for part in changes.entities.values {
            if includingNewOwners {
                let counted = part.entity.layout.countedToManys
                if !counted.isEmpty {
                    for (id, change) in part.rows where change.kind == .inserted {
                        for number in counted { keys.insert(RelationshipKey(owner: id, toMany: number)) }
                    }
                }
            }
            let slots = part.entity.layout.countedSlots
            if slots.isEmpty { continue }
            for (_, change) in part.rows {
                for slot in slots {
                    let before = change.base?[slot].objectID, after = change.kind == .deleted ? nil : change.row?[slot].objectID
                    if before == after { continue }
                    for owner in [before, after].compactMap({ $0 }) {
                        guard let inverse = part.entity.layout.relationship(atSlot: slot)?.inverseRelationship,
                            let number = owner.layout.toManyNumber(inverse)
                        else { continue }
                        keys.insert(RelationshipKey(owner: owner, toMany: number))
                    }
                }
            }
        }
    }

    /// Throws the one error, or 1560 with several. Owners that are deleted have no members to count.
    func check(in context: NSManagedObjectContext) throws { try RowValidation.throwAny(errors(in: context)) }

    /// What is wrong, one error (1570, 1580, 1590) a to-many. Throws what keeps the members from being read.
    func errors(in context: NSManagedObjectContext) throws -> [NSError] {
        let present = keys.filter { !context.isDeleted($0.owner) }
        if present.isEmpty { return [] }
        context.publish()
        let members = try context.prefetch(Self.sorted(present), remembering: [])
        return try errors(in: context, isDeleted: context.isDeleted) { members[$0] ?? [] }
    }

    /// The same of what is saved, which need not be what the context shows: once its merge policy had its say.
    func check(
        in context: NSManagedObjectContext, isDeleted: (NSManagedObjectID) -> Bool, members: (RelationshipKey) throws -> [NSManagedObjectID]
    ) throws {
        try RowValidation.throwAny(errors(in: context, isDeleted: isDeleted, members: members))
    }

    private func errors(
        in context: NSManagedObjectContext, isDeleted: (NSManagedObjectID) -> Bool, members: (RelationshipKey) throws -> [NSManagedObjectID]
    ) throws -> [NSError] {
        var errors: [NSError] = []
        for key in Self.sorted(keys) where !isDeleted(key.owner) {
            let count = try members(key).count
            if let error = RowValidation.check(count, key.relationship, id: key.owner, object: context.registeredObject(for: key.owner)) {
                errors.append(error)
            }
        }
        return errors
    }

    private static func sorted(_ keys: Set<RelationshipKey>) -> [RelationshipKey] {
        keys.sorted { ($0.owner.layout.number, $0.owner.key, $0.toMany) < ($1.owner.layout.number, $1.owner.key, $1.toMany) }
    }
}
