/// The slowest answer that is put up with: `"256B/s over 30s"`. A body that arrives slower, averaged over the span, is given up.
public struct MinimumSpeed: Sendable, Hashable, CustomStringConvertible {
    /// Bytes per second, at least one.
    public var perSecond: ByteCount
    /// The span the average is taken over.
    public var span: TimeSpan

    public init(perSecond: ByteCount, over span: TimeSpan) {
        self.perSecond = perSecond
        self.span = span
    }

    public var description: String { "\(perSecond)/s over \(span)" }

    /// Reads `"256B/s over 30s"`.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[1] == "over", words[0].hasSuffix("/s"),
            let perSecond = ByteCount(String(words[0].dropLast(2))), perSecond > .zero,
            let span = TimeSpan(String(words[2])), span > .zero
        else { return nil }
        self.init(perSecond: perSecond, over: span)
    }
}
