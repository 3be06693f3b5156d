import Foundation

/// The ordered set that `mutableOrderedSetValue(forKey:)` hands out: what is done to it is done to the relationship.
///
/// Foundation's own storage holds a copy of the members, because some of what reads it can't be overridden: `firstObject`, `lastObject`, `reversed`,
/// enumerators, and so `for`. The copy is brought up to date by everything that can be.
final class ManagedObjectOrderedSet: NSMutableOrderedSet {
    private var storedOwner: NSManagedObject?
    private var owner: NSManagedObject? { storedOwner?.standing }
    private var number = 0
    /// The members that Foundation's storage holds.
    private var copied: [NSManagedObjectID] = []
    /// Foundation's storage is being filled: what it asks is about itself.
    private var isCopying = false

    static func of(_ owner: NSManagedObject, number: Int) -> ManagedObjectOrderedSet {
        let set = ManagedObjectOrderedSet(capacity: 0)
        set.storedOwner = owner
        set.number = number
        set.update()
        return set
    }

    override init(capacity: Int) { super.init(capacity: capacity) }
    required init(arrayLiteral elements: Any...) { Violation.misuse("this ordered set belongs to a relationship; it can't be made from a literal") }
    required init?(coder: NSCoder) { Violation.misuse("this ordered set belongs to a relationship; it can't be decoded") }

    private var ids: [NSManagedObjectID] { owner?.memberIDs(number) ?? [] }

    private func update() {
        let ids = ids
        guard !isCopying, ids != copied, let context = owner?.context else { return }
        isCopying = true
        super.removeAllObjects()
        super.addObjects(from: ids.map { context.object(with: $0) })
        isCopying = false
        copied = ids
    }

    private func edit(_ body: (inout [NSManagedObject]) -> Void) {
        guard let owner, let context = owner.context else { return }
        // As they were when a place among them was chosen.
        let before = ids.map { context.object(with: $0) }
        var objects = before
        body(&objects)
        if context.hearOfReplacements() {
            // What the edit did is done to the members that there are now.
            let had = Set(before.map(\.standing)), now = ids.map { context.object(with: $0) }, members = Set(now)
            objects.removeAll { had.contains($0.standing) && !members.contains($0.standing) }
            objects += now.filter { !had.contains($0) }
        }
        owner.setToMany(number, to: objects)
        update()
    }

    private func member(_ object: Any) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            Violation.wrongType(
                object, key: owner?.layout.toManys[number].name ?? "?", entity: owner?.entity.name, expected: "managed objects as its members")
        }
        return object
    }

    private func place(of object: Any) -> Int? {
        guard let object = object as? NSManagedObject else { return nil }
        return ids.firstIndex(of: object.objectID)
    }

    // MARK: Reading

    override var count: Int {
        update()
        return super.count
    }

    override func object(at index: Int) -> Any {
        update()
        return super.object(at: index)
    }

    override func contains(_ object: Any) -> Bool { isCopying ? super.contains(object) : place(of: object) != nil }

    override func index(of object: Any) -> Int { place(of: object) ?? NSNotFound }

    override func enumerateObjects(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
        update()
        super.enumerateObjects(block)
    }

    override func sortedArray(options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult) -> [Any] {
        update()
        return super.sortedArray(options: options, usingComparator: compare)
    }

    override var description: String {
        update()
        return super.description
    }

    // MARK: Changing

    override func insert(_ object: Any, at index: Int) {
        let object = member(object)
        edit { if !$0.contains(object) { $0.insert(object, at: index) } }
    }

    override func add(_ object: Any) { addObjects(from: [object]) }

    override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) { addObjects(from: Array(UnsafeBufferPointer(start: objects, count: count))) }

    override func addObjects(from array: [Any]) {
        let added = array.map(member)
        // Who is there already stays where it is.
        edit { $0 += added }
    }

    override func removeObject(at index: Int) { edit { _ = $0.remove(at: index) } }

    override func remove(_ object: Any) { removeObjects(in: [object]) }

    override func removeObjects(in array: [Any]) {
        let removed = Set(array.compactMap { $0 as? NSManagedObject })
        edit { $0.removeAll { removed.contains($0) } }
    }

    override func removeAllObjects() { edit { $0 = [] } }

    override func replaceObject(at index: Int, with object: Any) {
        let object = member(object)
        edit { if $0[index] == object || !$0.contains(object) { $0[index] = object } }
    }

    override func replaceObjects(in range: NSRange, with objects: UnsafePointer<AnyObject>!, count: Int) {
        let new = Array(UnsafeBufferPointer(start: objects, count: count)).map(member)
        edit { $0.replaceSubrange(range.location..<(range.location + range.length), with: new) }
    }

    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        let new = objects.map(member)
        edit { objects in
            for (object, index) in zip(new, indexes) { objects[index] = object }
        }
    }

    override func exchangeObject(at first: Int, withObjectAt second: Int) { edit { $0.swapAt(first, second) } }

    override func moveObjects(at indexes: IndexSet, to index: Int) {
        edit { objects in
            let moved = indexes.map { objects[$0] }
            for index in indexes.reversed() { objects.remove(at: index) }
            objects.insert(contentsOf: moved, at: index)
        }
    }

    override func intersect(_ other: NSOrderedSet) { edit { $0.removeAll { !other.contains($0) } } }

    override func minus(_ other: NSOrderedSet) { edit { $0.removeAll { other.contains($0) } } }

    override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }

    override func intersectSet(_ other: Set<AnyHashable>) { edit { $0.removeAll { !other.contains($0) } } }

    override func minusSet(_ other: Set<AnyHashable>) { edit { $0.removeAll { other.contains($0) } } }

    override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: Array(other)) }

    override func sortRange(_ range: NSRange, options: NSSortOptions = [], usingComparator compare: (Any, Any) -> ComparisonResult) {
        edit { objects in
            let places = range.location..<(range.location + range.length)
            let sorted = NSArray(array: Array(objects[places])).sortedArray(options: options, usingComparator: compare)
            objects.replaceSubrange(places, with: sorted.map(member))
        }
    }

    override func sort(using descriptors: [NSSortDescriptor]) {
        edit { $0 = NSArray(array: $0).sortedArray(using: descriptors).map(member) }
    }
}

/// The set that `mutableSetValue(forKey:)` hands out: what is added to it and removed from it goes to the relationship.
final class ManagedObjectSet: NSMutableSet {
    private var storedOwner: NSManagedObject?
    private var owner: NSManagedObject? { storedOwner?.standing }
    private var number = 0

    static func of(_ owner: NSManagedObject, number: Int) -> ManagedObjectSet {
        let set = ManagedObjectSet(capacity: 0)
        set.storedOwner = owner
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
