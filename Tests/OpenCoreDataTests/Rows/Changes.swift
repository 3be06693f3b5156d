import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Makes identities, rows and changes of the keyed model by hand.
struct Changes {
    let model: NSManagedObjectModel
    private let store = StoreIdentity(uuid: "here")

    init() {
        model = Keyed.model()
        model.freeze()
    }

    func id(_ entity: String, _ key: Int64, isTemporary: Bool = false) throws -> NSManagedObjectID {
        NSManagedObjectID(entity: try #require(model.entitiesByName[entity]), key: key, store: store, isTemporary: isTemporary)
    }

    /// A row of nulls but for these values.
    func row(_ id: NSManagedObjectID, _ values: [String: AttributeValue] = [:], version: Int64 = 1) throws -> RowSnapshot {
        let row = RowSnapshot.make(id.layout, version: version)
        for (name, value) in values { row.update(try #require(id.layout.slot(of: name)), to: value) }
        return row
    }

    func slots(_ id: NSManagedObjectID, _ names: String...) throws -> SlotSet {
        SlotSet(try names.map { try #require(id.layout.slot(of: $0)) })
    }

    /// An update: the base has the values that it says, the row these on top.
    func update(
        _ id: NSManagedObjectID, _ values: [String: AttributeValue], over base: [String: AttributeValue] = [:], version: Int64 = 1
    ) throws -> PendingRow {
        PendingRow(
            kind: .updated, row: try row(id, base.merging(values) { $1 }, version: version),
            changed: SlotSet(try values.keys.map { try #require(id.layout.slot(of: $0)) }), base: try row(id, base, version: version))
    }

    func insert(_ id: NSManagedObjectID, _ values: [String: AttributeValue]) throws -> PendingRow {
        PendingRow(
            kind: .inserted, row: try row(id, values, version: 0), changed: SlotSet(try values.keys.map { try #require(id.layout.slot(of: $0)) }))
    }

    func deletion(_ id: NSManagedObjectID, _ values: [String: AttributeValue] = [:]) throws -> PendingRow {
        PendingRow(kind: .deleted, row: try row(id, values), base: try row(id, values))
    }

    func toMany(_ id: NSManagedObjectID, _ name: String) throws -> RelationshipKey {
        let relationship = try #require(id.entity.relationshipsByName[name])
        return RelationshipKey(owner: id, toMany: try #require(id.layout.toManyNumber(relationship)))
    }
}

extension PairChanges {
    init(added: Set<NSManagedObjectID> = [], removed: Set<NSManagedObjectID> = []) {
        self.init()
        self.added = added
        self.removed = removed
    }
}
