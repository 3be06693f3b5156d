public import Foundation

/// How a resource stands.
public struct ResourceStatus: Sendable {
    /// In a word.
    public enum Health: String, Sendable, Codable {
        case pending, ok, running, degraded, paused, disabled
    }

    public let scope: ResourceScope
    public internal(set) var isEnabled = true
    public internal(set) var isPaused: Bool
    /// Older than its `max_age`, or with deletions held back.
    public internal(set) var isDegraded = false
    /// When everything was last seen, changed or not.
    public internal(set) var lastSuccess: Date?
    public internal(set) var completeAt: Date?
    public internal(set) var nextPollAt: Date?
    public internal(set) var parkedUntil: Date?
    public internal(set) var lastReport: RunReport?
    public internal(set) var httpStatus: Int?
    public internal(set) var error: String?
    public internal(set) var consecutiveFailures: Int
    /// How many rows complete runs would remove, held back by a guard.
    public internal(set) var heldDeletes: Int
    /// Which guard.
    public internal(set) var guardName: String?
    /// The page being read; nil if no run is under way.
    public internal(set) var runningPage: Int?
    public internal(set) var runningRecords: Int?
    /// The rows that the last complete run vouched for.
    public internal(set) var objects: Int?

    /// A resource of which nothing is known.
    init(_ scope: ResourceScope) {
        self.scope = scope
        isPaused = false
        consecutiveFailures = 0
        heldDeletes = 0
    }

    /// A resource as its earlier runs left it.
    init(_ scope: ResourceScope, _ stored: RunState) {
        self.scope = scope
        nextPollAt = stored.nextPollAt
        isPaused = stored.isPaused
        lastSuccess = stored.lastSuccess
        completeAt = stored.completeAt
        parkedUntil = stored.parkedUntil
        httpStatus = stored.httpStatus == 0 ? nil : Int(stored.httpStatus)
        error = stored.lastError
        consecutiveFailures = Int(stored.failures)
        heldDeletes = Int(stored.heldDeletes)
        objects = stored.completeAt == nil ? nil : Int(stored.rows)
        isDegraded = heldDeletes > 0
    }

    public var health: Health {
        if !isEnabled { return .disabled }
        if isPaused { return .paused }
        if runningPage != nil { return .running }
        if isDegraded || consecutiveFailures > 0 { return .degraded }
        return lastSuccess == nil ? .pending : .ok
    }

    mutating func take(_ report: RunReport, heldDeletes: Int, guardName: String?, parkedUntil: Date?) {
        lastReport = report
        httpStatus = report.httpStatus ?? httpStatus
        self.parkedUntil = parkedUntil
        switch report.outcome {
        case .succeeded:
            lastSuccess = report.endedAt
            if report.isComplete {
                completeAt = report.endedAt
                self.heldDeletes = heldDeletes
                self.guardName = guardName
                if report.notModifiedPages < report.pages || objects == nil {
                    objects = report.counts.inserted + report.counts.updated + report.counts.unchanged
                }
            }
            error = nil
            consecutiveFailures = 0
        case .incomplete:
            error = report.error
        case .failed, .parked:
            error = report.error
            consecutiveFailures += 1
        case .cancelled: break
        }
    }
}
