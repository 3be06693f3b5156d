import Foundation

/// Why a store refused a save without harm: another writer was there first. The coordinator turns it into Apple's conflicts and asks
/// the merge policy.
package enum StoreConflict: Error, Sendable {
    /// Rows whose version in the store is not the one the change started from; the stored row is nil if it was deleted.
    case versions([VersionConflict])
    /// Rows whose unique key another row already has.
    case constraints([KeyConflict])
    /// To-ones that would name rows that are gone.
    case references([ReferenceConflict])

    package struct VersionConflict: Sendable {
        package let id: NSManagedObjectID
        package let stored: RowSnapshot?

        package init(id: NSManagedObjectID, stored: RowSnapshot?) {
            self.id = id
            self.stored = stored
        }
    }

    package struct ReferenceConflict: Sendable {
        /// The row that refers.
        package let id: NSManagedObjectID
        /// The to-one's place in its layout.
        package let slot: Int
        /// The row that is gone.
        package let target: NSManagedObjectID
        /// Whether the save sets the reference; else it deletes what is referred to.
        package let isNew: Bool

        package init(id: NSManagedObjectID, slot: Int, target: NSManagedObjectID, isNew: Bool) {
            self.id = id
            self.slot = slot
            self.target = target
            self.isNew = isNew
        }
    }

    package struct KeyConflict: Sendable {
        /// The row that could not be written.
        package let id: NSManagedObjectID
        /// The number of the constraint in the entity's layout.
        package let constraint: Int
        package let key: UniqueKey
        /// The row that has the key.
        package let owner: NSManagedObjectID
        package let stored: RowSnapshot?

        package init(id: NSManagedObjectID, constraint: Int, key: UniqueKey, owner: NSManagedObjectID, stored: RowSnapshot?) {
            self.id = id
            self.constraint = constraint
            self.key = key
            self.owner = owner
            self.stored = stored
        }
    }
}

/// A save that a store has checked and written, and that counts as soon as it is committed. Of one that is not, nothing is ever there.
package protocol PreparedSave: AnyObject {
    /// Throws what the store says; then nothing of the save is there.
    func commit() throws -> SavedRows
}

/// When a store commits its part of a save into several.
package enum CommitTurn: Int, Comparable, Sendable {
    /// Before all transactions: it writes when it commits, and may refuse to for reasons of its own.
    case untilRefused
    /// A transaction. That it can't be committed is rare.
    case transaction
    /// After all transactions: it can't fail.
    case always

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A save that needs no transaction: of nothing, or of what is written when it is committed.
final class UnwrittenSave: PreparedSave {
    private let write: () throws -> SavedRows

    init(_ write: @escaping () throws -> SavedRows) { self.write = write }

    func commit() throws -> SavedRows { try write() }
}

/// What a save did.
package struct SavedRows: Sendable {
    /// The committed versions of updated rows, and of inserted ones that have another than 1.
    package var versions: IDTable<Int64>
    /// Rows with values that the store computed: those of the save, and others whose values are others now.
    package var computed: [NSManagedObjectID: ComputedRow]

    package init(versions: IDTable<Int64> = [:], computed: [NSManagedObjectID: ComputedRow] = [:]) {
        self.versions = versions
        self.computed = computed
    }

    /// The version of a row that was inserted or updated; nil where nothing was written of it.
    package func version(of id: NSManagedObjectID, _ kind: ChangeKind) -> Int64? {
        (versions.isEmpty ? nil : versions[id]) ?? (kind == .inserted ? 1 : nil)
    }
}

extension NSManagedObjectID {
    /// Whether the object is in this store, or will be in a store that is not known yet.
    func mayBe(in identity: StoreIdentity) -> Bool {
        let place = storeIdentity
        return place === identity || place.uuid == nil || place.isSame(as: identity)
    }
}

extension NSError {
    /// A to-one of a row leads to an object that no row of the same store can name.
    static func leadsElsewhere(_ row: RowSnapshot, slot: Int, to id: NSManagedObjectID) -> NSError {
        leadsElsewhere(row.layout.fullName(slot), to: id)
    }

    static func leadsElsewhere(_ name: String, to id: NSManagedObjectID) -> NSError {
        .coreData(.managedObjectExternalRelationship, "\(name) leads to \(id), which lives in another store.")
    }
}
