/// Rows that a builder has written, on their way to another builder or in a block. For any thread.
///
/// All that grows with their number is in one piece of bytes, on the heap or in a file.
package struct BuiltRows: Sendable {
    /// A to-one that was written.
    struct Reference: Sendable {
        /// Where it lies, in bytes.
        var place: UInt32
        /// The number of its object.
        var target: UInt32
    }

    /// An object that a row lists in a to-many.
    struct Pair: Sendable, Hashable {
        /// The place of the row.
        var row: UInt16
        /// The number of the to-many.
        var toMany: UInt16
        /// The number of the object.
        var target: UInt32
    }

    /// What lies in the bytes, one after the other.
    struct Lists {
        let rows: UnsafeRawBufferPointer
        /// The hashes of the rows' unique keys; for a builder.
        let hashes: UnsafeBufferPointer<UInt64>
        /// The to-ones that were written; for a builder.
        let references: UnsafeBufferPointer<Reference>
        /// In the order of the rows.
        let pairs: UnsafeBufferPointer<Pair>
        /// Where each row starts, and where the last one ends.
        let offsets: UnsafeBufferPointer<UInt32>
    }

    /// How long the lists are.
    struct Counts: Sendable {
        /// How many bytes the rows take.
        let bytes: Int
        let rows: Int
        let hashes: Int
        let references: Int
        let pairs: Int
    }

    private let image: SpilledBytes
    private let counts: Counts

    init(image: SpilledBytes, counts: Counts) {
        self.image = image
        self.counts = counts
    }

    var count: Int { counts.rows }
    var pairCount: Int { counts.pairs }
    /// How many bytes the rows take.
    var byteCount: Int { counts.bytes }

    /// Where the lists begin after so many bytes of rows.
    static func lists(after rows: Int) -> Int { (rows + 7) & ~7 }

    /// Roughly what they take in memory, in bytes, or would take.
    var cost: Int { image.count }

    /// Hands out the parts, which are valid until the closure returns. Throws `NSFileReadUnknownError` where they wait in a file that can't be read, and
    /// what the closure throws.
    func withLists<T>(_ body: (Lists) throws -> T) throws -> T {
        try image.withBytes { bytes in
            var place = Self.lists(after: counts.bytes)
            func list<Element: BitwiseCopyable>(_ count: Int, of type: Element.Type) -> UnsafeBufferPointer<Element> {
                let size = count * MemoryLayout<Element>.stride
                defer { place += size }
                return UnsafeRawBufferPointer(rebasing: bytes[place..<place + size]).assumingMemoryBound(to: type)
            }
            let hashes = list(counts.hashes, of: UInt64.self), references = list(counts.references, of: Reference.self)
            let pairs = list(counts.pairs, of: Pair.self)
            return try body(
                Lists(
                    rows: UnsafeRawBufferPointer(rebasing: bytes[..<counts.bytes]), hashes: hashes, references: references, pairs: pairs,
                    offsets: list(counts.rows + 1, of: UInt32.self)))
        }
    }
}
