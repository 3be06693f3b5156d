public import Foundation

/// A page that was fetched, parsed and saved into the main context.
public struct PageReport: Sendable, Hashable {
    public let scope: ResourceScope
    public let run: UUID
    /// 1-based.
    public let page: Int
    public let url: String
    public let status: Int
    public let bytes: Int
    public let counts: RecordCounts
    public let duration: Duration

    public init(
        scope: ResourceScope, run: UUID, page: Int, url: String, status: Int, bytes: Int, counts: RecordCounts, duration: Duration
    ) {
        self.scope = scope
        self.run = run
        self.page = page
        self.url = url
        self.status = status
        self.bytes = bytes
        self.counts = counts
        self.duration = duration
    }
}
