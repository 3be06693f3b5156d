extension JSONRawValue {
    /// The hash of what the text says: the same for the members of objects in any order and for any white space between. Texts and numbers count as they
    /// are written: `1.0` is not `1`.
    public var contentHash: JSONHash {
        withBytes { bytes in
            var hasher = ContentHasher(bytes: bytes)
            return hasher.value()
        }
    }
}

/// Goes over the bytes of one value of JSON that has been read, and is well-formed. Other bytes have a hash, too, which says nothing.
private struct ContentHasher {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func value() -> JSONHash {
        skipSpace()
        return switch next {
        case UInt8(ascii: "{"): object()
        case UInt8(ascii: "["): array()
        case UInt8(ascii: "\""): text()
        default: word()
        }
    }

    private mutating func object() -> JSONHash {
        position += 1
        var members: [(name: JSONHash, value: JSONHash)] = []
        while let byte = find(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "}") }), byte != UInt8(ascii: "}") {
            let name = text()
            _ = find { $0 == UInt8(ascii: ":") }
            position += 1
            members.append((name, value()))
        }
        position += 1
        members.sort { ($0.name.high, $0.name.low, $0.value.high, $0.value.low) < ($1.name.high, $1.name.low, $1.value.high, $1.value.low) }
        return Self.hash(of: UInt8(ascii: "{"), members.flatMap { [$0.name, $0.value] })
    }

    private mutating func array() -> JSONHash {
        position += 1
        var elements: [JSONHash] = []
        while true {
            skipSpace()
            guard let byte = next, byte != UInt8(ascii: "]") else { break }
            if byte == UInt8(ascii: ",") { position += 1 } else { elements.append(value()) }
        }
        position += 1
        return Self.hash(of: UInt8(ascii: "["), elements)
    }

    /// A text with its quotes.
    private mutating func text() -> JSONHash {
        let start = position
        position += 1
        while let byte = next, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        position += 1
        return hash(from: start)
    }

    /// A number, or `true`, `false` or `null`.
    private mutating func word() -> JSONHash {
        let start = position
        // Whatever it is, it is something: nobody waits for ever.
        position += 1
        while let byte = next, !Self.isSpace(byte), !",]}".utf8.contains(byte) { position += 1 }
        return hash(from: start)
    }

    private func hash(from start: Int) -> JSONHash {
        JSONHash(of: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[min(start, bytes.count)..<min(position, bytes.count)]))
    }

    private static func hash(of kind: UInt8, _ parts: [JSONHash]) -> JSONHash {
        ([UInt64(kind)] + parts.flatMap { [$0.high.littleEndian, $0.low.littleEndian] }).withUnsafeBytes { JSONHash(of: $0) }
    }

    private mutating func find(where isMeant: (UInt8) -> Bool) -> UInt8? {
        while let byte = next, !isMeant(byte) { position += 1 }
        return next
    }

    private mutating func skipSpace() {
        while let byte = next, Self.isSpace(byte) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
