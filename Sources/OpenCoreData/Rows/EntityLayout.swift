import Foundation
import Synchronization

/// The form of an entity's rows, computed once when the model is frozen: property name → slot. The slots of an ancestor come first, so
/// that a row of a subentity can be read by the ancestor's layout.
// Immutable after construction; the descriptions it names are frozen with it.
package final class EntityLayout: @unchecked Sendable {
    /// What a slot holds.
    package enum Slot {
        case attribute(NSAttributeDescription)
        case toOne(NSRelationshipDescription)
    }

    package unowned let entity: NSEntityDescription
    /// The entity's number.
    package let number: Int
    /// The tree that the entity belongs to.
    let root: ObjectIdentifier
    package let slots: [Slot]
    /// How many slots a row has.
    package let count: Int
    package let toManys: [NSRelationshipDescription]
    /// The kinds of attributes by slot; that of object IDs for a to-one.
    package let kinds: [AttributeKind]
    /// What values of a slot are written as they are: see `takes(_:atSlot:)`.
    private let plainForms: UnsafeMutablePointer<PlainForm>
    package let names: [String]
    package let isTransient: [Bool]
    package let hasTransients: Bool
    /// The attributes that a store computes.
    package let derivedSlots: SlotSet
    package let hasDerived: Bool
    /// The attributes that a store keeps.
    var attributeSlots: SlotSet { SlotSet(slots.indices.filter { attribute(atSlot: $0) != nil && !isTransient[$0] }) }
    package let toOneSlots: [Int]
    /// The to-ones whose targets must be there: all but those whose other side says that nobody minds.
    package let referenceSlots: [Int]
    /// The to-ones whose other side is a to-one, too.
    let partnerSlots: [Int]
    /// The uniqueness constraints, in the order of `NSEntityDescription.constraintNames`.
    package let constraints: [UniquenessConstraint]
    /// The values of a new object.
    package let defaults: [AttributeValue]
    /// The composite attributes, those within others too.
    package let composites: [CompositeLayout]
    /// The composite attribute of the entity that a slot is in, where it is in one.
    private let compositesBySlot: [Int: Int]
    private let places: [String: PropertyPlace]
    /// The places of `@Managed` properties that have been used.
    let wrapperPlaces = WrapperPlaces()
    /// The places of properties that have been used by generated accessors.
    let namedPlaces = NamedPlaces()
    /// What the class of the first object that was asked has registered by key.
    let classMembers = AtomicLazyReference<ClassMembers>()
    /// The rules of the slots whose values can break one of the model's at all.
    let rules: [SlotRule]
    /// Whether a slot has one.
    let isRuled: [Bool]
    /// The to-manys with a minimum or a maximum.
    let countedToManys: [Int]
    /// The to-ones by which rows are members of to-manys with a minimum or a maximum.
    let countedSlots: [Int]
    /// The relationships that forbid deleting an object while there is something at their other end, by name.
    let denyingRelationships: [NSRelationshipDescription]

    init(entity: NSEntityDescription) {
        self.entity = entity
        self.number = entity.number
        self.root = ObjectIdentifier(entity.rootEntity)
        var slots: [Slot] = [], toManys: [NSRelationshipDescription] = [], places: [String: PropertyPlace] = [:]
        var composites: [CompositeLayout] = [], compositesBySlot: [Int: Int] = [:]
        for property in entity.properties {
            if let composite = property as? NSCompositeAttributeDescription {
                let number = CompositeLayout.add(composite, composite.name, firstSlot: slots.count, to: &composites, &places)
                for slot in composites[number].slots { compositesBySlot[slot] = number }
                slots += composite.attributeLeaves.map { .attribute($0) }
            } else if let attribute = property as? NSAttributeDescription {
                places[property.name] = .slot(slots.count)
                slots.append(.attribute(attribute))
            } else if let relationship = property as? NSRelationshipDescription {
                if relationship.isToMany {
                    places[property.name] = .toMany(toManys.count)
                    toManys.append(relationship)
                } else {
                    places[property.name] = .slot(slots.count)
                    slots.append(.toOne(relationship))
                }
            }
        }
        self.slots = slots
        self.count = slots.count
        self.toManys = toManys
        self.places = places
        self.composites = composites
        self.compositesBySlot = compositesBySlot
        wholeComposites = Set(compositesBySlot.values).sorted()
        var kinds: [AttributeKind] = [], names: [String] = [], transient: [Bool] = [], toOnes: [Int] = []
        var defaults: [AttributeValue] = []
        for (index, slot) in slots.enumerated() {
            switch slot {
            case .attribute(let attribute):
                let kind = attribute.kind
                kinds.append(kind)
                names.append(attribute.name)
                transient.append(attribute.isTransient)
                guard let value = AttributeValue.coded(attribute.defaultValue, as: kind) else {
                    Violation.invalidModel("the default value of \(entity.name ?? "?").\(attribute.name) does not fit its type")
                }
                defaults.append(value)
            case .toOne(let relationship):
                kinds.append(AttributeKind[.objectIDAttributeType])
                names.append(relationship.name)
                transient.append(relationship.isTransient)
                toOnes.append(index)
                defaults.append(.null)
            }
        }
        self.kinds = kinds
        plainForms = .allocate(capacity: slots.count)
        for (slot, kind) in kinds.enumerated() { (plainForms + slot).initialize(to: PlainForm(form: kind.form, takesNull: kind.compared != nil)) }
        self.names = names
        self.isTransient = transient
        self.hasTransients = transient.contains(true)
        derivedSlots = SlotSet(
            slots.indices.filter { slot in
                if case .attribute(let attribute) = slots[slot] { attribute.isComputed && !attribute.isTransient } else { false }
            })
        hasDerived = !derivedSlots.isEmpty
        self.toOneSlots = toOnes
        referenceSlots = toOnes.filter { slot in
            if case .toOne(let relationship) = slots[slot] { relationship.inverseRelationship?.deleteRule != .noActionDeleteRule } else { false }
        }
        partnerSlots = toOnes.filter { slot in
            if case .toOne(let relationship) = slots[slot] { return relationship.inverseRelationship.map { !$0.isToMany } == true }
            return false
        }
        self.defaults = defaults
        let rules = slots.indices.compactMap { SlotRule($0, slots[$0]) }
        self.rules = rules
        isRuled = slots.indices.map { slot in rules.contains { $0.slot == slot } }
        countedSlots = toOnes.filter { slot in
            guard case .toOne(let relationship) = slots[slot], let inverse = relationship.inverseRelationship else { return false }
            return inverse.isToMany && inverse.hasCounts
        }
        self.countedToManys = toManys.indices.filter { toManys[$0].hasCounts }
        self.denyingRelationships = entity.relationshipsByName.values.filter { $0.deleteRule == .denyDeleteRule }.sorted { $0.name < $1.name }
        constraints = entity.constraintNames.enumerated().map { number, names in
            let slots: [Int] = names.compactMap { name in
                if case .slot(let slot)? = places[name] { return slot }
                return nil
            }
            return UniquenessConstraint(number: number, of: entity, slots: slots)
        }
    }

    deinit { plainForms.deallocate() }

    /// Whether a value is what the slot holds, and needs no conversion.
    @inline(__always)
    func takes(_ value: AttributeValue, atSlot slot: Int) -> Bool {
        precondition(slot < count)
        let form = value.form
        return form == plainForms[slot].form || (form == .null && plainForms[slot].takesNull)
    }

    /// How many of the first slots mean the same in rows of another entity: those of the nearest entity that both are or inherit from.
    func commonCount(with other: EntityLayout) -> Int {
        if self === other { return count }
        guard root == other.root else { return 0 }
        var mine: NSEntityDescription? = entity
        while let candidate = mine {
            var theirs: NSEntityDescription? = other.entity
            while let ancestor = theirs, ancestor !== candidate { theirs = ancestor.superentity }
            if theirs != nil { return candidate.layout.count }
            mine = candidate.superentity
        }
        return 0
    }

    /// Where a property lives; an element of a composite is named by its path.
    package func place(of name: String) -> PropertyPlace? { places[name] }

    /// The composite attributes of the entity itself, by number.
    let wholeComposites: [Int]

    func isInComposite(_ slot: Int) -> Bool { compositesBySlot[slot] != nil }

    /// The name of the property that a slot belongs to: the attribute or to-one, or the composite.
    package func propertyName(ofSlot slot: Int) -> String { compositesBySlot[slot].map { composites[$0].path } ?? names[slot] }

    /// Values by the names of properties: those of slots as they come, `NSNull` for nil, and of a composite all elements in a dictionary.
    package func values(atSlots slots: some Sequence<Int>, _ value: (Int) -> Any?) -> [String: Any] {
        var result: [String: Any] = [:]
        for slot in slots {
            guard let number = compositesBySlot[slot] else {
                result[names[slot]] = value(slot) ?? NSNull()
                continue
            }
            let composite = composites[number]
            if result[composite.path] == nil { result[composite.path] = composite.dictionary(in: self, value) ?? NSNull() }
        }
        return result
    }

    package func slot(of name: String) -> Int? {
        if case .slot(let slot)? = places[name] { return slot }
        return nil
    }

    package func relationship(atSlot slot: Int) -> NSRelationshipDescription? {
        if case .toOne(let relationship) = slots[slot] { return relationship }
        return nil
    }

    package func attribute(atSlot slot: Int) -> NSAttributeDescription? {
        if case .attribute(let attribute) = slots[slot] { return attribute }
        return nil
    }
}

/// A composite attribute in rows.
package struct CompositeLayout: Sendable {
    package let attribute: NSCompositeAttributeDescription
    /// Its name, or its path within another.
    package let path: String
    /// The slots of its leaves.
    package private(set) var slots: Range<Int>
    /// Where its elements live, in order.
    private(set) var parts: [(name: String, place: PropertyPlace)] = []

    /// Adds one with those within it; gives its number.
    fileprivate static func add(
        _ attribute: NSCompositeAttributeDescription, _ path: String, firstSlot: Int, to all: inout [Self], _ places: inout [String: PropertyPlace]
    ) -> Int {
        let number = all.count
        all.append(Self(attribute: attribute, path: path, slots: firstSlot..<firstSlot))
        places[path] = .composite(number)
        var next = firstSlot
        for element in attribute.elements {
            let name = "\(path).\(element.name)"
            if let inner = element as? NSCompositeAttributeDescription {
                let place = add(inner, name, firstSlot: next, to: &all, &places)
                all[number].parts.append((element.name, .composite(place)))
                next = all[place].slots.upperBound
            } else {
                places[name] = .slot(next)
                all[number].parts.append((element.name, .slot(next)))
                next += 1
            }
        }
        all[number].slots = firstSlot..<next
        return number
    }

    /// Its leaves, by their paths in the entity.
    package var leafPaths: [String] { attribute.paths(from: path) { _ in true } }

    /// Those among them that a store keeps.
    package var storedLeafPaths: [String] { attribute.isTransient ? [] : attribute.paths(from: path) { !$0.isTransient } }

    /// The elements that have a value, by name; nil where none has one.
    package func dictionary(in layout: EntityLayout, _ value: (Int) -> Any?) -> [String: Any]? {
        var result: [String: Any] = [:]
        for (name, place) in parts {
            switch place {
            case .slot(let slot): result[name] = value(slot)
            case .composite(let number): result[name] = layout.composites[number].dictionary(in: layout, value)
            case .toMany: break
            }
        }
        return result.isEmpty ? nil : result
    }

    /// What a dictionary says of each leaf; nil: nothing. Throws for what is no dictionary, and for a key that is no element.
    package func values(in dictionary: Any?, of layout: EntityLayout) throws(WrongComposite) -> [(slot: Int, value: Any?)] {
        guard let dictionary, !(dictionary is NSNull) else { return slots.map { ($0, nil) } }
        guard let named = dictionary as? [String: Any] else { throw .noDictionary(path) }
        if let unknown = named.keys.sorted().first(where: { key in !parts.contains { $0.name == key } }) {
            throw .noElement(unknown, of: path, elements: parts.map(\.name))
        }
        var result: [(slot: Int, value: Any?)] = []
        for (name, place) in parts {
            switch place {
            case .slot(let slot): result.append((slot, named[name]))
            case .composite(let number): result += try layout.composites[number].values(in: named[name], of: layout)
            case .toMany: break
            }
        }
        return result
    }
}

extension NSCompositeAttributeDescription {
    fileprivate func paths(from path: String, _ isWanted: (NSAttributeDescription) -> Bool) -> [String] {
        elements.filter(isWanted).flatMap { element -> [String] in
            let name = "\(path).\(element.name)"
            return (element as? NSCompositeAttributeDescription)?.paths(from: name, isWanted) ?? [name]
        }
    }
}

/// Why a value is none of a composite attribute.
package enum WrongComposite: Error, CustomStringConvertible {
    case noDictionary(String)
    case noElement(String, of: String, elements: [String])

    /// In words, after the name of an entity and a dot.
    package var description: String {
        switch self {
        case .noDictionary(let path): "\(path) is a composite attribute: its value is a dictionary"
        case .noElement(let key, let path, let elements): "\(path) has no element \(key); it has \(elements.joined(separator: ", "))"
        }
    }
}

/// What a class of objects has registered; the objects' own layer says what that is.
// Its only subclass is immutable.
class ClassMembers: @unchecked Sendable {}

extension NSManagedObjectModel {
    /// Freezes the model and computes every entity's layout.
    package func freeze() {
        freeze { entity in entity.runtime = EntityLayout(entity: entity) }
    }
}

extension NSEntityDescription {
    /// The form of this entity's rows. The model must be frozen.
    package var layout: EntityLayout {
        guard let runtime else { Violation.misuse("entity \(name ?? "?") is used before a coordinator took its model") }
        return unsafeDowncast(runtime, to: EntityLayout.self)
    }
}

/// What a slot asks of its values, as far as it can be seen at a glance that one is right.
struct SlotRule: Sendable {
    let slot: Int
    /// Null is wrong.
    let isRequired: Bool
    /// More is asked than that a number is one.
    let asksMore: Bool
    /// The integers that are right; nil: all of them.
    private let integers: ClosedRange<Int64>?

    /// Nil where no value of the right type can be wrong.
    fileprivate init?(_ number: Int, _ slot: EntityLayout.Slot) {
        self.slot = number
        switch slot {
        case .attribute(let attribute):
            if attribute.isComputed { return nil }
            let kind = attribute.kind
            isRequired = attribute.isRequired
            asksMore = attribute.hasBounds || attribute.regularExpression != nil || !attribute.validationPredicates.isEmpty
            integers = kind.integers
            // What is not stored may be no number.
            guard isRequired || asksMore || integers != nil || (kind.isChecked && !attribute.isTransient) else { return nil }
        case .toOne(let relationship):
            isRequired = !relationship.isOptional
            asksMore = false
            integers = nil
            guard isRequired else { return nil }
        }
    }

    /// Whether nothing is wrong with a value. Where this is false, it may still be right.
    func admits(_ value: AttributeValue) -> Bool {
        switch value {
        case .null: !isRequired
        case .double(let number), .date(let number): !asksMore && integers == nil && !number.isNaN
        case .decimal(let number): !asksMore && integers == nil && !number.isNaN
        case .int64(let number): !asksMore && integers?.contains(number) != false
        default: !asksMore && integers == nil
        }
    }
}

/// What values of a slot are.
private struct PlainForm {
    let form: AttributeValue.Form?
    let takesNull: Bool
}

extension NSAttributeDescription {
    fileprivate var hasBounds: Bool { minimumValue != nil || maximumValue != nil || minimumDecimal != nil || maximumDecimal != nil }
}

extension NSRelationshipDescription {
    /// Whether the number of members can be wrong.
    var hasCounts: Bool { minCount > 0 || maxCount > 1 }
}
