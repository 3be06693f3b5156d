/// What records are recognised by.
enum KeyDraft {
    /// Members of each record, unique together.
    case members([MemberName])
    /// The name under which a record stands.
    case mapName
    case content
    case single

    /// The key of a page's records, and why.
    static func choose(for found: SampleRecords, entity: String) -> (key: KeyDraft, reason: String) {
        let records = found.records, count = DraftWriting.count(records.count, "record", "records")
        let candidates = Self.candidates(records)
        func rank(_ name: MemberName) -> Int { IdentityNames.rank(name.text, entity: entity) ?? .max }
        let ranked = candidates.enumerated().map { (rank: rank($0.element), place: $0.offset, name: $0.element) }.filter { $0.rank < .max }
        let strong = ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.name)
        if found.names != nil { return (.mapName, "The name under which a record stands is its key, and unique.") }
        if let best = strong.first(where: { isUnique([$0], in: records) }) {
            let name = DraftWriting.quoted(best.text)
            return (.members([best]), found.isLone ? "\(name) says which one it is." : "\(name) is in each of the \(count), never null, and unique.")
        }
        if found.isLone { return (.single, "The answer is one object without a name of its own: there is one row, and it changes.") }
        // With a few records anything is unique.
        if records.count >= fewest {
            let parts = Array(candidates.filter { IdentityNames.isPart($0.text) || rank($0) < .max }.prefix(mostParts))
            for (place, first) in parts.enumerated() {
                for second in parts[(place + 1)...] where isUnique([first, second], in: records) {
                    let names = DraftWriting.names([first.text, second.text])
                    return (.members([first, second]), "A guess: nothing that looks like an id is unique, but \(names) are together, in \(count).")
                }
            }
        }
        var reason =
            "Nothing that looks like an id is in each of the \(count), never null and unique: "
            + "a record is what it says, and one that changes is another row."
        if let name = candidates.first(where: { isUnique([$0], in: records) }), records.count >= fewest {
            reason += " \(DraftWriting.quoted(name.text)) is unique here; if a record keeps it for good, make it the key."
        }
        return (.content, reason)
    }

    /// How many records make a coincidence unlikely.
    private static let fewest = 5
    private static let mostParts = 8

    /// Members that each record has, with a value that a key may have.
    private static func candidates(_ records: [SampleObject]) -> [MemberName] {
        guard let first = records.first else { return [] }
        return first.names.filter { name in
            MemberPath.isWritable(name.text) && records.allSatisfy { $0[name].flatMap(KeyValue.init) != nil }
        }
    }

    private static func isUnique(_ names: [MemberName], in records: [SampleObject]) -> Bool {
        var seen: Set<[KeyValue]> = []
        return records.allSatisfy { record in
            seen.insert(names.compactMap { record[$0].flatMap(KeyValue.init) }).inserted
        }
    }
}
