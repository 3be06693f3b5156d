public import Foundation

/// A record that was set aside because it could not be mapped, with the reason.
public struct QuarantineEntry: Sendable, Hashable {
    /// Names the record: equal records of a resource have equal ones.
    public let digest: String
    /// The resource that sent the record.
    public let scope: ResourceScope
    /// The number of the run, counted for each resource.
    public let run: Int
    /// The page of that run it came on, from 1.
    public let page: Int
    /// Its position in the page, from 0.
    public let record: Int
    /// Why it was set aside: one line, with secrets masked.
    public let reason: String
    /// Where in the record the trouble is: `$.owner.id`; empty where it is no place in it.
    public let path: String
    /// The record as it came; what is not UTF-8 is shown as U+FFFD.
    public let raw: String
    /// When it was last met. ``run``, ``page`` and ``record`` are of that time too.
    public let seenAt: Date
    /// How often it was met.
    public let count: Int

    /// An entry as it is given. Empty `path` and `raw` are left out in JSON.
    public init(
        digest: String, scope: ResourceScope, run: Int, page: Int, record: Int, reason: String, path: String = "", raw: String = "", seenAt: Date,
        count: Int = 1
    ) {
        self.digest = digest
        self.scope = scope
        self.run = run
        self.page = page
        self.record = record
        self.reason = reason
        self.path = path
        self.raw = raw
        self.seenAt = seenAt
        self.count = count
    }
}

extension QuarantineEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case scope, run, page, record, reason, path, raw, count
        case digest = "id"
        case seenAt = "seen_at"
    }

    /// A missing `path` or `raw` is empty. Throws `DecodingError` if anything else is missing.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            digest: try values.decode(String.self, forKey: .digest), scope: try values.decode(ResourceScope.self, forKey: .scope),
            run: try values.decode(Int.self, forKey: .run), page: try values.decode(Int.self, forKey: .page),
            record: try values.decode(Int.self, forKey: .record), reason: try values.decode(String.self, forKey: .reason),
            path: try values.decodeIfPresent(String.self, forKey: .path) ?? "", raw: try values.decodeIfPresent(String.self, forKey: .raw) ?? "",
            seenAt: try values.decode(Date.self, forKey: .seenAt), count: try values.decode(Int.self, forKey: .count))
    }

    /// What is empty is left out.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(digest, forKey: .digest)
        try values.encode(scope, forKey: .scope)
        try values.encode(run, forKey: .run)
        try values.encode(page, forKey: .page)
        try values.encode(record, forKey: .record)
        try values.encode(reason, forKey: .reason)
        if !path.isEmpty { try values.encode(path, forKey: .path) }
        if !raw.isEmpty { try values.encode(raw, forKey: .raw) }
        try values.encode(seenAt, forKey: .seenAt)
        try values.encode(count, forKey: .count)
    }
}
