/// The type of a body as its `Content-Type` header names it, without parameters: `application/json`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// Before the slash, in lower case.
    public let type: String
    /// After the slash, in lower case.
    public let subtype: String

    /// Reads a header value or a pattern; nil if it is not `type/subtype`.
    public init?(_ text: String) {
        let essence = text.prefix { $0 != ";" }
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false).map { part in
            String(part.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(",") }) else { return nil }
        (type, subtype) = (parts[0], parts[1])
    }

    /// Whether this type fits a pattern such as `application/json`, `application/*+json` or `text/*`.
    public func matches(_ pattern: MediaType) -> Bool {
        Self.fits(type, pattern.type) && Self.fits(subtype, pattern.subtype)
    }

    /// `type/subtype`.
    public var description: String { "\(type)/\(subtype)" }

    private static func fits(_ text: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return text == pattern }
        // What the star stands for is not empty: "application/+json" is no type.
        return text.utf8.count > parts[0].utf8.count + parts[1].utf8.count && text.hasPrefix(parts[0]) && text.hasSuffix(parts[1])
    }
}
