/// The encoding of certificates and keys (X.690), as far as it is needed to say what they are: elements one behind the other.
enum DER {
    /// Takes one element off the front; nil if there is none that is whole.
    static func next<Bytes: RandomAccessCollection>(_ bytes: inout Bytes) -> (tag: UInt8, content: Bytes)?
    where Bytes.Element == UInt8, Bytes.SubSequence == Bytes {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return (tag, bytes.prefix(length))
    }
}
