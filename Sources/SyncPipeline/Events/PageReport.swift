public import Foundation

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
}
