import SyncConfiguration

/// How many requests may go out, and when the next one may. A value; the time is handed in.
///
/// A bucket of tokens fills evenly, one token for each request, so that after a rest a few may go out at once and the others follow at even
/// distances; and the last requests are remembered, so that in no span of `per` there are more than `requests`, bursts included.
struct RateBudget: Sendable {
    /// What is configured of it.
    struct Limit: Sendable, Hashable {
        let requests: Int
        let per: Duration
        /// How many tokens the bucket holds.
        let burst: Int

        init(requests: Int, per: Duration, burst: Int) {
            self.requests = max(requests, 1)
            self.per = per
            self.burst = min(max(burst, 1), self.requests)
        }

        /// Nil: requests are not counted.
        init?(_ rate: RateConfiguration) {
            guard rate.requests > 0 else { return nil }
            self.init(requests: rate.requests, per: rate.per.duration, burst: rate.burst)
        }

        /// The time in which one token comes.
        var interval: Duration { per / requests }
    }

    let limit: Limit
    /// When the bucket is full if nothing more is taken.
    private var full: SyncInstant
    /// When the last requests went out, as many as a span may have; once there are so many, `oldest` is the place of the first of them.
    private var sent: [SyncInstant] = []
    private var oldest = 0

    /// - Parameter isUnused: nobody has asked yet, and the bucket is full. Otherwise nobody knows what another process, or another budget, has let
    ///   out until now, and it counts as the most that may have been: a burst, and then one request after the other. The first one waits for
    ///   `burst + 1` tokens then.
    init(_ limit: Limit, isUnused: Bool, at now: SyncInstant) {
        self.limit = limit
        full = isUnused ? now : now.advanced(by: limit.interval * (2 * limit.burst))
    }

    /// When the next request may go out: `now`, or later.
    func next(at now: SyncInstant) -> SyncInstant {
        var next = max(now, full.advanced(by: limit.interval * (1 - limit.burst)))
        if sent.count == limit.requests { next = max(next, sent[oldest].advanced(by: limit.per)) }
        return next
    }

    /// A request goes out at that time, which is not before `next`.
    mutating func take(at time: SyncInstant) {
        full = max(full, time).advanced(by: limit.interval)
        if sent.count < limit.requests {
            sent.append(time)
        } else {
            sent[oldest] = time
            oldest = (oldest + 1) % limit.requests
        }
    }
}
