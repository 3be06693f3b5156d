/// Which records of a page are those of its last reading, and what all of them are for the next one.
struct PageRecords {
    private var search: ManifestSearch?
    private var manifest = Manifest()
    private var recognised = KeyCollector()
    private var changed = KeyCollector()

    init(_ known: Manifest?) { search = known.map(ManifestSearch.init) }

    /// The row of a record that is the same as in the page's last reading; nil: it has to be read.
    mutating func recognise(_ hash: UInt64) -> Int64? {
        guard let key = search?.key(of: hash) else { return nil }
        recognised.add(key)
        manifest.append(hash, key: key)
        return key
    }

    /// A record is read.
    ///
    /// - Returns: where it stands.
    mutating func read(_ hash: UInt64) -> Int { manifest.append(hash) }

    /// The row of a record that was read.
    mutating func place(_ key: Int64, at place: Int) { manifest.set(key, at: place) }

    /// The row of a record is made, or changed.
    mutating func write(_ key: Int64) { changed.add(key) }

    /// The rows that were made or changed.
    var written: KeyRuns { changed.keys }

    /// What the page's records are for its next reading.
    ///
    /// - Parameter members: their rows.
    /// - Returns: nil where two of them are one row: then it says nothing which of them the row is.
    func manifest(of members: KeyRuns) -> Manifest? { members.count == manifest.count ? manifest : nil }

    /// Whether what was recognised may have been: no record was that is the row of another of the page, or that an earlier page has written in this run.
    ///
    /// - Parameter earlier: what pages before have written.
    func isSound(_ members: KeyRuns, besides earlier: KeyRuns) -> Bool {
        let recognised = recognised.keys
        return recognised.isEmpty || manifest(of: members) != nil && recognised.intersection(earlier).isEmpty
    }
}
