import JSONReader
import OpenCoreData

/// Which records of a page are those of its last reading, and what all of them are for the next one.
struct PageRecords: Sendable {
    private var search: ManifestSearch?
    /// All of them in the page's order; the key of one that has to be read is said once its row is known.
    private var manifest: Manifest
    private var unreadKeys = KeyCollector()
    /// How many records were not read.
    private(set) var unreadCount = 0
    private var changed = KeyCollector()
    /// Where those stand that were set aside, in order.
    private var refused: [Int] = []
    /// Whether the next reading may leave out what is the same.
    private var isComparable = true

    /// - Parameters:
    ///   - known: what the page's records were when it was read last; nil: all have to be read.
    ///   - spill: where what is known of many records waits.
    init(_ known: Manifest?, in spill: BlockSpill? = nil) {
        search = known.map(ManifestSearch.init)
        manifest = Manifest(in: spill)
    }

    /// Takes in the next record.
    ///
    /// - Returns: where it stands; nil: it is the same as in the page's last reading, and need not be read.
    mutating func take(_ hash: UInt64) -> Int? {
        guard let key = known(hash) else { return append(hash) }
        unreadKeys.add(key)
        unreadCount += 1
        manifest.append(hash, key: key)
        return nil
    }

    /// The row of a record of the page's last reading. What cannot be read of that is not known.
    private mutating func known(_ hash: UInt64) -> Int64? {
        do { return try search?.key(of: hash) } catch {
            search = nil
            return nil
        }
    }

    /// Takes in the next record, which has to be read.
    ///
    /// - Returns: where it stands.
    mutating func append(_ hash: UInt64) -> Int { manifest.append(hash) }

    /// No more records come: what the page's last reading said is not needed any more.
    mutating func finish() { search = nil }

    /// The hash of the record that stands there. Throws `NSFileReadUnknownError`, as everything here that throws, where what is known of the records waits in a
    /// file that can't be read.
    mutating func hash(at place: Int) throws -> UInt64 { try manifest.hash(at: place) }

    /// The record that stands there was read and is this row.
    mutating func place(_ key: Int64, at place: Int) throws { try manifest.set(key, at: place) }

    /// The record that stands there is set aside.
    mutating func refuse(_ place: Int) { refused.append(place) }

    /// All records have to be read when the page comes next.
    mutating func forgoComparison() { isComparable = false }

    /// The row of a record is made, or changed.
    mutating func write(_ key: Int64) { changed.add(key) }

    /// How many records the page has.
    var count: Int { manifest.count }

    /// The hash of the hashes of all records, in the page's order: where they are more than a piece, of the hashes of the pieces.
    func hash() throws -> JSONHash {
        func hash(_ numbers: [UInt64]) -> JSONHash { numbers.withUnsafeBytes { JSONHash(of: $0) } }
        if manifest.pieceCount < 2 { return hash(manifest.isEmpty ? [] : try manifest.hashes(ofPiece: 0)) }
        let pieces = try (0..<manifest.pieceCount).flatMap { number in
            let piece = hash(try manifest.hashes(ofPiece: number))
            return [piece.high, piece.low]
        }
        return hash(pieces)
    }

    /// The rows that were made or changed.
    var written: KeyRuns { changed.keys }

    /// The rows of the records that were not read, since they are the same as in the page's last reading.
    var unread: KeyRuns { unreadKeys.keys }

    /// What the page's records are for its next reading.
    ///
    /// - Parameter members: their rows.
    /// - Returns: nil where two of them are one row: then it says nothing which of them the row is. Nil, too, where all have to be read again.
    func manifest(of members: KeyRuns) throws -> Manifest? {
        guard isComparable else { return nil }
        let manifest = try manifest.leavingOut(refused)
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
