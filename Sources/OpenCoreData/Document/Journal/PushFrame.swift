import Foundation

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
