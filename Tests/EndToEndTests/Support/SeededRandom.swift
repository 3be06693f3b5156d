import Foundation

/// A small generator with a known seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    /// What CISTERN_SEED says, so that a run can be repeated, or any.
    static let seed = ProcessInfo.processInfo.environment["CISTERN_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)

    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Once in so many times.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    mutating func one<T>(of values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }
}
