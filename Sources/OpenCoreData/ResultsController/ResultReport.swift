/// What is to happen to results.
struct ResultDelta {
    var inserted: [ResultEntry] = []
    /// As they were.
    var deleted: [ResultEntry] = []
    /// Results that may stand elsewhere now.
    var replaced: [Replacement] = []
    /// Results with other values that stand where they stood.
    var updated: [ResultEntry] = []

    struct Replacement {
        let old: ResultEntry
        let new: ResultEntry
        /// Whether the object itself changed, and not only something that it is ordered by.
        let isUpdate: Bool
    }

    var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && replaced.isEmpty && updated.isEmpty }
    /// What leaves its place, at least for a moment.
    var leaving: [ResultEntry] { deleted + replaced.map(\.old) }
    var coming: [ResultEntry] { inserted + replaced.map(\.new) }
}

/// What has happened to one result.
struct ResultChange {
    let id: NSManagedObjectID
    let type: NSFetchedResultsChangeType
    /// Before everything; nil for an insertion.
    let old: ResultPlace?
    /// After everything; nil for a deletion.
    let new: ResultPlace?
}

/// What has happened to results: deletions, insertions, moves, updates, in this order.
struct ResultReport {
    struct SectionChange {
        let type: NSFetchedResultsChangeType
        let index: Int
        let section: ResultSections.Section
    }

    var sections: [SectionChange] = []
    var objects: [ResultChange] = []

    var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

    /// The same as a difference of a list without sections.
    var difference: CollectionDifference<NSManagedObjectID> {
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in objects {
            if let old = change.old { changes.append(.remove(offset: old.row, element: change.id, associatedWith: change.new?.row)) }
            if let new = change.new { changes.append(.insert(offset: new.row, element: change.id, associatedWith: change.old?.row)) }
        }
        // Each place is left once and taken once, which is all that a difference asks for.
        guard let difference = CollectionDifference(changes) else { preconditionFailure("OpenCoreData: two results changed in one place") }
        return difference
    }
}

/// The indexes of a longest rising run that leaves out as few values as possible; the values are all different.
func longestRise(_ values: [Int]) -> Set<Int> {
    // The last index of the best run of each length, and what came before each index in its run.
    var ends: [Int] = [], before = [Int?](repeating: nil, count: values.count)
    for (index, value) in values.enumerated() {
        var low = 0, high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
        }
        before[index] = low > 0 ? ends[low - 1] : nil
        if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var result: Set<Int> = []
    var next = ends.last
    while let index = next {
        result.insert(index)
        next = before[index]
    }
    return result
}
