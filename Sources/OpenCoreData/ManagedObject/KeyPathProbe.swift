import Foundation

/// Finds out which properties of the model a Swift key path of managed objects goes over.
///
/// A key path of Swift's does not tell the names of what it reads, and an object can't be asked by it without one. So it is read on two objects
/// that belong to no context, hold values that nothing else has, and write down what is read of them. A key path that gives the value of the one
/// attribute it ends at, both times, is that attribute's; any other computes something.
final class KeyPathProbe {
    private struct Reading {
        let object: NSManagedObject
        let slot: Int
    }

    private let number: Int
    private var readings: [Reading] = []
    private var objects: [NSManagedObjectID: NSManagedObject] = [:]
    private var isAmbiguous = false

    private init(_ number: Int) { self.number = number }

    /// The names from `entity` to the attribute at the end of the key path. Throws 134060 where there are none.
    static func names(of keyPath: AnyKeyPath, from entity: NSEntityDescription) throws -> [String] {
        let found = (0..<2).map { KeyPathProbe($0).names(keyPath, entity) }
        if let names = found[0], names == found[1] { return names }
        throw NSError.coreData(
            .coreData,
            "A fetch of \(entity.name ?? "?") can't sort by \(keyPath): it does not lead over to-one relationships to a stored attribute of that entity. "
                + "Sort by a property that the model knows, or sort the results.")
    }

    private func names(_ keyPath: AnyKeyPath, _ entity: NSEntityDescription) -> [String]? {
        guard let id = id(entity), let root = target(id) else { return nil }
        // Objects and probe hold each other.
        defer { for object in objects.values { object.extras = nil } }
        guard let found = (root as Any)[keyPath: keyPath] else { return nil }
        var names: [String] = [], object = root
        for (index, reading) in readings.enumerated() {
            guard reading.object === object else { return nil }
            names.append(object.layout.names[reading.slot])
            let value = object.row?[reading.slot] ?? .null
            if index == readings.count - 1 { return isStored(found, value, object, reading.slot) && !isAmbiguous ? names : nil }
            guard let id = value.objectID, let next = objects[id] else { return nil }
            object = next
        }
        return nil
    }

    private func isStored(_ found: Any, _ value: AttributeValue, _ object: NSManagedObject, _ slot: Int) -> Bool {
        guard object.layout.attribute(atSlot: slot) != nil, !value.isNull else { return false }
        return Comparison.equal(PredicateValue((found as? any SortedValue)?.sortedValue ?? found), PredicateValue(value.plain))
    }

    // MARK: Objects

    /// Who an object of this entity is; nil where there can't be any.
    private func id(_ entity: NSEntityDescription) -> NSManagedObjectID? {
        entity.withDescendants.first { !$0.isAbstract }.map {
            NSManagedObjectID(entity: $0, key: UnreservedKeys.next(), store: .unbound, isTemporary: true)
        }
    }

    /// The object of that name: in no context, and a fault for good, so that each reading of it comes to `note(_:_:)`.
    func target(_ id: NSManagedObjectID) -> NSManagedObject? {
        if let known = objects[id] { return known }
        let object = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
        let row = RowSnapshot.make(object.layout)
        for slot in 0..<row.count { row.update(slot, to: sample(object.layout, slot)) }
        object.row = row
        object.isFaulted = true
        object.probe = self
        objects[id] = object
        return object
    }

    /// A slot of an object has been read; nil: all of them, which tells nothing.
    func note(_ object: NSManagedObject, _ slot: Int?) {
        if let slot { readings.append(Reading(object: object, slot: slot)) } else { isAmbiguous = true }
    }

    /// The values of the two probes differ, and so does whatever is computed from them.
    private func sample(_ layout: EntityLayout, _ slot: Int) -> AttributeValue {
        let seed = Double(number == 0 ? -12_003 - slot : 12_003 + slot)
        switch layout.slots[slot] {
        case .toOne(let relationship): return relationship.destinationEntity.flatMap(id).map { .objectID($0) } ?? .null
        case .attribute(let attribute):
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return .int64(Int64(seed))
            case .doubleAttributeType, .floatAttributeType: return .double(seed + 0.25)
            case .decimalAttributeType: return .decimal(Decimal(seed) / 10)
            case .booleanAttributeType: return .bool(number == 0)
            case .stringAttributeType: return .string("Probe of a Key Path \(seed) ")
            case .dateAttributeType: return .date(seed * 100_000 + 0.25)
            case .binaryDataAttributeType: return .data(Data("\(seed)".utf8))
            case .UUIDAttributeType: return .uuid(UUID())
            default: return .null
            }
        }
    }
}
