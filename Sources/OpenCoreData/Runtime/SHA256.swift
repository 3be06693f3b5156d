/// SHA-256 (FIPS 180-4) of a sequence of bytes. For version hashes of models: a few kilobytes at a time.
enum SHA256 {
    static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
        var bytes = Array(message)
        let bitCount = UInt64(bytes.count) * 8
        bytes.append(0x80)
        while bytes.count % 64 != 56 { bytes.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift))) }

        var state = initial
        var words = [UInt32](repeating: 0, count: 64)
        for block in stride(from: 0, to: bytes.count, by: 64) {
            for index in 0..<16 {
                let at = block + index * 4
                words[index] =
                    UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8 | UInt32(bytes[at + 3])
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let low = rotated(early, 7) ^ rotated(early, 18) ^ (early >> 3)
                let high = rotated(late, 17) ^ rotated(late, 19) ^ (late >> 10)
                words[index] = words[index - 16] &+ low &+ words[index - 7] &+ high
            }
            compress(words, into: &state)
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    private static func compress(_ words: [UInt32], into state: inout [UInt32]) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let mixed = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let first = h &+ mixed &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
            let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ word: UInt32, _ by: UInt32) -> UInt32 { word >> by | word << (32 - by) }

    /// The first primes' square roots (initial state) and cube roots (constants): the first 32 bits of their fractions, computed in integers.
    private static let primes: [UInt64] = Array((2...311).lazy.filter { candidate in !(2..<candidate).contains { candidate % $0 == 0 } })
    private static let initial: [UInt32] = primes.prefix(8).map { fraction(of: $0, power: 2) }
    private static let constants: [UInt32] = primes.map { fraction(of: $0, power: 3) }

    /// The largest r with (r / 2³²)^power ≤ prime, less its whole part.
    private static func fraction(of prime: UInt64, power: Int) -> UInt32 {
        var low: UInt64 = 0, high: UInt64 = 32 << 32
        while high - low > 1 {
            let middle = (low + high) / 2
            if isAtMost(middle, prime, power: power) { low = middle } else { high = middle }
        }
        return UInt32(truncatingIfNeeded: low)
    }

    private static func isAtMost(_ root: UInt64, _ prime: UInt64, power: Int) -> Bool {
        var product = UInt128(root)
        for _ in 1..<power { product *= UInt128(root) }
        return product <= UInt128(prime) << UInt128(32 * power)
    }
}
