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
    /// only be sent back wrong.
    public init?(headers: HTTPHeaders, bodyDigest: BodyDigest? = nil) {
        self.init(
            etag: Self.single(headers["ETag"]), lastModified: Self.single(headers["Last-Modified"]), bodyDigest: bodyDigest)
    }

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
