public import Foundation

/// A record that was set aside.
public struct QuarantineEntry: Sendable {
    public let digest: String
    public let scope: ResourceScope
    public let run: Int
    public let page: Int
    public let record: Int
    public let reason: String
    public let path: String
    public let raw: String
    public let seenAt: Date?
    public let count: Int
}
