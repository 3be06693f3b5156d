/// The pairs of to-manys that changed, by to-many, recorded on both sides where both sides are named.
///
/// What new rows in blocks list stays in the blocks as long as nobody asks for it; what else is said of pairs lies over it, as the later word.
package struct PairTable: Sendable {
    /// What is in no block.
    private(set) var loose: [RelationshipKey: PairChanges] = [:]
    /// Those with rows that list objects. They need not be among the changes of rows any more.
    private(set) var blocks: [RowBlock] = []

    package init() {}

    package var isEmpty: Bool { loose.isEmpty && blocks.isEmpty }

    /// What changed of a to-many. Setting it replaces all that was said of it.
    package subscript(key: RelationshipKey) -> PairChanges? {
        get {
            var result: PairChanges?
            for block in blocks where block.mayPair(key.owner) {
                guard let changes = block.pairs[key] else { continue }
                if result == nil { result = changes } else { result?.apply(changes) }
            }
            guard let later = loose[key] else { return result }
            if result == nil { return later }
            result?.apply(later)
            return result
        }
        set {
            loosen { $0.mayPair(key.owner) }
            loose[key] = newValue
        }
    }

    /// Says something more of a to-many, in place: it may have a great many members, and each of them is a change. What blocks say of it stays there.
    ///
    /// - Parameter body: adds and removes; or forgets objects of which no block says anything.
    package mutating func change(_ key: RelationshipKey, _ body: (inout PairChanges) -> Void) {
        body(&loose[key, default: PairChanges()])
        if loose[key]?.isEmpty == true { loose[key] = nil }
    }

    /// Adds what new rows list, under what is said of their pairs here.
    mutating func add(_ block: RowBlock) {
        if !block.members.isEmpty { blocks.append(block) }
    }

    @discardableResult
    package mutating func removeValue(forKey key: RelationshipKey) -> PairChanges? {
        guard let changes = self[key] else { return nil }
        self[key] = nil
        return changes
    }

    /// Forgets all that is in no block.
    mutating func removeLoose() { loose = [:] }

    /// Takes the pairs of some blocks out of them.
    mutating func loosen(where isMeant: (RowBlock) -> Bool) {
        guard blocks.contains(where: isMeant) else { return }
        var rest: [RowBlock] = []
        for block in blocks {
            guard isMeant(block) else {
                rest.append(block)
                continue
            }
            for (key, changes) in block.pairs { loose[key, default: PairChanges()].lay(over: changes) }
        }
        blocks = rest
    }

    /// All of them, out of the blocks.
    package var all: [RelationshipKey: PairChanges] {
        var table = self
        table.loosen { _ in true }
        return table.loose
    }

    /// The objects whose to-manys changed, but for new rows in blocks.
    var owners: Set<NSManagedObjectID> {
        blocks.reduce(into: Set(loose.keys.map(\.owner))) { owners, block in
            owners.formUnion(block.partners)
        }
    }
}

extension PairTable: Sequence {
    /// Goes through all of them, out of the blocks.
    package func makeIterator() -> Dictionary<RelationshipKey, PairChanges>.Iterator { all.makeIterator() }
}

extension NSRelationshipDescription {
    /// The other end of a many-to-many, as it is seen from one of its objects.
    func key(of other: NSManagedObjectID) -> RelationshipKey? {
        inverseRelationship.flatMap { other.layout.toManyNumber($0) }.map { RelationshipKey(owner: other, toMany: $0) }
    }
}
