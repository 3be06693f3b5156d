import Foundation

/// The ordered set that `mutableOrderedSetValue(forKey:)` hands out: what is inserted and removed goes to the relationship.
final class ManagedObjectOrderedSet: NSMutableOrderedSet {
    private var owner: NSManagedObject?
    private var number = 0

    static func of(_ owner: NSManagedObject, number: Int) -> ManagedObjectOrderedSet {
        let set = ManagedObjectOrderedSet(capacity: 0)
        set.owner = owner
        set.number = number
        return set
    }

    override init(capacity: Int) { super.init(capacity: capacity) }
    required init(arrayLiteral elements: Any...) { Violation.misuse("this ordered set belongs to a relationship; it is not made of elements") }
    required init?(coder: NSCoder) { Violation.misuse("this ordered set belongs to a relationship; it can't be decoded") }

    private var objects: [NSManagedObject] {
        get {
            guard let owner, let context = owner.context else { return [] }
            return owner.memberIDs(number).map { context.object(with: $0) }
        }
        set { owner?.setToMany(number, to: newValue) }
    }

    override var count: Int { owner?.memberIDs(number).count ?? 0 }

    override func object(at index: Int) -> Any { objects[index] }

    override func index(of object: Any) -> Int {
        guard let object = object as? NSManagedObject, let owner else { return NSNotFound }
        return owner.memberIDs(number).firstIndex(of: object.objectID) ?? NSNotFound
    }

    override func insert(_ object: Any, at index: Int) {
        guard let object = object as? NSManagedObject, self.index(of: object) == NSNotFound else { return }
        objects.insert(object, at: index)
    }

    override func add(_ object: Any) { insert(object, at: count) }

    override func removeObject(at index: Int) { objects.remove(at: index) }

    override func remove(_ object: Any) {
        let index = index(of: object)
        if index != NSNotFound { removeObject(at: index) }
    }

    override func replaceObject(at index: Int, with object: Any) {
        guard let object = object as? NSManagedObject else { return }
        objects[index] = object
    }
}
