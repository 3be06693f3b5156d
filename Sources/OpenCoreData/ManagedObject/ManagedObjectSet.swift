import Foundation

/// The set that `mutableSetValue(forKey:)` hands out: what is added to it and removed from it goes to the relationship.
final class ManagedObjectSet: NSMutableSet {
    private var held: NSManagedObject?
    private var owner: NSManagedObject? { held?.standing }
    private var number = 0

    static func of(_ owner: NSManagedObject, number: Int) -> ManagedObjectSet {
        let set = ManagedObjectSet(capacity: 0)
        set.held = owner
        set.number = number
        return set
    }

    private var objects: [NSManagedObject] {
        guard let owner, let context = owner.context else { return [] }
        return owner.memberIDs(number).map { context.object(with: $0) }
    }

    override var count: Int { owner?.memberIDs(number).count ?? 0 }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, let owner else { return nil }
        return owner.memberIDs(number).contains(object.objectID) ? object : nil
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: objects).objectEnumerator() }

    // Foundation's would look into a storage that is empty.
    override var description: String { NSSet(array: objects).description }

    override func add(_ object: Any) {
        if let object = object as? NSManagedObject { owner?.addMember(object, number: number) }
    }

    override func remove(_ object: Any) {
        if let object = object as? NSManagedObject { owner?.removeMember(object, number: number) }
    }
}
