/// What the records of a page were when it was read last: of each its hash and the primary key of its row, in the page's order. A record with the same
/// hash is the same, so that nothing need be made of it, nor its row be looked up.
///
/// It is believed only while the rows are what their records said (`PageTrust`), no other resource has records of the entity, and no two records of
/// the listing are one row.
struct Manifest: Hashable, Sendable {
    private(set) var hashes: [UInt64] = []
    private(set) var keys: [Int64] = []

    var count: Int { hashes.count }
    var isEmpty: Bool { hashes.isEmpty }

    /// Adds a record. Its key may be said later.
    ///
    /// - Returns: where it stands.
    @discardableResult
    mutating func append(_ hash: UInt64, key: Int64 = 0) -> Int {
        hashes.append(hash)
        keys.append(key)
        return hashes.count - 1
    }

    mutating func set(_ key: Int64, at place: Int) { keys[place] = key }

    mutating func append(_ other: Manifest) {
        hashes += other.hashes
        keys += other.keys
    }

    /// Without the records at these places, which ascend.
    func leavingOut(_ places: [Int]) -> Manifest {
        if places.isEmpty { return self }
        var rest = Manifest(), next = places[...]
        for place in hashes.indices {
            if place == next.first { next.removeFirst() } else { rest.append(hashes[place], key: keys[place]) }
        }
        return rest
    }

    /// The records from `start` on, at most `count`.
    func piece(from start: Int, count: Int) -> Manifest {
        let end = min(start + count, hashes.count)
        var piece = Manifest()
        piece.hashes = Array(hashes[start..<end])
        piece.keys = Array(keys[start..<end])
        return piece
    }
}

/// Finds the records of a page among those of its last reading: mostly each follows the one before, with some that came or went between them.
struct ManifestSearch {
    private let manifest: Manifest
    /// The record after the one that was found last.
    private var next = 0
    private var found = 0
    private var missed = 0
    /// Places plus one by hash, 0 where there is none. Made when the order turns out to be another one.
    private var buckets: [Int32] = []

    /// How many records are looked at from `next` on.
    private static let window = 16
    /// How many records that are not there are no sign of another order.
    private static let patience = 64

    init(_ manifest: Manifest) { self.manifest = manifest }

    /// The row of the record with this hash; nil: there was none.
    mutating func key(of hash: UInt64) -> Int64? {
        guard let place = place(of: hash) else {
            missed += 1
            if buckets.isEmpty, missed > Self.patience, missed > found / 8 { index() }
            return nil
        }
        found += 1
        next = place + 1
        return manifest.keys[place]
    }

    private func place(of hash: UInt64) -> Int? {
        manifest.hashes.withUnsafeBufferPointer { hashes in
            for place in next..<min(next + Self.window, hashes.count) where hashes[place] == hash { return place }
            guard !buckets.isEmpty else { return nil }
            let mask = buckets.count - 1
            var bucket = Int(truncatingIfNeeded: hash) & mask
            while buckets[bucket] != 0 {
                let place = Int(buckets[bucket]) - 1
                if hashes[place] == hash { return place }
                bucket = (bucket + 1) & mask
            }
            return nil
        }
    }

    private mutating func index() {
        var size = 64
        while size < manifest.count * 2 { size *= 2 }
        buckets = Array(repeating: 0, count: size)
        for (place, hash) in manifest.hashes.enumerated() {
            var bucket = Int(truncatingIfNeeded: hash) & (size - 1)
            while buckets[bucket] != 0 { bucket = (bucket + 1) & (size - 1) }
            buckets[bucket] = Int32(truncatingIfNeeded: place + 1)
        }
    }
}
