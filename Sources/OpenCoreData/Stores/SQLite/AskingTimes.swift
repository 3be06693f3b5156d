/// When to ask about something of which only signs are seen, and those before it happens: at once, and then again, ever later, until long after the
/// last sign. However many signs come, it is not asked more often than the first of the delays says. In nanoseconds of one clock.
struct AskingTimes: Sendable {
    /// After a sign. The last is as long as a commit may take from its first byte to its end.
    private static let delays: [UInt64] = [20, 100, 500, 2000, 8000].map { $0 * 1_000_000 }

    private var lastSign: UInt64 = 0
    private var lastAsked: UInt64?
    /// When to ask next; nil: not before there is another sign.
    private(set) var next: UInt64?

    /// There was a sign.
    ///
    /// - Returns: whether to ask now; `next` is later in any case.
    mutating func sawSign(at now: UInt64) -> Bool {
        lastSign = now
        if let lastAsked, now < lastAsked + Self.delays[0] {
            // What was asked a moment ago is not asked for each of many signs, and they don't put it off.
            next = min(next ?? .max, lastAsked + Self.delays[0])
            return false
        }
        asks(at: now)
        return true
    }

    /// It is asked now.
    mutating func asks(at now: UInt64) {
        lastAsked = now
        next = Self.delays.first { lastSign + $0 > now }.map { max(lastSign + $0, now + Self.delays[0]) }
    }
}
