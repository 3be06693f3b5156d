import CZlib
import Foundation
import Glibc

/// A file that only grows at its end, or is cut back.
// Used by one thread at a time: its journal sees to that.
final class PushJournalFile {
    let url: URL
    /// How long the file is, in bytes.
    private(set) var size: Int
    /// Something half-written stands at the end and could not be cut off: nothing may be written behind it.
    private(set) var isBroken = false
    /// Number of the last push in it, or of the last before it.
    var last: UInt64
    private let descriptor: Int32

    /// Makes a file. Throws a POSIX error, also if one of that name is there.
    init(creating url: URL, in place: PushJournalPlace, startingWith header: [UInt8], after last: UInt64) throws {
        self.url = url
        self.last = last
        descriptor = try place.open(url, O_WRONLY | O_EXCL | O_APPEND)
        size = 0
        do {
            try append(header)
        } catch {
            unlink(url.path)
            throw error
        }
    }

    /// A file of an earlier process: nothing is added to it any more.
    init(keeping url: URL, last: UInt64) {
        self.url = url
        self.last = last
        descriptor = -1
        size = 0
        isBroken = true
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether an earlier process left it.
    var isLeft: Bool { descriptor < 0 }

    /// Adds bytes, all or none. Throws a POSIX error.
    func append(_ bytes: [UInt8]) throws {
        let before = size
        do {
            try bytes.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                    if count < 0 && errno == EINTR { continue }
                    written += Int(try Disk.checked("write to \(url.path)") { Int32(truncatingIfNeeded: count) })
                }
            }
            size += bytes.count
        } catch {
            cut(to: before)
            throw error
        }
    }

    /// Returns when the disk has what was written. Throws a POSIX error; what was written since `size` is then cut off again.
    func synchronize(orCutTo size: Int, _ observer: PushJournalObserver) throws {
        do {
            try observer.tell(.synchronize(url))
            _ = try Disk.checked("synchronize \(url.path)") { fdatasync(descriptor) }
        } catch {
            cut(to: size)
            // What a failed fsync leaves on the disk is unknown.
            isBroken = true
            throw error
        }
    }

    func cut(to size: Int) {
        if ftruncate(descriptor, off_t(size)) == 0 { self.size = size } else { isBroken = true }
    }
}

/// What a journal's file says of itself first: which stores its objects are in, and the model by name, so that numbers in entries can be read
/// by whatever numbers the model has then.
package struct PushJournalHeader {
    static let magic: [UInt8] = Array("OCDPUSH\u{2}".utf8)

    struct Entity {
        let number: Int
        let name: String
        let slots: [String]
        let toManys: [String]
    }

    private(set) var stores: [String]
    /// SHA-256 over the version hashes of the model's entities.
    let model: [UInt8]
    let entities: [Entity]

    init(coordinator: NSPersistentStoreCoordinator) {
        stores = coordinator.persistentStores.compactMap(\.identity.uuid)
        model = SHA256.hash(ofVersionHashes: coordinator.managedObjectModel.entityVersionHashesByName)
        entities = coordinator.managedObjectModel.entities.map { entity in
            Entity(
                number: entity.layout.number, name: entity.name ?? "", slots: entity.layout.names,
                toManys: entity.layout.toManys.map(\.name))
        }
    }

    /// The same for stores that have other UUIDs: the old ones lead to the new ones.
    func renamed(_ uuids: [String: String]) -> PushJournalHeader {
        var header = self
        header.stores = stores.map { uuids[$0] ?? $0 }
        return header
    }

    /// The magic, and the rest sealed.
    var bytes: [UInt8] {
        var body = ByteWriter()
        body.number(stores.count)
        for store in stores { body.string(store) }
        body.append(model)
        body.number(entities.count)
        for entity in entities {
            body.number(entity.number)
            body.string(entity.name)
            for names in [entity.slots, entity.toManys] {
                body.number(names.count)
                for name in names { body.string(name) }
            }
        }
        var result = ByteWriter()
        result.append(Self.magic)
        SealedBytes.write(body.bytes, to: &result)
        return result.bytes
    }

    /// The header of a file and where its entries begin. Nil: the file ends before its header does. Throws if it is something else.
    package static func read(_ bytes: [UInt8]) throws -> (header: PushJournalHeader, end: Int)? {
        guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else { throw ByteReader.Malformed() }
        var reader = ByteReader(bytes[...])
        guard (try? reader.take(magic.count)) != nil else { return nil }
        switch SealedBytes.read(&reader) {
        case .torn: return nil
        case .damaged: throw ByteReader.Malformed()
        case .whole(let body):
            var fields = ByteReader(body)
            return (try PushJournalHeader(&fields), body.endIndex)
        }
    }

    private init(_ reader: inout ByteReader) throws {
        stores = try (0..<reader.count()).map { _ in try reader.string() }
        model = Array(try reader.take(32))
        entities = try (0..<reader.count()).map { _ in
            guard let number = Int(exactly: try reader.number()) else { throw ByteReader.Malformed() }
            let name = try reader.string()
            let slots = try (0..<reader.count()).map { _ in try reader.string() }
            return Entity(number: number, name: name, slots: slots, toManys: try (0..<reader.count()).map { _ in try reader.string() })
        }
    }

    /// Why entries under this header can't be applied to what is open; nil: they can.
    func refusal(by coordinator: NSPersistentStoreCoordinator) -> String? {
        if model != SHA256.hash(ofVersionHashes: coordinator.managedObjectModel.entityVersionHashesByName) {
            return "it was written with another version of the model"
        }
        let open = coordinator.persistentStores.compactMap(\.identity.uuid)
        if let missing = stores.first(where: { !open.contains($0) }) { return "it belongs to the store \(missing), which is not open" }
        return nil
    }
}

/// One entry of the journal as it stands in a file, sealed: u8 kind, u64 number, payload.
package struct PushFrame {
    package enum Kind: UInt8 {
        /// What a child pushed: a `PushRecordWriter`'s bytes.
        case push = 1
        /// Entries that were thrown away: first, last, and whose rows, or all.
        case forget = 2
        /// Objects that turned out to be others: a `PushRecordWriter`'s bytes.
        case turn = 3
    }

    package let kind: Kind
    package let number: UInt64
    package let payload: ArraySlice<UInt8>

    static let overhead = SealedBytes.overhead + 9
    /// No journal ever gets there; numbers beyond could not be counted on.
    private static let highestNumber: UInt64 = 1 << 62

    package static func bytes(_ kind: Kind, _ number: UInt64, _ payload: [UInt8]) -> [UInt8] {
        var head = ByteWriter(reserving: 9)
        head.byte(kind.rawValue)
        head.fixed(number)
        var frame = ByteWriter(reserving: overhead + payload.count)
        SealedBytes.write(head.bytes, payload, to: &frame)
        return frame.bytes
    }

    /// Why reading ended.
    package enum End {
        /// Where an entry ends.
        case whole
        /// In the middle of an entry that was being written when the process ended: nobody was told that it had succeeded.
        case torn
        /// At an entry that is all there but not what was written.
        case damaged
    }

    /// The entries in a file's bytes, as far as they make sense.
    package static func read(_ bytes: ArraySlice<UInt8>) -> (frames: [PushFrame], end: End) {
        var frames: [PushFrame] = [], reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let rest = reader.rest
            switch SealedBytes.read(&reader) {
            case .torn: return (frames, .torn)
            // A file that was made longer but never filled is zeros.
            case .damaged: return (frames, rest.allSatisfy { $0 == 0 } ? .torn : .damaged)
            case .whole(let body):
                var fields = ByteReader(body)
                guard let kind = (try? fields.byte()).flatMap(Kind.init), let number: UInt64 = try? fields.fixed(), number <= highestNumber
                else { return (frames, .damaged) }
                frames.append(PushFrame(kind: kind, number: number, payload: fields.rest))
            }
        }
        return (frames, .whole)
    }
}

/// Entries that do not count any more: all of them, or what they say of some rows.
struct PushForget {
    let entries: ClosedRange<UInt64>
    /// By store's UUID, entity and key; nil: everything.
    let ids: Set<NSManagedObjectID>?
}

/// Bytes with their length and checksums before them, so that it is known if they were not written to their end, or are not what was written.
///
///     u32 length   u32 CRC-32 of the bytes   u32 CRC-32 of these eight bytes   the bytes
///
/// The length has a checksum of its own: a damaged one that leads beyond the file's end would look like bytes that were never written.
enum SealedBytes {
    static let overhead = 12

    enum Contents {
        case whole(ArraySlice<UInt8>)
        /// They end early: they were being written when the process ended.
        case torn
        /// Not what was written.
        case damaged
    }

    /// Writes two pieces as one.
    static func write(_ first: [UInt8], _ second: [UInt8] = [], to writer: inout ByteWriter) {
        var prefix = ByteWriter(reserving: overhead)
        prefix.fixed(UInt32(first.count + second.count))
        prefix.fixed(checksum(second, after: checksum(first)))
        prefix.fixed(checksum(prefix.bytes))
        writer.append(prefix.bytes)
        writer.append(first)
        writer.append(second)
    }

    static func read(_ reader: inout ByteReader) -> Contents {
        guard let prefix = try? reader.take(8), let seal: UInt32 = try? reader.fixed() else { return .torn }
        var fields = ByteReader(prefix)
        guard checksum(prefix) == seal, let length: UInt32 = try? fields.fixed(), let expected: UInt32 = try? fields.fixed() else {
            return .damaged
        }
        guard let bytes = try? reader.take(Int(length)) else { return .torn }
        return checksum(bytes) == expected ? .whole(bytes) : .damaged
    }

    private static func checksum(_ bytes: some ContiguousBytes, after earlier: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            // Without an address zlib answers what it begins with, whatever was before.
            guard let start = bytes.baseAddress else { return earlier }
            return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), start.assumingMemoryBound(to: Bytef.self), bytes.count))
        }
    }
}
