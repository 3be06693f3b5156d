/// The kinds of a table whose key `kind` says which other keys it has.
protocol TableKind: CaseIterable, RawRepresentable<String>, Sendable {
    /// The keys that it has to itself.
    var keys: [String] { get }
}

extension TableKind {
    /// Complains that a table says no kind, and suggests the one whose keys it has.
    ///
    /// - Parameters:
    ///   - named: the keys that are there.
    ///   - common: the kind to suggest where they tell nothing.
    static func complainOfNone(named: [String], common: Self, at place: DocumentNode.Place, _ subject: Subject, _ complaints: Complaints) {
        let guess =
            allCases.first { kind in !named.isEmpty && named.allSatisfy(kind.keys.contains) }
            ?? allCases.first { kind in named.contains(where: kind.keys.contains) }
        complaints.add(at: place, subject, "kind is missing", "write kind = \"\((guess ?? common).rawValue)\"")
    }

    /// Complains of every key that belongs to another kind.
    ///
    /// - Parameters:
    ///   - origins: the keys that are there, and where.
    ///   - shared: the keys that every kind may have.
    func complainOfOthers(_ origins: [String: DocumentNode.Place], shared: Set<String>, _ subject: Subject, _ complaints: Complaints) {
        for (key, place) in origins.sorted(by: { $0.key < $1.key }) where !shared.contains(key) && !keys.contains(key) {
            let owner = Self.allCases.first { $0.keys.contains(key) }?.rawValue ?? ""
            complaints.add(
                at: place, subject, key: key, "\"\(key)\" belongs to kind = \"\(owner)\", but the kind is \"\(rawValue)\"",
                "remove it, or change the kind")
        }
    }
}
