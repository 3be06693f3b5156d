import Foundation
import SyncReports

extension ResourceStatus {
    /// A resource as its earlier runs left it.
    init(_ scope: ResourceScope, _ stored: RunState) {
        self.init(
            scope, lastSuccess: stored.lastSuccess, completeAt: stored.completeAt, nextPollAt: stored.nextPollAt,
            objects: stored.completeAt == nil ? nil : stored.rows, httpStatus: stored.httpStatus == 0 ? nil : stored.httpStatus,
            error: stored.lastError, consecutiveFailures: stored.failures, heldDeletes: stored.heldDeletes)
        isPaused = stored.isPaused
        parkedUntil = stored.parkedUntil
        isDegraded = heldDeletes > 0
    }

    /// Takes in how a run ended.
    mutating func take(_ report: RunReport, heldDeletes: Int, guardName: String?, parkedUntil: Date?) {
        lastReport = report
        httpStatus = report.httpStatus ?? httpStatus
        self.parkedUntil = parkedUntil
        objects = report.objects(known: objects)
        switch report.outcome {
        case .succeeded:
            lastSuccess = report.endedAt
            if report.isComplete {
                completeAt = report.endedAt
                self.heldDeletes = heldDeletes
                self.guardName = guardName
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
