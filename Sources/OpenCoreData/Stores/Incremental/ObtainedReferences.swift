/// The keys that new objects have already, while a store is asked what it calls them: the IDs that it makes meanwhile get them, by entity, in the
/// order of the objects.
struct ObtainedReferences {
    private var waiting: [Int: ArraySlice<Int64>]
    private let all: Set<Int64>
    /// The keys that have been given out.
    private(set) var given: [Int64] = []

    /// - Parameter all: with those that were asked about before.
    init(_ ids: [NSManagedObjectID], among all: [NSManagedObjectID]) {
        self.all = Set(all.lazy.map(\.key))
        waiting = Dictionary(grouping: ids) { $0.entity.number }.mapValues { $0.map(\.key)[...] }
    }

    /// Whether the key is that of one of the new objects.
    func isAsked(_ key: Int64) -> Bool { all.contains(key) }

    mutating func next(for entity: NSEntityDescription) -> Int64? {
        guard let key = waiting[entity.number]?.popFirst() else { return nil }
        given.append(key)
        return key
    }
}
