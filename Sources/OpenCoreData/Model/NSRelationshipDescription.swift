import Foundation

/// A reference to one object or a set of objects of another entity.
/// Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen, as its superclass says.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    /// The entity at the other end.
    open var destinationEntity: NSEntityDescription? {
        get { destination?.object }
        set {
            checkEditable()
            destination = newValue?.anchor
        }
    }
    private var destination: Anchor<NSEntityDescription>?
    /// The same relationship seen from the other end. Setting it on one side sets it on the other.
    open weak var inverseRelationship: NSRelationshipDescription? {
        willSet { checkEditable() }
        didSet {
            if let inverse = inverseRelationship, inverse.inverseRelationship !== self { inverse.inverseRelationship = self }
        }
    }
    /// What deleting the object does to the other end. Default nullify.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { checkEditable() } }
    /// The least number of objects; 0 means none is required (by count).
    open var minCount: Int = 0 { willSet { checkEditable() } }
    /// The largest number of objects; 1 makes a to-one, 0 means no limit.
    open var maxCount: Int = 0 { willSet { checkEditable() } }
    /// Whether a to-many keeps an order.
    open var isOrdered: Bool = false { willSet { checkEditable() } }
    /// True unless `maxCount` is 1.
    open var isToMany: Bool { maxCount != 1 }

    public override init() { super.init() }

    /// A relationship in one line; `inverseRelationship` is set apart.
    public convenience init(
        name: String, destination: NSEntityDescription, toMany: Bool, deleteRule: NSDeleteRule = .nullifyDeleteRule,
        isOptional: Bool = true, isOrdered: Bool = false
    ) {
        self.init()
        self.name = name
        self.destinationEntity = destination
        self.maxCount = toMany ? 0 : 1
        self.deleteRule = deleteRule
        self.isOptional = isOptional
        self.isOrdered = isOrdered
    }

    override func duplicate() -> NSPropertyDescription {
        let copy = filled(NSRelationshipDescription())
        copy.destinationEntity = destinationEntity
        copy.deleteRule = deleteRule
        copy.minCount = minCount
        copy.maxCount = maxCount
        copy.isOrdered = isOrdered
        return copy
    }

    /// A to-many whose inverse is a to-one: its members are the rows whose foreign key names the owner. The foreign key is the only truth; the set
    /// is a query over it.
    package var isKeptInMembers: Bool { isToMany && inverseRelationship.map { !$0.isToMany } == true }

    /// The side of a many-to-many whose pairs are written: the one that sorts first by entity, then by name. One of the two always does.
    package var isCanonicalSide: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return true }
        let mine = (entity?.name ?? "", name), theirs = (inverse.entity?.name ?? "", inverse.name)
        return mine < theirs
    }
}

/// What happens to the other side when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// The other side is left alone and may go on naming an object that is gone.
    case noActionDeleteRule = 0
    /// The other side forgets the object.
    case nullifyDeleteRule = 1
    /// The other side is deleted too, and its own rules apply.
    case cascadeDeleteRule = 2
    /// The save fails with 1600 while anything is on the other side that is not deleted in the same save.
    case denyDeleteRule = 3
}
