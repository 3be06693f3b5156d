import Crypto

/// The SHA-256 of a decompressed body, or of any other text that is only compared.
public struct BodyDigest: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The digest of `content`.
    public init(of content: [UInt8]) {
        var hash = SHA256()
        content.withUnsafeBytes { hash.update(bufferPointer: $0) }
        bytes = Array(hash.finalize())
    }

    /// The digest of a text's UTF-8.
    public init(of text: String) {
        self.init(of: Array(text.utf8))
    }

    /// A stored digest; nil if there are not 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == SHA256.byteCount else { return nil }
    }

    /// In hexadecimal.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
