import OpenCoreData

/// What the records of a page were when it was read last: of each its hash and the primary key of its row, in the page's order. A record with the same
/// hash is the same, so that nothing need be made of it, nor its row be looked up.
///
/// It is believed only while the rows are what their records said (`PageTrust`), no other resource has records of the entity, and no two records of
/// the listing are one row.
struct Manifest: Sendable {
    private let spill: BlockSpill
    private var hashes: NumberList
    /// Those of the first records, as far as any was said.
    private var keys: NumberList

    /// How many records are a piece.
    static var pieceSize: Int { NumberList.pieceSize }

    /// - Parameter spill: where records wait that are too many for the memory; nil: nowhere.
    init(in spill: BlockSpill? = nil) {
        self.spill = spill ?? NumberList.memory
        hashes = NumberList(in: self.spill)
        keys = NumberList(in: self.spill)
    }

    var count: Int { hashes.count }
    var isEmpty: Bool { hashes.isEmpty }
    var pieceCount: Int { hashes.pieceCount }

    /// Adds a record whose key is said later.
    ///
    /// - Returns: where it stands.
    mutating func append(_ hash: UInt64) -> Int {
        hashes.append(hash)
        return hashes.count - 1
    }

    mutating func append(_ hash: UInt64, key: Int64) { keys.append(UInt64(bitPattern: key), at: append(hash)) }

    mutating func append(_ piece: Piece) {
        for (hash, key) in zip(piece.hashes, piece.keys) { append(hash, key: key) }
    }

    /// The hash of the record that stands there. Throws `NSFileReadUnknownError`, as everything here that throws, where records wait in a file that can't be
    /// read.
    mutating func hash(at place: Int) throws -> UInt64 { try hashes.number(at: place) }

    /// The key of the record that stands there; 0 if it was not said.
    mutating func key(at place: Int) throws -> Int64 { place < keys.count ? Int64(bitPattern: try keys.number(at: place)) : 0 }

    mutating func set(_ key: Int64, at place: Int) throws { try keys.set(UInt64(bitPattern: key), at: place) }

    /// Some records.
    struct Piece: Hashable, Sendable {
        var hashes: [UInt64] = []
        var keys: [Int64] = []
    }

    func piece(_ number: Int) throws -> Piece {
        var piece = Piece(hashes: try hashes.piece(number))
        if number < keys.pieceCount { piece.keys = try keys.piece(number).map { Int64(bitPattern: $0) } }
        piece.keys += repeatElement(0, count: piece.hashes.count - piece.keys.count)
        return piece
    }

    /// The hashes of a piece.
    func hashes(ofPiece number: Int) throws -> [UInt64] { try hashes.piece(number) }

    /// Without the records at these places, which ascend.
    func leavingOut(_ places: [Int]) throws -> Manifest {
        if places.isEmpty { return self }
        var rest = Manifest(in: spill), next = places[...], place = 0
        for number in 0..<pieceCount {
            let piece = try piece(number)
            for (hash, key) in zip(piece.hashes, piece.keys) {
                if place == next.first { next.removeFirst() } else { rest.append(hash, key: key) }
                place += 1
            }
        }
        return rest
    }
}

/// Finds the records of a page among those of its last reading: mostly each follows the one before, with some that came or went between them.
struct ManifestSearch {
    private var manifest: Manifest
    /// The record after the one that was found last.
    private var next = 0
    private var found = 0
    private var missed = 0
    /// The hashes of the records from `next` on, each at its place modulo the window's size.
    private var window = Array(repeating: UInt64(0), count: size)
    /// Where the window ends.
    private var end = 0
    /// Made when the order turns out to be another one.
    private var index: Index?

    /// How many records are looked at from `next` on.
    private static let size = 16
    /// How many records that are not there are no sign of another order.
    private static let patience = 64

    init(_ manifest: Manifest) { self.manifest = manifest }

    /// The row of the record with this hash; nil: there was none. Throws where records wait in a file that can't be read.
    mutating func key(of hash: UInt64) throws -> Int64? {
        if let index { return index.key(of: hash) }
        while end < min(next + Self.size, manifest.count) {
            window[end % Self.size] = try manifest.hash(at: end)
            end += 1
        }
        for place in next..<end where window[place % Self.size] == hash {
            found += 1
            next = place + 1
            return try manifest.key(at: place)
        }
        missed += 1
        if missed > Self.patience, missed > found / 8 { index = try Index(manifest) }
        return nil
    }

    /// The key of each record by its hash, in memory.
    private struct Index {
        private var records = Manifest.Piece()
        /// Places plus one by hash, 0 where there is none.
        private var buckets: [Int32]

        init(_ manifest: Manifest) throws {
            var size = 64
            while size < manifest.count * 2 { size *= 2 }
            buckets = Array(repeating: 0, count: size)
            records.hashes.reserveCapacity(manifest.count)
            records.keys.reserveCapacity(manifest.count)
            for number in 0..<manifest.pieceCount {
                let piece = try manifest.piece(number)
                records.hashes += piece.hashes
                records.keys += piece.keys
            }
            for (place, hash) in records.hashes.enumerated() {
                var bucket = Int(truncatingIfNeeded: hash) & (size - 1)
                while buckets[bucket] != 0 { bucket = (bucket + 1) & (size - 1) }
                buckets[bucket] = Int32(truncatingIfNeeded: place + 1)
            }
        }

        func key(of hash: UInt64) -> Int64? {
            let mask = buckets.count - 1
            var bucket = Int(truncatingIfNeeded: hash) & mask
            while buckets[bucket] != 0 {
                let place = Int(buckets[bucket]) - 1
                if records.hashes[place] == hash { return records.keys[place] }
                bucket = (bucket + 1) & mask
            }
            return nil
        }
    }
}
