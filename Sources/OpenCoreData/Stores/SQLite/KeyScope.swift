import Foundation

/// One uniqueness constraint: the entity that declares it and the columns it covers. Descendants share it.
struct KeyScope: Hashable {
    /// The entity that declares the constraint.
    let declarer: NSEntityDescription
    let names: [String]
    let map: EntityMap
    let constraint: Int

    init(_ map: EntityMap, constraint: Int) {
        declarer = map.entity.constraintOwners[constraint]
        names = map.entity.constraintNames[constraint]
        self.map = map
        self.constraint = constraint
    }

    static func == (left: KeyScope, right: KeyScope) -> Bool { left.declarer === right.declarer && left.names == right.names }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(declarer))
        hasher.combine(names)
    }

    var columns: ConstraintMap { map.constraints[constraint] }

    /// The slots of the same attributes in another entity of the tree.
    func slots(in other: EntityMap) -> [Int] { names.compactMap { other.layout.slot(of: $0) } }
}
