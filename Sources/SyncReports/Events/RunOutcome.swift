/// How a run ended.
public enum RunOutcome: String, Sendable, Codable {
    /// Every page was fetched or unchanged.
    case succeeded
    /// It ended, but not everything was seen: nothing is concluded from what is missing.
    case incomplete
    case failed
    /// Stopped by a reload, a stop or a time limit.
    case cancelled
    /// The server asked to come back later.
    case parked
}
