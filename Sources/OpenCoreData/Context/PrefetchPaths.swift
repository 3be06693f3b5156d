/// Relationships to load ahead, as a tree: what two key paths have in common is loaded once.
struct PrefetchPaths {
    /// In the order in which they were named.
    private(set) var branches: [(name: String, rest: PrefetchPaths)] = []

    var isEmpty: Bool { branches.isEmpty }

    init(_ keyPaths: [String]) {
        for path in keyPaths { add(path.split(separator: ".").map(String.init)[...]) }
    }

    private mutating func add(_ names: ArraySlice<String>) {
        guard let name = names.first else { return }
        let index: Int
        if let known = branches.firstIndex(where: { $0.name == name }) {
            index = known
        } else {
            index = branches.count
            branches.append((name, PrefetchPaths([])))
        }
        branches[index].rest.add(names.dropFirst())
    }

    /// Traps for a name that is no relationship of the entity or of one that inherits from it.
    func check(against entity: NSEntityDescription) {
        for (name, rest) in branches {
            let found = entity.withDescendants.lazy.compactMap { $0.propertiesByName[name] }.first
            guard let found else { Violation.unknownKey(name, entity: entity.name) }
            guard let relationship = found as? NSRelationshipDescription, let destination = relationship.destinationEntity else {
                Violation.misuse("\(entity.name ?? "?").\(name) can't be prefetched: it is no relationship")
            }
            rest.check(against: destination)
        }
    }
}
