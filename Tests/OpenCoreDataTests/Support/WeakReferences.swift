/// Keeps what it is given seen, but not alive.
final class WeakReferences {
    private struct Reference {
        weak var object: AnyObject?
    }

    private var references: [Reference] = []

    func add(_ object: AnyObject) { references.append(Reference(object: object)) }
    var living: Int { references.count { $0.object != nil } }
}
