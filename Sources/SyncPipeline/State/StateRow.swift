import Foundation
import OpenCoreData

/// One row of the pipeline's own entities, found by key and written where it differs. Used on the context's queue.
struct StateRow {
    private let entity: NSEntityDescription
    private var id: NSManagedObjectID?
    private let base: RowSnapshot?
    private var row: RowSnapshot
    private var changed = SlotSet()

    /// The row with this key, or a new one.
    static func find(_ name: String, key: [AttributeValue], in context: NSManagedObjectContext) throws -> StateRow {
        guard let entity = context.endOfChain?.managedObjectModel.entitiesByName[name] else { throw SyncError.unknownEntity(name) }
        let unique = UniqueKey(key)
        let located = try context.findOrReserve(entity, constraint: 0, keys: [unique]).first
        if let located, let found = located.row { return StateRow(entity: entity, id: located.id, base: found, row: found) }
        let row = RowSnapshot.defaults(entity.layout)
        var changed = SlotSet()
        for (index, slot) in entity.layout.constraints[0].enumerated() {
            row.update(slot, to: key[index])
            changed.insert(slot)
        }
        var made = StateRow(entity: entity, id: located?.id, base: nil, row: row)
        made.changed = changed
        return made
    }

    /// The rows of one of the pipeline's entities that match; all of them, where nothing is asked.
    static func all(_ name: String, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> [StateRow] {
        guard let entity = context.endOfChain?.managedObjectModel.entitiesByName[name] else { throw SyncError.unknownEntity(name) }
        var plan = FetchPlan(entity: entity)
        plan.predicate = predicate?.node
        return try context.fetch(plan).compactMap { found in
            found.row.map { StateRow(entity: entity, id: found.id, base: $0, row: $0) }
        }
    }

    private init(entity: NSEntityDescription, id: NSManagedObjectID?, base: RowSnapshot?, row: RowSnapshot) {
        self.entity = entity
        self.id = id
        self.base = base
        self.row = row
    }

    var isNew: Bool { base == nil }

    subscript(name: String) -> AttributeValue {
        get { row[name] }
        set {
            guard let slot = entity.layout.slot(of: name), row[slot] != newValue else { return }
            if row === base { row = row.copy() }
            row.update(slot, to: newValue)
            changed.insert(slot)
        }
    }

    /// Records what was set. Nothing if nothing was.
    mutating func write(in context: NSManagedObjectContext) {
        guard !changed.isEmpty else { return }
        if let id, let base {
            context.updateRow(id, to: row, changed: changed, base: base)
        } else {
            let made = id ?? context.makeID(for: entity)
            context.insertRow(made, row, set: changed)
            id = made
        }
        changed = SlotSet()
    }

    /// Deletes the row.
    func delete(in context: NSManagedObjectContext) {
        if let id, base != nil { context.delete(context.object(with: id)) }
    }

    // MARK: Typed values

    func string(_ name: String) -> String? {
        if case .string(let value) = row[name] { return value }
        return nil
    }

    /// A count. Somebody else may have written into the store: what no count can have come to is brought into bounds, so that one more can be counted.
    func integer(_ name: String) -> Int64 {
        if case .int64(let value) = row[name] { return min(max(value, 0), .max / 2) }
        return 0
    }

    func date(_ name: String) -> Date? {
        if case .date(let value) = row[name] { return Date(timeIntervalSinceReferenceDate: value) }
        return nil
    }

    func data(_ name: String) -> Data? {
        if case .data(let value) = row[name] { return value }
        return nil
    }

    func bool(_ name: String) -> Bool { row[name] == .bool(true) }
}

extension AttributeValue {
    init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    init(_ value: Date?) { self = value.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null }
    init(_ value: Int?) { self = value.map { .int64(Int64($0)) } ?? .null }
}
