import CSimdJSON

/// A 128-bit XXH3 hash: the same for the same bytes, on every machine and in every version. Tells "as last time" from "changed"; it
/// does not protect against somebody who wants two different texts to look the same.
public struct JSONHash: Sendable, Hashable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash of some bytes.
    public init(of bytes: UnsafeRawBufferPointer) {
        let hash = csj_hash(bytes.baseAddress, bytes.count)
        self.init(high: hash.high, low: hash.low)
    }

    /// The hash of a whole body, for "the same body as last time".
    public init(of body: [UInt8]) {
        self = body.withUnsafeBytes { JSONHash(of: $0) }
    }
}

extension JSONHash: CustomStringConvertible {
    /// 32 hexadecimal digits.
    public var description: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
