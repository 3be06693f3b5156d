/// Which records of a page are those of its last reading, and what all of them are for the next one.
struct PageRecords: Sendable {
    private var search: ManifestSearch?
    /// All of them in the page's order; the key of one that has to be read is said once its row is known.
    private var manifest = Manifest()
    private var unreadKeys = KeyCollector()
    /// How many records were not read.
    private(set) var unreadCount = 0
    private var changed = KeyCollector()
    /// Where those stand that were set aside, in order.
    private var refused: [Int] = []

    init(_ known: Manifest?) { search = known.map(ManifestSearch.init) }

    /// Takes in the next record.
    ///
    /// - Returns: where it stands; nil: it is the same as in the page's last reading, and need not be read.
    mutating func take(_ hash: UInt64) -> Int? {
        guard let key = search?.key(of: hash) else { return append(hash) }
        unreadKeys.add(key)
        unreadCount += 1
        manifest.append(hash, key: key)
        return nil
    }

    /// Takes in the next record, which has to be read.
    ///
    /// - Returns: where it stands.
    mutating func append(_ hash: UInt64) -> Int { manifest.append(hash) }

    /// No more records come: what the page's last reading said is not needed any more.
    mutating func finish() { search = nil }

    /// The hash of the record that stands there.
    func hash(at place: Int) -> UInt64 { manifest.hashes[place] }

    /// The record that stands there was read and is this row.
    mutating func place(_ key: Int64, at place: Int) { manifest.set(key, at: place) }

    /// The record that stands there is set aside.
    mutating func refuse(_ place: Int) { refused.append(place) }

    /// The row of a record is made, or changed.
    mutating func write(_ key: Int64) { changed.add(key) }

    /// The hashes of all records, in the page's order.
    var hashes: [UInt64] { manifest.hashes }

    /// The rows that were made or changed.
    var written: KeyRuns { changed.keys }

    /// The rows of the records that were not read, since they are the same as in the page's last reading.
    var unread: KeyRuns { unreadKeys.keys }

    /// What the page's records are for its next reading.
    ///
    /// - Parameter members: their rows.
    /// - Returns: nil where two of them are one row: then it says nothing which of them the row is.
    func manifest(of members: KeyRuns) -> Manifest? {
        let manifest = manifest.leavingOut(refused)
        return members.count == manifest.count ? manifest : nil
    }

    /// Whether what was not read need not have been: no record was that is the row of another of the page, or that an earlier page has written in this
    /// run.
    ///
    /// - Parameter earlier: what pages before have written.
    func isSound(_ members: KeyRuns, besides earlier: KeyRuns) -> Bool {
        unreadCount == 0 || members.count == manifest.count - refused.count && unread.intersection(earlier).isEmpty
    }
}
