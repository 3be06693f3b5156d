import Foundation

/// One result: who it is, what it is ordered by, and to which section it belongs.
struct ResultEntry {
    let id: NSManagedObjectID
    let keys: [AttributeValue]
    let section: String

    /// Whether it would stand where the other one stands.
    func standsLike(_ other: ResultEntry) -> Bool {
        section == other.section && zip(keys, other.keys).allSatisfy { RowOrdering.compare($0, $1) == .orderedSame }
    }
}

/// The order of results: by the sort keys, then by primary key, so that no two are alike.
struct ResultOrder {
    let keys: [SortKey]

    func precedes(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
        for (index, key) in keys.enumerated() {
            switch RowOrdering.compare(left.keys[index], right.keys[index]) {
            case .orderedSame: continue
            case .orderedAscending: return key.isAscending
            case .orderedDescending: return !key.isAscending
            }
        }
        if left.id.key != right.id.key { return left.id.key < right.id.key }
        if left.id == right.id { return false }
        // Two stores may have the same key.
        return (left.id.storeIdentity.uuid ?? "", left.id.layout.number) < (right.id.storeIdentity.uuid ?? "", right.id.layout.number)
    }

    func sorted(_ entries: [ResultEntry]) -> [ResultEntry] {
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { precedes($0, $1) }
        return isSorted ? entries : entries.sorted(by: precedes)
    }
}

/// Where a result stands.
struct ResultPlace: Hashable {
    let section: Int
    let row: Int
}

/// Ordered results in sections, by ID. Everything is found by bisection, so that a change costs what changed and not what is there.
///
/// Sections stand in the order of their first results. Without sections there is exactly one, which has no name and may be empty.
struct ResultSections {
    struct Section {
        let name: String
        var entries: [ResultEntry]
    }

    let order: ResultOrder
    let isSectioned: Bool
    var sections: [Section] = []
    /// Section numbers by name.
    var numbers: [String: Int] = [:]
    var known: [NSManagedObjectID: ResultEntry]

    /// - Parameter entries: in order.
    init(_ entries: [ResultEntry], order: ResultOrder, isSectioned: Bool) {
        self.order = order
        self.isSectioned = isSectioned
        known = Dictionary(entries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        if !isSectioned { sections = [Section(name: "", entries: [])] }
        var names: [String: Int] = isSectioned ? [:] : ["": 0]
        for entry in entries {
            if let number = names[entry.section] {
                sections[number].entries.append(entry)
            } else {
                names[entry.section] = sections.count
                sections.append(Section(name: entry.section, entries: [entry]))
            }
        }
        numbers = names
    }

    var count: Int { known.count }
    /// Every result's ID, in order.
    var ids: [NSManagedObjectID] { sections.flatMap { $0.entries.map(\.id) } }

    func place(of id: NSManagedObjectID) -> ResultPlace? { known[id].flatMap { place(of: $0) } }

    func place(of entry: ResultEntry) -> ResultPlace? {
        guard let section = numbers[entry.section], let row = row(of: entry, in: sections[section].entries) else { return nil }
        return ResultPlace(section: section, row: row)
    }

    /// How many of these ordered entries precede `entry`, which is its row if it is among them.
    func row(of entry: ResultEntry, in entries: [ResultEntry]) -> Int? {
        var low = 0, high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(entries[middle], entry) { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == entry.id ? low : nil
    }
}
