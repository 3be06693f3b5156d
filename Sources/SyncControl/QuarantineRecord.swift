import Foundation

/// A record that was set aside because it could not be mapped, with the reason.
public struct QuarantineRecord: Sendable, Hashable, Codable {
    /// Names the record: equal records of a resource have equal ids.
    public var id: String
    public var scope: String
    /// The number of the run, counted for each resource.
    public var run: Int
    public var page: Int
    /// Its position in the page, from 0.
    public var record: Int?
    public var reason: String
    /// Where in the record the trouble is: `$.owner.id`.
    public var path: String?
    /// The record as it came; what is not UTF-8 is shown as U+FFFD.
    public var raw: String?
    public var seenAt: Date
    /// How often it was met.
    public var count: Int

    public init(
        id: String, scope: String, run: Int, page: Int, record: Int? = nil, reason: String, path: String? = nil, raw: String? = nil,
        seenAt: Date, count: Int = 1
    ) {
        self.id = id
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

    enum CodingKeys: String, CodingKey {
        case id, scope, run, page, record, reason, path, raw, count
        case seenAt = "seen_at"
    }
}
