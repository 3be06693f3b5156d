import Foundation

/// A batch request as a value: what goes past contexts to a store.
package struct BatchPlan {
    package enum Work {
        case insert(BatchInsert)
        case update(BatchUpdate)
        case delete(BatchDelete)
    }

    package var work: Work
    /// Whether the outcome is to name the objects.
    package var tellsIDs = false
    /// The request itself, for stores of a program's own.
    package let request: AnyObject
    /// The places of the stores that it is for; nil: all.
    package let affectedStores: [StoreIdentity]?
    /// Who asks for it.
    package let origin: SaveOrigin
    /// The coordinator's queue, which is held while it is carried out.
    package let queue: ContextQueue
}

/// New rows for one entity.
package struct BatchInsert {
    /// One row: the defaults of the entity, and what was given over them.
    struct Row: Sendable {
        fileprivate(set) var values: RowSnapshot
        /// The slots that were given a value.
        let given: SlotSet
    }

    let entity: NSEntityDescription
    /// What becomes of a row whose unique key another row has.
    enum TakenKey {
        /// Nothing of the request is written.
        case refuse
        /// The other row stays as it is.
        case keep
        /// The other row takes the values that the new one was given.
        case update
        /// The other row takes all attributes of the new one, and the to-ones that it was given.
        case replace

        /// Whether the other row may change.
        var writes: Bool { self == .update || self == .replace }
    }

    let takenKey: TakenKey
    /// Where rows go that are written.
    let spent: SpentRows
    /// The next row; nil after the last one.
    let next: () throws -> Row?
}

/// Rows of one entity that were written, to be filled again: what makes them and what writes them are two threads, and memory that one takes and the
/// other gives back is dear. Used on the thread that makes rows.
final class SpentRows {
    private var chunks: [[BatchInsert.Row]] = []

    func put(_ rows: [BatchInsert.Row]) { if !rows.isEmpty { chunks.append(rows) } }

    /// A row with the default values; nil if there is none that nobody else has.
    func next() -> RowSnapshot? {
        while let last = chunks.indices.last {
            guard var spent = chunks[last].popLast() else {
                chunks.removeLast()
                continue
            }
            // In its place: a copy would be somebody else who has it.
            if spent.values.becomeDefaults() { return spent.values }
        }
        return nil
    }
}

/// New values for the rows of a fetch.
package struct BatchUpdate {
    enum Value {
        case constant(AttributeValue)
        /// Computed from the row as it was before.
        case computed(ExpressionNode)
    }

    let plan: FetchPlan
    /// By slot of the plan's entity, ascending.
    let values: [(slot: Int, value: Value)]

    var slots: SlotSet { SlotSet(values.map(\.slot)) }
    var layout: EntityLayout { plan.entity.layout }
}

/// Rows that are to go.
package enum BatchDelete {
    case found(FetchPlan)
    case ids([NSManagedObjectID])
}

/// What a store did.
package struct BatchOutcome {
    /// How many objects were inserted, updated or deleted, whichever was asked for.
    package var count = 0
    /// Those, if the plan wants them named.
    package var ids: [NSManagedObjectID] = []
    /// The objects that have other derived values after it.
    package var derived: [NSManagedObjectID] = []

    mutating func add(_ other: BatchOutcome) {
        count += other.count
        ids += other.ids
        derived += other.derived
    }
}

/// A batch request that a store has carried out, and that counts as soon as it is committed. Of one that is not, nothing is ever there.
package protocol PreparedBatch: AnyObject {
    /// Throws what the store says; then nothing of it is there.
    func commit() throws -> BatchOutcome
}

/// A batch request that is carried out when it is committed.
final class UnwrittenBatch: PreparedBatch {
    private let write: () throws -> BatchOutcome

    init(_ write: @escaping () throws -> BatchOutcome) { self.write = write }

    func commit() throws -> BatchOutcome { try write() }
}

/// What a program's code gives a property, as a row holds it.
extension EntityLayout {
    /// The slot of a property that a batch request may set. Throws 134060 for any other.
    func batchSlot(of name: String) throws -> Int {
        guard let place = place(of: name) else {
            let known = entity.propertiesByName.keys.sorted().joined(separator: ", ")
            throw NSError.coreData(.coreData, "\(entity.name ?? "?") has no property \"\(name)\" for a batch request to set; it has \(known).")
        }
        if case .composite(let number) = place {
            throw refused(
                name, "it is composite",
                remedy: "Set it to a dictionary, or name an element: \(composites[number].leafPaths.joined(separator: ", ")).")
        }
        guard case .slot(let slot) = place else { throw refused(name, "it is a to-many, which is no value of a row") }
        if isTransient[slot] { throw refused(name, "it is transient: no store keeps it") }
        if derivedSlots.contains(slot) { throw refused(name, "it is derived: the store computes it", remedy: "Set what it is derived from.") }
        if partnerSlots.contains(slot) {
            throw refused(name, "its inverse is a to-one, too, and the object at the other end would have to change with it")
        }
        return slot
    }

    private func refused(_ name: String, _ why: String, remedy: String = "Set it on objects, and save.") -> NSError {
        .coreData(.coreData, "A batch request can't set \(entity.name ?? "?").\(name): \(why). \(remedy)")
    }

    /// What a batch request sets by one name and value: of a composite all leaves. Throws 134060 as the two do.
    func batchValues(_ name: String, _ value: Any) throws -> [(slot: Int, value: Any?)] {
        guard case .composite(let number)? = place(of: name) else { return [(try batchSlot(of: name), value)] }
        do throws(WrongComposite) {
            return try composites[number].values(in: value, of: self).filter { !isTransient[$0.slot] }
        } catch {
            throw NSError.coreData(.coreData, "A batch request can't set \(entity.name ?? "?").\(name) to \(value): \(error). Nothing was written.")
        }
    }

    /// A value of a property in the form of rows; a to-one's is an object ID. Throws 134060 for what is no value of it.
    func batchValue(_ value: Any?, atSlot slot: Int) throws -> AttributeValue {
        switch slots[slot] {
        case .attribute:
            guard let coded = AttributeValue.coded(value, as: kinds[slot]), kinds[slot].admits(coded) else {
                throw NSError.noValue(value, of: self, slot: slot)
            }
            return coded
        case .toOne(let relationship):
            guard let value, !(value is NSNull) else { return .null }
            guard let id = (value as? NSManagedObjectID)?.current, relationship.admits(id.entity) else {
                throw NSError.noValue(value, of: self, slot: slot)
            }
            if id.isTemporaryID {
                throw NSError.coreData(
                    .coreData,
                    "A batch request can't set \(entity.name ?? "?").\(relationship.name) to \(id), which no store has yet. Save the object first.")
            }
            return .objectID(id)
        }
    }
}

extension AttributeKind {
    /// Whether a value lies in what the type can hold, whatever the model asks besides.
    func admits(_ value: AttributeValue) -> Bool {
        switch value {
        case .int64(let integer): integers?.contains(integer) ?? true
        case .double(let number), .date(let number): !number.isNaN
        case .decimal(let number): !number.isNaN
        default: true
        }
    }
}

extension NSRelationshipDescription {
    /// Whether an object of this entity may be at the other end.
    func admits(_ entity: NSEntityDescription) -> Bool { destinationEntity.map { entity.isKindOf(entity: $0) } ?? false }
}

extension NSError {
    /// A batch request gives a property what is no value of it.
    static func noValue(_ value: Any?, of layout: EntityLayout, slot: Int) -> NSError {
        let kind = layout.relationship(atSlot: slot).map { "an object of \($0.destinationEntity?.name ?? "?")" } ?? layout.kinds[slot].name
        return noValue(value, of: layout.fullName(slot), kind: kind)
    }

    static func noValue(_ value: Any?, of name: String, kind: String) -> NSError {
        .coreData(.coreData, "\(value.map { "\($0)" } ?? "nil") is no value of \(name), which is \(kind). Nothing was written.")
    }

    /// A batch request sets a to-one to an object that is not there.
    static func noTarget(_ id: NSManagedObjectID, of name: String) -> NSError {
        .coreData(
            .managedObjectReferentialIntegrity, "\(name) can't be set to \(id): there is no such object. Nothing was written.",
            userInfo: [NSAffectedObjectsErrorKey: [id]])
    }

    /// A batch delete would empty a reference that may not be empty.
    static func requiredReference(_ name: String, of key: Int64) -> NSError {
        .coreData(
            .validationMissingMandatoryProperty,
            "Can't delete what \(name) of the object with key \(key) leads to: it may not be nil. Delete that object, too, or give the other side of the "
                + "relationship the rule cascade. Nothing was deleted.")
    }
}

extension EntityLayout {
    /// What a slot is called, with its entity.
    func fullName(_ slot: Int) -> String { "\(entity.name ?? "?").\(names[slot])" }
}
