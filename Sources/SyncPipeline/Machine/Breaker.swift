import SyncConfiguration
import SyncReports

/// Whether a place is asked that fails. A value; the time is handed in.
///
///     closed ── runs fail in a row ──► open ── its time is over ──► half-open ── one run begins ──► its run works ──► closed
///                                       ▲                                                       └─► it fails: open, twice as long
///                                       └───────────────────────────────────────────────────────────┘
///
/// What opens it is the place's failure, not one resource's: several resources have seen it, or there is only one, or nobody answers at all.
struct Breaker: Sendable, Hashable {
    /// What the end of a run says of the server that it asked.
    enum Evidence: Sendable, Hashable {
        /// Nothing.
        case none
        /// Nothing: it was not asked, since what its place allows itself was used up for as long as the run could wait.
        case waited
        /// It answered.
        case works
        /// It was not to be reached.
        case unreachable
        /// It was reached, and failed: a time limit, a connection that broke, a status of its own failures.
        case fails
        /// It answered, and the answer does not change by asking again.
        case permanent(Int)

        /// Takes in what comes later in the same run. That it waited says nothing against what the server has answered before.
        mutating func take(_ next: Self) {
            if next != .none, next != .waited || self == .none { self = next }
        }
    }

    /// How many runs in a row found that the place fails, since one found that it works.
    private(set) var failures = 0
    /// Who found it first, and whether somebody else did, too.
    private var witness: ResourceScope?
    private var isShared = false
    /// How often it has opened since the place worked: each time it is open twice as long.
    private(set) var openings = 0
    /// Open, or half-open.
    private(set) var isTripped = false
    /// Nobody asks before that.
    private(set) var openUntil: SyncInstant?
    /// The one whose run it has let through last. When that has ended and said nothing, another one is let through.
    private(set) var probe: ResourceScope?

    /// One of which nothing is known.
    init() {}

    /// As the process before left it.
    init(openings: Int, openUntil: SyncInstant?) {
        self.openings = openings
        self.openUntil = openUntil
        isTripped = openings > 0
    }

    /// A run found that the place fails.
    ///
    /// - Parameter isAlone: nobody else asks the place.
    /// - Returns: whether it opens.
    mutating func fail(
        _ scope: ResourceScope, isUnreachable: Bool, isAlone: Bool, _ rules: BreakerConfiguration, at now: SyncInstant
    ) -> Bool {
        failures = min(failures + 1, .max / 2)
        if isTripped {
            // Whoever began before it opened tells nothing new.
            guard probe == scope else { return false }
        } else {
            witness = witness ?? scope
            isShared = isShared || witness != scope
            guard failures >= rules.failures, isUnreachable || isShared || isAlone else { return false }
        }
        openings += 1
        isTripped = true
        probe = nil
        openUntil = now.advanced(by: Self.span(openings, rules))
        return true
    }

    /// The one that was let through has got an answer: the others need not wait until it has read everything. If it fails after all, it opens as if
    /// it had not been answered.
    ///
    /// - Returns: whether anything changes.
    mutating func answer(_ scope: ResourceScope, _ rules: BreakerConfiguration) -> Bool {
        guard isTripped, probe == scope else { return false }
        (isTripped, openUntil, probe) = (false, nil, nil)
        (failures, isShared) = (rules.failures - 1, true)
        return true
    }

    /// A run begins. It is the one that is let through, if only one is.
    mutating func begin(_ scope: ResourceScope) {
        if isTripped { probe = scope }
    }

    /// Its time is over now.
    mutating func halfOpen() { openUntil = nil }

    private static func span(_ openings: Int, _ rules: BreakerConfiguration) -> Duration {
        let longest = rules.maxOpen.duration
        var span = min(rules.openFor.duration, longest)
        // It is there after so many steps whatever it began with.
        for _ in 1..<min(max(openings, 1), 64) where span < longest { span = min(span * 2, longest) }
        return span
    }
}
