import Crypto
public import Foundation
import JSONReader
public import NIOHTTP1

/// What makes a request conditional: the validators of the response that is already there, byte for byte as the server wrote them.
///
/// A value holds something; where nothing is known there is no value.
public struct ConditionalGET: Sendable, Hashable, Codable {
    /// The `ETag`, quotes and weakness mark included.
    public let etag: String?
    /// The `Last-Modified`, as text.
    public let lastModified: String?
    /// The digest of the body. It is not sent, but tells whether a 200 brought anything new.
    public let bodyDigest: BodyDigest?

    /// Validators as they were stored; nil if there are none.
    public init?(etag: String?, lastModified: String?, bodyDigest: BodyDigest? = nil) {
        guard etag != nil || lastModified != nil || bodyDigest != nil else { return nil }
        self.etag = etag
        self.lastModified = lastModified
        self.bodyDigest = bodyDigest
    }

    /// The validators of a response; nil if it has none.
    ///
    /// A validator that is sent twice with different values, is longer than 1 KiB or did not survive decoding is not believed: it could
    /// only be sent back wrong. Nor is a `Last-Modified` without an `ETag` that is not clearly older than the response: a second has room for two
    /// versions (RFC 9110, 8.8.2.2).
    /// - Parameter receivedAt: stands for the `Date` of a response that has none; now, if it is nil.
    public init?(headers: HTTPHeaders, bodyDigest: BodyDigest? = nil, receivedAt: Date? = nil) {
        let etag = Self.single(headers["ETag"])
        var lastModified = Self.single(headers["Last-Modified"])
        if etag == nil, let text = lastModified {
            let received = receivedAt ?? Date()
            let date = headers.first(name: "Date").flatMap { HTTPDate.parse($0, now: received) } ?? received
            let isOlder = HTTPDate.parse(text, now: received).map { date.timeIntervalSince($0) >= Self.clearlyOlder } ?? false
            if !isOlder { lastModified = nil }
        }
        self.init(etag: etag, lastModified: lastModified, bodyDigest: bodyDigest)
    }

    /// Seconds.
    private static let clearlyOlder: TimeInterval = 2

    private static func single(_ values: [String]) -> String? {
        guard let value = values.first, !value.isEmpty, values.allSatisfy({ $0 == value }), value.utf8.count <= 1024,
            !value.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        return value
    }

    /// Whether a request with it can be answered by 304.
    public var isSent: Bool { etag != nil || lastModified != nil }

    /// Writes the conditions into a request.
    public func apply(to headers: inout HTTPHeaders) {
        if let etag { headers.replaceOrAdd(name: "If-None-Match", value: etag) }
        if let lastModified { headers.replaceOrAdd(name: "If-Modified-Since", value: lastModified) }
    }
}

/// Identifies the content of a page, or a text that is only compared: 32 bytes.
public struct BodyDigest: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The digest of a page: XXH3-128 of its records' hashes, and of what is around them.
    init(records: JSONHash, around envelope: JSONHash) {
        bytes = [records, envelope].flatMap { hash in
            [hash.high, hash.low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }
        }
    }

    /// The digest of a text: SHA-256 of its UTF-8.
    public init(of text: String) {
        bytes = Array(SHA256.hash(data: Array(text.utf8)))
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
