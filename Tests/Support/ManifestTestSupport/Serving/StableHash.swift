/// FNV-1a: the same number for the same text on every machine.
enum StableHash {
    static func of(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 {
            hash ^= UInt64(byte)
            hash &*= 0x100_0000_01B3
        }
        return hash
    }

    /// A number from 0 up to, and without, `count`.
    static func number(_ text: String, below count: Int) -> Int { Int((of(text) >> 8) % UInt64(count)) }
}
