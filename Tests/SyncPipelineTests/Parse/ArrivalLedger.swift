/// What an import comes to that reads page after page and record after record, with nothing going on beside it: dictionaries by key, and no
/// more. What the pipeline is compared with.
struct ArrivalLedger {
    struct Row: Equatable {
        var values: [String: String] = [:]
        var ones: [String: ThingName] = [:]
        /// In the order in which they were said.
        var lists: [String: [ThingName]] = [:]
        var isStub = true
        var hasHash = false
        var isTombstone = false
    }

    private(set) var rows: [ThingName: Row] = [:]
    /// The record that was read last, of those whose rows it still describes.
    private var records: [ThingName: String] = [:]
    /// What each source's rows are known by: those of the last complete run, and those of pages since.
    private(set) var known: [String: Set<ThingName>] = [:]

    // MARK: Reading

    /// Everything a page says.
    mutating func read(_ records: [Saying], of source: String) {
        for record in records where !record.isBroken { take(record, isRecord: true) }
        known[source, default: []].formUnion(records.map(\.name))
    }

    private mutating func take(_ reference: Saying.Reference) {
        switch reference {
        case .key(let name): rows[name] = rows[name] ?? Row()
        case .object(let saying): take(saying, isRecord: false)
        }
    }

    private mutating func take(_ saying: Saying, isRecord: Bool) {
        let name = saying.name
        for (_, target) in saying.ones { target.map { take($0) } }
        for (_, targets) in saying.lists { targets.forEach { take($0) } }
        let before = rows[name] ?? Row()
        let text = isRecord ? saying.json : ""
        // A record that is what it was when it was read last says nothing new about its lists, whatever the other side has said since.
        let isUnchanged = isRecord && before.hasHash && !before.isTombstone && records[name] == text
        var row = before
        for (property, value) in saying.values { row.values[property] = value }
        for (property, target) in saying.ones { row.ones[property] = target?.name }
        // A short form that says something else than the record did: the record must be read again.
        if !isRecord && (row.values != before.values || row.ones != before.ones) { row.hasHash = false }
        if isRecord {
            row.hasHash = true
            records[name] = text
        }
        row.isStub = false
        row.isTombstone = false
        rows[name] = row
        if isUnchanged { return }
        for (property, targets) in saying.lists { list(name, property, targets.map(\.name)) }
    }

    private mutating func list(_ owner: ThingName, _ property: String, _ targets: [ThingName]) {
        switch (owner.entity, property) {
        case ("Team", "members"):
            for (name, row) in rows where row.ones["team"] == owner && !targets.contains(name) { rows[name]?.ones["team"] = nil }
            for name in targets { rows[name]?.ones["team"] = owner }
        case ("Tag", "people"):
            for name in rows.keys where name.entity == "Person" {
                let has = rows[name]?.lists["tags"]?.contains(owner) ?? false
                if targets.contains(name) && !has { rows[name]?.lists["tags", default: []].append(owner) }
                if !targets.contains(name) && has { rows[name]?.lists["tags"]?.removeAll { $0 == owner } }
            }
        default: rows[owner]?.lists[property] = targets
        }
    }

    // MARK: What a run concludes

    /// A complete run found these records. Returns how many rows went.
    mutating func conclude(_ source: String, seen: Set<ThingName>, keepsTombstones: Bool) -> Int {
        var gone = (known[source] ?? []).subtracting(seen)
        // What another source still vouches for stays.
        for (other, names) in known where other != source { gone.subtract(names) }
        known[source] = seen
        var count = 0
        for name in gone {
            guard let row = rows[name], !row.isTombstone else { continue }
            count += 1
            if keepsTombstones {
                rows[name]?.isTombstone = true
            } else {
                rows[name] = nil
                for (other, row) in rows {
                    rows[other]?.ones = row.ones.filter { $0.value != name }
                    rows[other]?.lists = row.lists.mapValues { $0.filter { $0 != name } }
                }
            }
        }
        return count
    }

    // MARK: In words

    /// One line a row, by key.
    var lines: [String] { rows.sorted { $0.key < $1.key }.map { Self.line($0.key, $0.value) } }

    static func line(_ name: ThingName, _ row: Row) -> String {
        var words = ["\(name)"]
        words += row.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        words += row.ones.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.key)" }
        for (list, targets) in row.lists.sorted(by: { $0.key < $1.key }) where !targets.isEmpty {
            let keys = targets.map(\.key)
            words.append("\(list)=\(list == "ranking" ? keys : keys.sorted())")
        }
        if row.isStub { words.append("stub") }
        if row.hasHash { words.append("hash") }
        if row.isTombstone { words.append("tombstone") }
        return words.joined(separator: " ")
    }
}
