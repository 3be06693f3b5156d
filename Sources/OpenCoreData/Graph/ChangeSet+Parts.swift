extension ChangeSet {
    /// Adds changes of other objects.
    mutating func add(_ other: ChangeSet) {
        other.forEach { set($0, $1) }
        pairs.merge(other.pairs) { _, new in new }
        orders.merge(other.orders) { _, new in new }
    }

    /// The changes of these objects alone.
    func filter(_ isIncluded: (NSManagedObjectID) -> Bool) -> ChangeSet {
        var result = self
        forEach { id, _ in if !isIncluded(id) { result.set(id, nil) } }
        result.pairs = pairs.filter { isIncluded($0.key.owner) }
        result.orders = orders.filter { isIncluded($0.key.owner) }
        return result
    }

    /// Whether anything says that a to-many of the object changed.
    func changesToMany(of id: NSManagedObjectID) -> Bool {
        if pairs.isEmpty && orders.isEmpty { return false }
        return id.layout.toManys.indices.contains { number in
            let key = RelationshipKey(owner: id, toMany: number)
            return pairs[key] != nil || orders[key] != nil
        }
    }
}
