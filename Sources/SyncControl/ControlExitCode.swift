/// The exit statuses of `cisternctl`. A status comes from a count, never from the absence of an error.
public enum ControlExitCode: Int32, Sendable, Hashable, Codable, CaseIterable {
    /// Done; for `status`: everything is current.
    case success = 0
    /// Unexpected.
    case failure = 1
    /// Bad command line, or bad parameters of a route.
    case usage = 64
    /// Bad input.
    case dataError = 65
    /// The daemon cannot be reached; for `sync --wait`: the remote side is down.
    case unavailable = 69
    /// An internal error.
    case software = 70
    /// The disk reported an error.
    case ioError = 74
    /// Not now: `status` found something that is not current, or a poll did not take place yet.
    case temporaryFailure = 75
    /// `sync --wait`: the answers were bad or incomplete.
    case protocolError = 76
    /// The socket or the credentials were refused.
    case noPermission = 77
    /// Configuration or model refused.
    case configuration = 78

    /// The status of `sync --wait`: what needs human intervention comes first.
    /// - Parameter expected: how many resources were to be polled. Fewer runs than that: not everything was polled.
    public static func sync(_ runs: [RunReport], expected: Int) -> ControlExitCode {
        let codes = Set(runs.map(run))
        for code in [noPermission, protocolError, unavailable, ioError, temporaryFailure] where codes.contains(code) { return code }
        return runs.count < expected ? .temporaryFailure : .success
    }

    /// The status of `replay --wait`: nothing is the fault of a server.
    /// - Parameter expected: of how many resources bodies were to be mapped.
    public static func replay(_ runs: [RunReport], expected: Int) -> ControlExitCode {
        if runs.contains(where: { $0.outcome == .failed && $0.failure == .store }) { return .ioError }
        if runs.contains(where: { $0.outcome == .failed }) { return .dataError }
        return runs.count < expected || runs.contains { $0.outcome != .succeeded } ? .temporaryFailure : .success
    }

    private static func run(_ run: RunReport) -> ControlExitCode {
        switch run.outcome {
        case .succeeded: .success
        case .incomplete: .protocolError
        case .cancelled, .parked: .temporaryFailure
        case .failed where run.failure == .store: .ioError
        case .failed:
            switch run.httpStatus {
            case 401, 403, 407: .noPermission
            case nil: .unavailable
            case 408, 425, 429: .unavailable
            case let status? where status >= 500: .unavailable
            default: .protocolError
            }
        }
    }

    /// The status of `status`: 75 if any resource is not current, the first run of one is still open, the document cannot be saved, or the
    /// daemon says that something is wrong.
    public static func status(_ snapshot: StatusSnapshot) -> ControlExitCode {
        let stale = snapshot.resources.count { resource in
            switch resource.health {
            case .degraded, .pending: true
            case .running: resource.lastSuccess == nil
            case .ok, .paused, .disabled: false
            }
        }
        let broken = snapshot.document.error == nil && snapshot.daemon.degraded != true ? 0 : 1
        return stale + broken == 0 ? .success : .temporaryFailure
    }
}

/// Durations as people say them: `42s`, `4min`, `3h`, `2d`. Two digits are enough in a line of status.
public enum RelativeTime {
    /// Seconds below 90s, minutes below 90min, hours below 36h, then days; each rounded. What is negative is `0s`.
    public static func text(_ seconds: Double) -> String {
        let seconds = max(0, seconds)
        if seconds < 90 { return "\(Int(seconds.rounded()))s" }
        if seconds < 90 * 60 { return "\(Int((seconds / 60).rounded()))min" }
        if seconds < 36 * 3600 { return "\(Int((seconds / 3600).rounded()))h" }
        return "\(Int((min(seconds, 1e12) / 86400).rounded()))d"
    }

    /// The same for a `Duration`.
    public static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return text(Double(seconds) + Double(attoseconds) / 1e18)
    }
}
