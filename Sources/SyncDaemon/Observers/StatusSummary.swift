import Foundation
import SyncConfiguration
import SyncPipeline

/// The present as told by events. A value: what was recorded, and the sentence that follows from it.
struct StatusSummary: Sendable {
    struct Resource: Sendable {
        /// The open run's page and records; `nil` if none is open.
        var page: Int?
        var records = 0
        /// When the trouble began; `nil` if the last run was all right.
        var failingSince: Date?
        var failure: String?
        /// As the pipeline judged it last.
        var isDegraded = false
        /// How many deletions wait for somebody to accept them.
        var heldDeletes = 0
        /// When it is due next, as the last run said.
        var nextPollAt: Date?
        var objects: Int?
        var order: Int
        var isTroubled: Bool { isDegraded || failingSince != nil }
        /// Certificates are not checked.
        var isUnverified: Bool
    }

    private(set) var resources: [ResourceScope: Resource] = [:]
    private(set) var sourceCount = 0
    private(set) var next: (scope: ResourceScope, at: Date)?
    var lastSave: Date?
    private(set) var saveError: String?
    private(set) var held: HoldCause?
    /// When the newest backup was made, and why the last one could not be: neither is a matter of the mirror being current.
    var lastBackup: Date?
    private(set) var backupError: String?
    var isStopping = false
    /// What is done to the database while it is opened; nil while it is open.
    var opening: String?

    init(configuration: CisternConfiguration) {
        reload(configuration)
    }

    mutating func reload(_ configuration: CisternConfiguration) {
        let sources = configuration.sources.filter(\.isEnabled)
        sourceCount = sources.count
        let old = resources
        resources = [:]
        for (order, resource) in sources.flatMap(\.resources).filter(\.isEnabled).enumerated() {
            let scope = ResourceScope(source: resource.source, resource: resource.name)
            var entry = old[scope] ?? Resource(order: order, isUnverified: !resource.tls.verify)
            entry.order = order
            entry.isUnverified = !resource.tls.verify
            resources[scope] = entry
        }
        if let scope = next?.scope, resources[scope] == nil { next = nil }
    }

    mutating func seed(_ statuses: [ResourceStatus], at now: Date) {
        for status in statuses {
            change(status.scope) { resource in
                resource.objects = status.objects
                resource.nextPollAt = status.nextPollAt
                resource.isDegraded = status.isDegraded
                resource.heldDeletes = status.heldDeletes
                if status.consecutiveFailures > 0 {
                    resource.failingSince = status.lastSuccess ?? now
                    resource.failure = Self.failure(status: status.httpStatus)
                }
            }
        }
    }

    mutating func record(_ event: SyncEvent, at now: Date) {
        switch event {
        case .runStarted(let start):
            change(start.scope) {
                $0.page = 1
                $0.records = 0
            }
        case .pageSaved(let page):
            change(page.scope) {
                $0.page = page.page
                $0.records += page.counts.records
            }
        case .pageNotModified(let scope, _, let page): change(scope) { $0.page = page }
        case .retrying(let scope, _, let page, _, _, _): change(scope) { $0.page = page }
        case .runFinished(let report): finish(report, at: now)
        case .parked(let scope, let until):
            change(scope) {
                $0.nextPollAt = until
                $0.failingSince = $0.failingSince ?? now
                $0.failure = "asks to wait"
            }
        case .breakerOpened(let scope, _, let until): change(scope) { $0.nextPollAt = until }
        case .freshnessChanged(let scope, let isDegraded, let since, let heldDeletes):
            change(scope) {
                $0.isDegraded = isDegraded
                $0.heldDeletes = heldDeletes
                if isDegraded, heldDeletes == 0 { $0.failingSince = $0.failingSince ?? since ?? now }
            }
        case .scheduled(let scope, let moment):
            next = if let scope, let moment { (scope, moment) } else { nil }
        case .saveFailed(let reason, _): saveError = reason
        case .saveRecovered:
            saveError = nil
            lastSave = now
        case .held(let cause): held = cause
        case .backupMade:
            lastBackup = now
            backupError = nil
        case .backupFailed(let reason): backupError = reason
        case .resumed: held = nil
        case .quarantined, .deletesHeld, .authenticationRejected, .refused, .rowsChangedElsewhere, .cursorRejected, .sinceIgnored, .cursorMissing,
            .tokenMissing, .tokenFetched, .refreshTokenUnsaved, .pageIgnored, .identityMismatch, .archiveFailed, .valuesNulled, .fieldsUnknown:
            break
        }
    }

    private mutating func finish(_ report: RunReport, at now: Date) {
        change(report.scope) { resource in
            resource.page = nil
            // It says nothing of the server, nor of what is there.
            if report.cause == .replay { return }
            resource.nextPollAt = report.nextPollAt ?? resource.nextPollAt
            resource.objects = report.objects(known: resource.objects)
            switch report.outcome {
            case .succeeded:
                resource.failingSince = nil
                resource.failure = nil
            case .failed:
                resource.failingSince = resource.failingSince ?? now
                resource.failure = Self.failure(status: report.httpStatus)
            // What was there was taken; only when it lasts does the resource grow too old.
            case .incomplete: resource.failure = "answers incompletely"
            case .cancelled, .parked: break
            }
        }
        if report.outcome == .succeeded, report.counts.changes > 0 { lastSave = now }
    }

    private mutating func change(_ scope: ResourceScope, _ body: (inout Resource) -> Void) {
        let scope = scope.whole
        guard var resource = resources[scope] else { return }
        body(&resource)
        resources[scope] = resource
    }

    /// What is the matter with a source, after its name: `github is unreachable`.
    static func failure(status: Int?) -> String {
        switch status {
        case nil: "unreachable"
        case 401?, 403?, 407?: "refuses the credentials"
        case let status? where status >= 400: "answers \(status)"
        default: "sends unusable data"
        }
    }
}
