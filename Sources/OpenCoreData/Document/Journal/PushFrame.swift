import Foundation

/// One entry of the journal as it stands in a file: length and checksum first, so that an entry that was not written to its end is known.
///
///     u32 length of the body   u32 CRC-32 of the body   body: u8 kind, u64 number, payload
struct PushFrame {
    enum Kind: UInt8 {
        /// What a child pushed: a `PushRecordWriter`'s bytes.
        case push = 1
        /// Entries that were thrown away: first, last, and whose rows, or all.
        case forget = 2
    }

    let kind: Kind
    let number: UInt64
    let payload: ArraySlice<UInt8>

    static let overhead = 8 + 9

    static func bytes(_ kind: Kind, _ number: UInt64, _ payload: [UInt8]) -> [UInt8] {
        var body = ByteWriter(reserving: 9)
        body.byte(kind.rawValue)
        body.fixed(number)
        var frame = ByteWriter(reserving: overhead + payload.count)
        frame.fixed(UInt32(9 + payload.count))
        frame.fixed(Checksum.crc32(payload, after: Checksum.crc32(body.bytes)))
        frame.append(body.bytes)
        frame.append(payload)
        return frame.bytes
    }

    /// Why reading ended.
    enum End {
        /// Where an entry ends.
        case whole
        /// In the middle of an entry that was being written when the process ended: nobody was told that it had succeeded.
        case torn
        /// At an entry that is all there but not what was written.
        case damaged
    }

    /// The entries in a file's bytes, as far as they make sense.
    static func read(_ bytes: ArraySlice<UInt8>) -> (frames: [PushFrame], end: End) {
        var frames: [PushFrame] = [], rest = bytes
        while !rest.isEmpty {
            var reader = ByteReader(rest)
            guard let length = try? reader.fixed(UInt32.self), let checksum = try? reader.fixed(UInt32.self),
                let body = try? reader.take(Int(length))
            else { return (frames, .torn) }
            guard length >= 9, Checksum.crc32(body) == checksum, let kind = Kind(rawValue: body[body.startIndex]) else {
                // A file that was made longer but never filled is zeros.
                return (frames, rest.allSatisfy { $0 == 0 } ? .torn : .damaged)
            }
            var header = ByteReader(body.dropFirst())
            guard let number = try? header.fixed(UInt64.self) else { return (frames, .damaged) }
            frames.append(PushFrame(kind: kind, number: number, payload: body.dropFirst(9)))
            rest = rest.dropFirst(8 + Int(length))
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
