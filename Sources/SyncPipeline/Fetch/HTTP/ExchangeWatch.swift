import SyncConfiguration
import Synchronization

/// Watches the time an exchange takes: from what it is told, it knows which limit runs out when.
///
/// One watch and one timer serve all limits of an exchange, however many buffers arrive.
final class ExchangeWatch: Sendable {
    private struct Sample {
        let instant: SyncInstant
        let received: Int
    }

    private enum Phase {
        /// Waiting for the head of a response, since the request was sent.
        case head(since: SyncInstant)
        /// Inside a body.
        case body(received: Int, last: SyncInstant, samples: [Sample])
        /// Inside a body, and what has arrived is worked on since then.
        case work(received: Int, since: SyncInstant, samples: [Sample])
        /// Nothing is awaited from the server.
        case idle
    }

    private let limits: HTTPConfiguration
    private let end: Mutex<SyncInstant>
    private let phase: Mutex<Phase>

    init(limits: HTTPConfiguration, start: SyncInstant) {
        self.limits = limits
        end = Mutex(start.advanced(by: limits.totalTimeout.duration))
        phase = Mutex(.idle)
    }

    // MARK: What happens

    func sent(at instant: SyncInstant) {
        phase.withLock { $0 = .head(since: instant) }
    }

    func receivedHead(at instant: SyncInstant) {
        phase.withLock { $0 = .body(received: 0, last: instant, samples: [Sample(instant: instant, received: 0)]) }
    }

    func received(_ count: Int, at instant: SyncInstant) {
        phase.withLock { phase in
            guard case .body(let received, _, let samples) = phase, count > 0 else { return }
            phase = .body(received: received + count, last: instant, samples: samples)
        }
    }

    /// What has arrived is worked on: until `resume`, the server is not waited for.
    func suspend(at instant: SyncInstant) {
        phase.withLock { phase in
            guard case .body(let received, _, let samples) = phase else { return }
            phase = .work(received: received, since: instant, samples: samples)
        }
    }

    /// More is awaited from the server.
    func resume(at instant: SyncInstant) {
        phase.withLock { phase in
            guard case .work(let received, let since, let samples) = phase else { return }
            let pause = since.duration(to: instant)
            let shifted = samples.map { Sample(instant: $0.instant.advanced(by: pause), received: $0.received) }
            phase = .body(received: received, last: instant, samples: shifted)
        }
    }

    func ended() {
        phase.withLock { $0 = .idle }
    }

    /// The exchange waits for what is no matter of the server's: that time does not count.
    func postpone(by wait: Duration) { end.withLock { $0 = $0.advanced(by: wait) } }

    private var deadline: SyncInstant { end.withLock { $0 } }

    // MARK: What follows

    /// Sampling the speed four times per span makes the average slide.
    private static let samplesPerSpan = 4

    /// The next instant at which a limit may have run out, seen from `instant`: whatever happens meanwhile, no limit runs out earlier, but for that of the
    /// speed after our own work: there it is noticed a quarter of its span later at most.
    func nextCheck(after instant: SyncInstant) -> SyncInstant {
        let soonest = min(deadline, instant.advanced(by: shortestLimit))
        return phase.withLock { phase in
            switch phase {
            case .idle, .work:
                return soonest
            case .head(let since):
                return min(soonest, since.advanced(by: headTimeout))
            case .body(_, let last, let samples):
                var next = min(soonest, last.advanced(by: limits.idleTimeout.duration))
                if let speed = limits.minSpeed, let newest = samples.last {
                    next = min(next, newest.instant.advanced(by: speed.span.duration / Self.samplesPerSpan))
                }
                return next
            }
        }
    }

    /// A phase that begins after a check runs out no earlier than this long after that check.
    private var shortestLimit: Duration {
        let limit = min(headTimeout, limits.idleTimeout.duration)
        return limits.minSpeed.map { min(limit, $0.span.duration / Self.samplesPerSpan) } ?? limit
    }

    /// The limit that has run out at `instant`, if any.
    func violation(at instant: SyncInstant) -> FetchError? {
        phase.withLock { phase in
            if instant >= deadline { return FetchError(.timeout(.total), detail: "after \(limits.totalTimeout)") }
            switch phase {
            case .idle, .work:
                return nil
            case .head(let since):
                guard instant >= since.advanced(by: headTimeout) else { return nil }
                return FetchError(.timeout(.firstByte), detail: "no complete response head after \(limits.firstByteTimeout)")
            case .body(let received, let last, let samples):
                if instant >= last.advanced(by: limits.idleTimeout.duration) {
                    return FetchError(.timeout(.idle), detail: "silent for \(limits.idleTimeout) after \(received) bytes")
                }
                guard let speed = limits.minSpeed, let newest = samples.last, let oldest = samples.first else { return nil }
                let span = speed.span.duration
                guard newest.instant.duration(to: instant) >= span / Self.samplesPerSpan else { return nil }
                if oldest.instant.duration(to: instant) >= span, received - oldest.received < speed.bytes(in: span) {
                    return FetchError(.timeout(.speed), detail: "less than \(speed)")
                }
                phase = .body(
                    received: received, last: last,
                    samples: samples.suffix(Self.samplesPerSpan - 1) + [Sample(instant: instant, received: received)])
                return nil
            }
        }
    }

    /// The time for connecting comes on top: the transport limits it by itself and does not say when it is over.
    private var headTimeout: Duration {
        limits.connectTimeout.duration + limits.firstByteTimeout.duration
    }
}

/// Looks at a watch whenever a limit may have run out, until one has or it is stopped.
final class ExchangeTimer: Sendable {
    private struct State {
        var call: ScheduledCall?
        var violation: FetchError?
        var isStopped = false
    }

    private let watch: ExchangeWatch
    private let clock: any SyncClock
    private let ranOut: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter ranOut: called once, when a limit has run out.
    init(_ watch: ExchangeWatch, clock: any SyncClock, ranOut: @escaping @Sendable () -> Void) {
        self.watch = watch
        self.clock = clock
        self.ranOut = ranOut
        look()
    }

    /// The limit that has run out.
    var violation: FetchError? { state.withLock { $0.violation } }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.call?.cancel()
            state.call = nil
        }
    }

    private func look() {
        let now = clock.instant
        let violation = state.withLock { state -> FetchError? in
            guard !state.isStopped else { return nil }
            state.violation = watch.violation(at: now)
            state.call = state.violation == nil ? clock.call(at: watch.nextCheck(after: now)) { [weak self] in self?.look() } : nil
            return state.violation
        }
        if violation != nil { ranOut() }
    }
}

extension ExchangeWatch {
    /// Runs `body`, and ends it when a limit runs out; then throws that.
    func limit<Value: Sendable>(_ clock: any SyncClock, _ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try Task.checkCancellation()
        let task = Task.immediate { try await body() }
        let timer = ExchangeTimer(self, clock: clock) { task.cancel() }
        defer { timer.stop() }
        return try await withTaskCancellationHandler {
            switch await task.result {
            case .success(let value): return value
            case .failure(let error): throw timer.violation ?? error
            }
        } onCancel: {
            task.cancel()
        }
    }
}

extension MinimumSpeed {
    fileprivate func bytes(in span: Duration) -> Int {
        let bytes = Double(perSecond.bytes) * span.inSeconds
        return bytes < Double(Int.max / 2) ? Int(bytes) : Int.max / 2
    }
}
