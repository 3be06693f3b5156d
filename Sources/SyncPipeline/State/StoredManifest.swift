import Foundation
import JSONReader
import OpenCoreData

/// Manifests that outlive the process, each in rows of so many records that a change of some does not write all of them anew. Used on the context's queue.
enum StoredManifest {
    /// How many rows are looked up at once.
    private static let rowsAtOnce = 32

    /// The manifest of a page.
    ///
    /// - Parameters:
    ///   - count: how many records it has, as the page's own row says.
    ///   - spill: where it waits if it is too much for the memory.
    /// - Returns: nil where that is not what is stored, or it is damaged: then there is none.
    static func load(
        count: Int, of scope: ResourceScope, page request: String, spill: BlockSpill? = nil, in worker: NSManagedObjectContext
    ) throws -> Manifest? {
        var manifest = Manifest(in: spill)
        for numbers in groups(of: count) {
            let rows = try existing(numbers, of: scope, page: request, in: worker)
            guard rows.count == numbers.count else { return nil }
            for row in rows.sorted(by: { $0.piece < $1.piece }) {
                guard let piece = row.records.flatMap({ Manifest.Piece($0) }) else { return nil }
                manifest.append(piece)
            }
        }
        return manifest.count == count ? manifest : nil
    }

    /// The numbers of the pieces of so many records, from the piece `first` on, those together that are looked up at once. Lazily: what a row says of their
    /// number may be anything.
    private static func groups(of count: Int, from first: Int = 0) -> some Sequence<Range<Int>> {
        let pieces = (count + Manifest.pieceSize - 1) / Manifest.pieceSize
        return stride(from: first, to: pieces, by: rowsAtOnce).lazy.map { $0..<min($0 + rowsAtOnce, pieces) }
    }

    private static func existing(
        _ pieces: Range<Int>, of scope: ResourceScope, page request: String, in worker: NSManagedObjectContext
    ) throws -> [StateRow<ManifestTable>] {
        try StateRow.existing(keys: pieces.map { ["\(scope)", request, $0] }, in: worker)
    }

    /// The manifests of some pages that have one piece each, by page; damaged ones are left out.
    static func load(of scope: ResourceScope, pages: [String], in worker: NSManagedObjectContext) throws -> [String: Manifest] {
        try StateRow<ManifestTable>.existing(keys: pages.map { ["\(scope)", $0, 0] }, in: worker).reduce(into: [:]) { manifests, row in
            manifests[row.request] = row.records.flatMap { Manifest.Piece($0) }.map { piece in
                var manifest = Manifest()
                manifest.append(piece)
                return manifest
            }
        }
    }

    /// Stores a manifest in place of the one before; an empty one: forgets it. Only what differs is written.
    ///
    /// - Parameters:
    ///   - known: how many records the one before has, as the page's own row says; 0: there is none.
    ///   - isUnstored: nothing is stored of the page.
    static func set(
        _ manifest: Manifest, over known: Int, of scope: ResourceScope, page request: String, isUnstored: Bool, in worker: NSManagedObjectContext
    ) throws {
        if manifest.pieceCount == 1 {
            var row: StateRow<ManifestTable> =
                try isUnstored ? StateRow(newKey: "\(scope)", request, 0, in: worker) : .find(key: "\(scope)", request, 0, in: worker)
            row.records = try manifest.piece(0).data
            row.write(in: worker)
        } else {
            try setPieces(manifest, over: known, of: scope, page: request, in: worker)
        }
        for numbers in groups(of: known, from: manifest.pieceCount) {
            let rows = try existing(numbers, of: scope, page: request, in: worker)
            if rows.isEmpty { break }
            for row in rows { row.delete(in: worker) }
        }
    }

    private static func setPieces(
        _ manifest: Manifest, over known: Int, of scope: ResourceScope, page request: String, in worker: NSManagedObjectContext
    ) throws {
        // New ones come in blocks, since those need not stay in memory.
        var new = try StateRows<ManifestTable>(into: worker)
        for numbers in groups(of: manifest.count) {
            let stored = try known > 0 ? existing(numbers, of: scope, page: request, in: worker) : []
            let rows = Dictionary(stored.map { ($0.piece, $0) }) { $1 }
            for number in numbers {
                var row: StateRow<ManifestTable> = try rows[number] ?? StateRow(newKey: "\(scope)", request, number, in: worker)
                row.records = try manifest.piece(number).data
                if row.isNew { try new.add(row) } else { row.write(in: worker) }
            }
        }
        try new.finish()
    }

    /// Forgets the manifests of all pages whose records are of an entity: another resource writes its rows, too.
    static func forget(entity: String, in worker: NSManagedObjectContext) throws {
        try forget([.isNot(\.manifest, 0)], in: worker) { ModelMapping.entity(ofFingerprint: $0.mapping) == entity }
    }

    /// Forgets the manifests of a resource's pages.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    static func forget(_ scope: ResourceScope, in worker: NSManagedObjectContext) throws -> Bool {
        try forget([.isEqual(\.scope, "\(scope)"), .isNot(\.manifest, 0)], in: worker) { _ in true }
    }

    @discardableResult
    private static func forget(
        _ chosen: [RowCondition<RequestTable>], in worker: NSManagedObjectContext, where isMeant: (StateRow<RequestTable>) -> Bool
    ) throws -> Bool {
        var hadAny = false
        for var row in try StateRow<RequestTable>.all(where: chosen, in: worker) where row.manifest > 0 && isMeant(row) {
            try delete(ofPage: row.request, scope: row.scope, in: worker)
            row.manifest = 0
            row.write(in: worker)
            hadAny = true
        }
        return hadAny
    }

    /// Deletes the manifest of a page that is forgotten.
    static func delete(ofPage request: String, scope: String, in worker: NSManagedObjectContext) throws {
        for row in try StateRow<ManifestTable>.all(where: [.isEqual(\.scope, scope), .isEqual(\.request, request)], in: worker) {
            row.delete(in: worker)
        }
    }
}

/// The compact form: the number of the version; how many records there are; the hash of each; the difference of each key from the one before (the first:
/// from 0), zigzag, seven bits a byte, the top bit says that another byte follows; a check sum. Numbers have eight bytes, the lowest first.
extension Manifest.Piece {
    private static let version: UInt8 = 1
    private static let numberLength = 8

    var data: Data {
        var bytes: [UInt8] = [Self.version]
        bytes.reserveCapacity(1 + 2 * Self.numberLength + hashes.count * (Self.numberLength + 2))
        Self.append(UInt64(hashes.count), to: &bytes)
        for hash in hashes { Self.append(hash, to: &bytes) }
        var last: Int64 = 0
        for key in keys {
            let difference = key &- last
            last = key
            var rest = UInt64(bitPattern: difference << 1 ^ difference >> 63)
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        Self.append(bytes.withUnsafeBytes { JSONHash(of: $0).low }, to: &bytes)
        return Data(bytes)
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift)))) }
    }

    /// Reads the compact form; nil if it is damaged, or of a later version.
    init?(_ data: Data) {
        guard let piece = data.withUnsafeBytes(Self.read) else { return nil }
        self = piece
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> Manifest.Piece? {
        func number(at offset: Int) -> UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        let end = bytes.count - numberLength, begin = 1 + numberLength
        guard end >= begin, bytes[0] == version, number(at: end) == JSONHash(of: UnsafeRawBufferPointer(rebasing: bytes[..<end])).low else {
            return nil
        }
        // Each record has a byte of its key at least.
        guard let count = Int(exactly: number(at: 1)), count <= (end - begin) / (numberLength + 1) else { return nil }
        var piece = Manifest.Piece(), last: Int64 = 0, value: UInt64 = 0, shift: UInt64 = 0
        for place in begin + count * numberLength..<end {
            guard shift < 64, piece.hashes.count < count else { return nil }
            value |= UInt64(bytes[place] & 0x7f) << shift
            shift += 7
            guard bytes[place] & 0x80 == 0 else { continue }
            last &+= Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
            piece.hashes.append(number(at: begin + piece.hashes.count * numberLength))
            piece.keys.append(last)
            (value, shift) = (0, 0)
        }
        return shift == 0 && piece.hashes.count == count ? piece : nil
    }
}
