extension ResultSections {
    /// Carries out a change and says what it did to whom.
    mutating func apply(_ delta: ResultDelta) -> ResultReport {
        let before = self.withoutIndex
        let left = takeOut(delta.leaving)
        let came = putIn(delta.coming)
        tidy()
        for entry in delta.deleted { known[entry.id] = nil }
        for entry in delta.coming { known[entry.id] = entry }

        var report = ResultReport()
        let stayed = reportSections(since: before, in: &report)
        let moved = moves(delta.replaced, left: left, came: came, stayed: stayed)
        func new(_ entry: ResultEntry) -> ResultPlace? {
            guard let row = came[entry.section]?.rows[entry.id], let section = numbers[entry.section] else { return nil }
            return ResultPlace(section: section, row: row)
        }
        func old(_ entry: ResultEntry) -> ResultPlace? {
            guard let row = left[entry.section]?.rows[entry.id], let section = before.numbers[entry.section] else { return nil }
            return ResultPlace(section: section, row: row)
        }
        for entry in delta.deleted { report.objects.append(ResultChange(id: entry.id, type: .delete, old: old(entry), new: nil)) }
        for entry in delta.inserted { report.objects.append(ResultChange(id: entry.id, type: .insert, old: nil, new: new(entry))) }
        for (place, change) in delta.replaced.enumerated() {
            let isMove = moved.contains(place)
            guard isMove || change.isUpdate else { continue }
            report.objects.append(ResultChange(id: change.new.id, type: isMove ? .move : .update, old: old(change.old), new: new(change.new)))
        }
        reportMovedSections(since: before, came: came, stayed: stayed, in: &report)
        for entry in delta.updated where stayed.contains(entry.section) {
            report.objects.append(ResultChange(id: entry.id, type: .update, old: before.place(of: entry), new: place(of: entry)))
        }
        report.objects.sort { Self.rank($0) < Self.rank($1) }
        return report
    }

    /// The same sections, for looking places up in.
    private var withoutIndex: ResultSections {
        var copy = ResultSections([], order: order, isSectioned: isSectioned)
        copy.sections = sections
        copy.numbers = numbers
        return copy
    }

    private static func rank(_ change: ResultChange) -> (Int, Int, Int) {
        let kind =
            switch change.type {
            case .delete: 0
            case .insert: 1
            case .move: 2
            case .update: 3
            }
        let place = (change.type == .delete || change.type == .update ? change.old : change.new) ?? ResultPlace(section: 0, row: 0)
        return (kind, place.section, place.row)
    }

    /// Rows of one section that some results left or took.
    struct Rows {
        var rows: [NSManagedObjectID: Int] = [:]
        /// The same, ascending.
        var sorted: [Int] = []

        /// How many of them are smaller.
        func count(below row: Int) -> Int {
            var low = 0, high = sorted.count
            while low < high {
                let middle = (low + high) / 2
                if sorted[middle] < row { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private mutating func takeOut(_ entries: [ResultEntry]) -> [String: Rows] {
        var result: [String: Rows] = [:]
        for (name, entries) in Dictionary(grouping: entries, by: \.section) {
            guard let number = numbers[name] else { continue }
            var rows = Rows()
            for entry in entries { rows.rows[entry.id] = row(of: entry, in: sections[number].entries) }
            rows.sorted = rows.rows.values.sorted()
            var kept: [ResultEntry] = []
            kept.reserveCapacity(sections[number].entries.count)
            var start = 0
            for row in rows.sorted {
                kept += sections[number].entries[start..<row]
                start = row + 1
            }
            kept += sections[number].entries[start...]
            sections[number].entries = kept
            result[name] = rows
        }
        return result
    }

    private mutating func putIn(_ entries: [ResultEntry]) -> [String: Rows] {
        var result: [String: Rows] = [:]
        for (name, entries) in Dictionary(grouping: entries, by: \.section) {
            if numbers[name] == nil {
                numbers[name] = sections.count
                sections.append(Section(name: name, entries: []))
            }
            guard let number = numbers[name] else { continue }
            let present = sections[number].entries, coming = order.sorted(entries)
            var merged: [ResultEntry] = [], rows = Rows(), next = 0
            merged.reserveCapacity(present.count + coming.count)
            for entry in coming {
                while next < present.count && order.precedes(present[next], entry) {
                    merged.append(present[next])
                    next += 1
                }
                rows.rows[entry.id] = merged.count
                rows.sorted.append(merged.count)
                merged.append(entry)
            }
            merged += present[next...]
            sections[number].entries = merged
            result[name] = rows
        }
        return result
    }

    /// Drops empty sections and puts the others in order.
    private mutating func tidy() {
        guard isSectioned else { return }
        sections.removeAll { $0.entries.isEmpty }
        sections.sort { order.precedes($0.entries[0], $1.entries[0]) }
        numbers = Dictionary(sections.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: the names of the sections that stayed where they were among the others. There is no move of a section: one that went elsewhere
    ///   is deleted and inserted.
    private func reportSections(since before: ResultSections, in report: inout ResultReport) -> Set<String> {
        let common = sections.filter { before.numbers[$0.name] != nil }
        let places = common.compactMap { before.numbers[$0.name] }
        let rise = longestRise(places)
        let stayed = Set(common.indices.filter { rise.contains($0) }.map { common[$0].name })
        for (index, section) in before.sections.enumerated() where !stayed.contains(section.name) {
            report.sections.append(ResultReport.SectionChange(type: .delete, index: index, section: section))
        }
        for (index, section) in sections.enumerated() where !stayed.contains(section.name) {
            report.sections.append(ResultReport.SectionChange(type: .insert, index: index, section: section))
        }
        return stayed
    }

    /// Which replacements stand elsewhere among the results that were not touched, and among each other.
    private func moves(
        _ replaced: [ResultDelta.Replacement], left: [String: Rows], came: [String: Rows], stayed: Set<String>
    ) -> Set<Int> {
        var moved: Set<Int> = []
        var candidates: [String: [(place: Int, old: Int, new: Int)]] = [:]
        for (place, change) in replaced.enumerated() {
            let name = change.new.section
            guard name == change.old.section, stayed.contains(name), let leftRows = left[name], let cameRows = came[name],
                let old = leftRows.rows[change.old.id], let new = cameRows.rows[change.new.id],
                old - leftRows.count(below: old) == new - cameRows.count(below: new)
            else {
                moved.insert(place)
                continue
            }
            candidates[name, default: []].append((place, old, new))
        }
        for list in candidates.values {
            let ordered = list.sorted { $0.new < $1.new }
            let rise = longestRise(ordered.map(\.old))
            for (index, candidate) in ordered.enumerated() where !rise.contains(index) { moved.insert(candidate.place) }
        }
        return moved
    }

    /// What stands in a section that went elsewhere went with it.
    private func reportMovedSections(
        since before: ResultSections, came: [String: Rows], stayed: Set<String>, in report: inout ResultReport
    ) {
        for (number, section) in sections.enumerated() where !stayed.contains(section.name) && before.numbers[section.name] != nil {
            for (row, entry) in section.entries.enumerated() where came[section.name]?.rows[entry.id] == nil {
                report.objects.append(
                    ResultChange(id: entry.id, type: .move, old: before.place(of: entry), new: ResultPlace(section: number, row: row)))
            }
        }
    }
}
