import Foundation
import SyncControl
import SyncPipeline
import Systemd

/// Decides which events are worth a journal entry, and words it. A value without a clock.
struct JournalFormatter: Sendable {
    /// Whether what is told step by step, at the priority `debug`, is wanted: a poll that finds nothing new tells nothing else.
    var isDetailed = true
    private var collapser = RepeatCollapser()
    /// Complaints that a success puts an end to, by resource.
    private var complaints: [ResourceScope: Set<String>] = [:]
    private var failures: [ResourceScope: Int] = [:]
    private var degraded: Set<ResourceScope> = []
    private var hold: HoldCause?
    /// What was said of resources that are configured otherwise than their servers are: it is as true of each run.
    private var remarks: Set<String> = []
    /// The last run of a resource that had to show a certificate from before, as long as none has shown what there is.
    private var halfRenewed: [ResourceScope: UUID] = [:]

    mutating func entry(for event: SyncEvent) -> JournalEntry? {
        switch event {
        case .runStarted(let start):
            guard isDetailed else { return nil }
            return JournalEntry(
                "\(start.scope): run started (\(start.cause.rawValue))", priority: .debug, fields: Self.fields(start.scope, start.run))
        case .pageSaved(let page): return isDetailed ? Self.entry(page) : nil
        case .pageNotModified(let scope, let run, let page):
            guard isDetailed else { return nil }
            return JournalEntry(
                "\(scope): page \(page) not modified", priority: .debug,
                fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)"), ("CISTERN_HTTP_STATUS", "304")]))
        case .retrying(let scope, let run, let page, let attempt, let delay, let reason):
            return complain(
                scope, "retry \(reason)",
                JournalEntry(
                    "\(scope): page \(page), attempt \(attempt) failed, the next one in \(RelativeTime.text(delay)): \(reason)", priority: .info,
                    fields: Self.fields(
                        scope, run, [("CISTERN_PAGE", "\(page)"), ("CISTERN_ATTEMPT", "\(attempt)"), ("CISTERN_ERROR", reason)])))
        case .runFinished(let report):
            // One that was told of it had pages, too; one that asked for nothing has not looked.
            if report.pages > 0, report.cause != .replay, halfRenewed[report.scope.whole] != report.run { halfRenewed[report.scope.whole] = nil }
            return finish(report)
        case .parked(let scope, let until):
            let time = Self.time(until)
            return complain(
                scope, "parked",
                JournalEntry(
                    .rateLimited, "\(scope): the server asked to wait; parked until \(time)",
                    fields: Self.fields(scope, nil, [("CISTERN_RETRY_AT", time)])))
        case .breakerOpened(let scope, let cause, let until): return opened(scope, cause, until)
        case .quarantined(let scope, let run, let page, let count, let first):
            return complain(
                scope, "quarantined \(first)",
                JournalEntry(
                    .recordsQuarantined,
                    "\(scope): \(Self.count(count, "record")) of page \(page) set aside, the first because \(first)",
                    fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)"), ("CISTERN_QUARANTINED", "\(count)"), ("CISTERN_ERROR", first)])))
        case .deletesHeld(let scope, let run, let count, let known, let guardName):
            return complain(
                scope, "held \(guardName)",
                JournalEntry(
                    .deletesBlocked,
                    "\(scope): \(count) of \(known) objects are gone from the listing; nothing was removed because of \(guardName). "
                        + "If the loss is real: cisternctl accept-deletes \(scope.whole)",
                    fields: Self.fields(scope, run, [("CISTERN_DELETED", "\(count)"), ("CISTERN_GUARD", guardName)])))
        case .authenticationRejected(let scope, let url, let status):
            return complain(
                scope, "auth \(status)",
                JournalEntry(
                    .authRejected, "\(scope): the server refused the credentials with status \(status) at \(url); check [source.auth]",
                    fields: Self.fields(scope, nil, [("CISTERN_URL", url), ("CISTERN_HTTP_STATUS", "\(status)")])))
        case .tokenFetched(let scope, let expiresAt, let isRotated):
            guard isDetailed else { return nil }
            let end = expiresAt.map { "it ends at \(Self.time($0))" } ?? "nothing says when it ends"
            return JournalEntry(
                "\(scope): a new token, \(end)\(isRotated ? "; the new refresh token is stored" : "")", priority: .debug,
                fields: Self.fields(scope, nil))
        case .refreshTokenUnsaved(let reason):
            return JournalEntry(
                "a new refresh token is lost: \(reason); if the service no longer takes the one before, get a new one and configure it",
                priority: .error,
                fields: Self.make([("CISTERN_ERROR", reason)]))
        case .refused(let scope, let url, let reason, let isAddress):
            return complain(
                scope, "refused \(reason)",
                JournalEntry(
                    isAddress ? .redirectRefused : .responseRefused, "\(scope): \(reason)",
                    fields: Self.fields(scope, nil, [("CISTERN_URL", url), ("CISTERN_ERROR", reason)])))
        case .freshnessChanged(let scope, let isDegraded, let since, let held): return freshness(scope, isDegraded, since, held)
        case .scheduled: return nil
        case .rowsChangedElsewhere(let scope, let count):
            let rows = count == 1 ? "1 row was" : "\(count) rows were"
            return JournalEntry(
                "\(scope): \(rows) not as cisternd wrote \(count == 1 ? "it" : "them"); another program or the disk changed \(count == 1 ? "it" : "them"), "
                    + "and the page is read again; let nothing but cisternd write to the store", priority: .warning,
                fields: Self.fields(scope, nil, []))
        case .cursorRejected(let scope, let run, let cursor, let status):
            return JournalEntry(
                "\(scope): the server does not take \(cursor) to ask from (\(status)); everything is asked for", priority: .notice,
                fields: Self.fields(scope, run, [("CISTERN_CURSOR", cursor)]))
        case .sinceIgnored(let scope, let run, let since, let oldest):
            guard remarks.insert("\(scope.whole) since").inserted else { return nil }
            return JournalEntry(
                "\(scope): asked for what is new since \(since), the server also sent what is of \(oldest); look up how it calls incremental.since",
                priority: .warning, fields: Self.fields(scope, run, [("CISTERN_CURSOR", since)]))
        case .cursorMissing(let scope, let run, let page, let field):
            guard remarks.insert("\(scope.whole) field").inserted else { return nil }
            return JournalEntry(
                "\(scope): no record of page \(page) has a \(field) that could be read (incremental.field, incremental.format), so every run asks from "
                    + "the same place", priority: .warning, fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)")]))
        case .pageIgnored(let scope, let run, let page, let status, let message):
            // Once, and from then on for who looks at each step.
            let isNew = remarks.insert("\(scope.whole) ignored").inserted
            guard isNew || isDetailed else { return nil }
            return JournalEntry(
                "\(scope): page \(page) is taken for one without records (ignore_if)\(message.isEmpty ? "" : ": \(message)")",
                priority: isNew ? .notice : .debug,
                fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)"), ("CISTERN_HTTP_STATUS", "\(status)")]))
        case .valuesNulled(let scope, let run, let page, let attribute, let count, let first):
            guard remarks.insert("\(scope.whole) nulled \(attribute)").inserted else { return nil }
            let values = count == 1 ? "1 value of \(attribute) is" : "\(count) values of \(attribute) are"
            return JournalEntry(
                "\(scope): \(values) null, being of another type (page \(page)): \(first)", priority: .warning,
                fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)")]))
        case .fieldsUnknown(let scope, let run, let page, let names):
            let new = names.filter { remarks.insert("\(scope.whole) unknown \($0)").inserted }
            guard !new.isEmpty else { return nil }
            return JournalEntry(
                "\(scope): nothing is made of \(new.joined(separator: ", ")) (page \(page)); add attributes, or write schema.unknown_fields = \"ignore\"",
                priority: .notice, fields: Self.fields(scope, run, [("CISTERN_PAGE", "\(page)")]))
        case .tokenMissing(let scope, let run, let reason):
            guard remarks.insert("\(scope.whole) token").inserted else { return nil }
            return JournalEntry(
                "\(scope): there is no token to go on from (incremental.path), and the next run asks for everything: \(reason)", priority: .warning,
                fields: Self.fields(scope, run, [("CISTERN_ERROR", reason)]))
        case .identityMismatch(let scope, let run, let reason):
            guard halfRenewed.updateValue(run, forKey: scope.whole) == nil else { return nil }
            return JournalEntry(
                "\(scope): \(reason); the certificate and key before are shown until both are renewed", priority: .warning,
                fields: Self.fields(scope, run, [("CISTERN_ERROR", reason)]))
        case .archiveFailed(let scope, let reason):
            return complain(
                scope, "archive \(reason)",
                JournalEntry(.archiveFailed, "\(scope): \(reason)", fields: Self.fields(scope, nil, [("CISTERN_ERROR", reason)])))
        case .saveFailed(let reason, let cause): return saveFailed(reason, cause)
        case .saveRecovered:
            collapser.reset("save")
            return JournalEntry("saving works again", priority: .notice)
        case .held(let cause):
            hold = cause
            guard cause.isLowDisk else { return JournalEntry("fetching waits: \(cause)", priority: .debug) }
            return say("disk", JournalEntry(.diskLow, "fetching waits: \(cause); make room, and it resumes by itself"))
        case .backupMade(let name, let bytes, let removed): return backupMade(name, bytes, removed: removed)
        case .backupFailed(let reason):
            return say("backup", JournalEntry(.backupFailed, "no backup: \(reason)", fields: Self.make([("CISTERN_ERROR", reason)])))
        case .resumed:
            let wasDisk = hold?.isLowDisk ?? false
            hold = nil
            if wasDisk { collapser.reset("disk") }
            return JournalEntry("fetching resumes", priority: wasDisk ? .notice : .debug)
        }
    }

    private mutating func backupMade(_ name: String, _ bytes: Int64, removed: Int) -> JournalEntry {
        collapser.reset("backup")
        let gone = removed == 0 ? "" : "; \(Self.count(removed, "older one")) removed"
        return JournalEntry(
            .backupMade, "backup \(name) is complete: \(bytes >> 20) MiB\(gone)",
            fields: Self.make([("CISTERN_BACKUP", name), ("CISTERN_BYTES", "\(bytes)")]))
    }

    // MARK: Runs

    private static func entry(_ page: PageReport) -> JournalEntry {
        JournalEntry(
            "\(page.scope): page \(page.page), \(count(page.counts.records, "record")), \(page.bytes) bytes", priority: .debug,
            fields: fields(
                page.scope, page.run,
                [
                    ("CISTERN_PAGE", "\(page.page)"), ("CISTERN_URL", page.url), ("CISTERN_HTTP_METHOD", page.method),
                    ("CISTERN_HTTP_STATUS", "\(page.status)"), ("CISTERN_BYTES", "\(page.bytes)"),
                    ("CISTERN_DURATION_USEC", "\(microseconds(page.duration))"),
                ] + counts(page.counts)))
    }

    private mutating func finish(_ report: RunReport) -> JournalEntry? {
        if report.cause == .replay { return Self.replayed(report) }
        var fields: [JournalField] { Self.fields(report) }
        switch report.outcome {
        case .succeeded:
            let failed = failures.removeValue(forKey: report.scope) ?? 0
            forget(report.scope, stillSetsAside: report.counts.quarantined > 0)
            var counts = report.counts
            // A separate entry reports what was set aside, if that is new.
            counts.quarantined = 0
            let changes = counts.inWords.isEmpty ? "" : report.counts.inWords
            if failed > 0, !degraded.contains(report.scope) {
                let what = changes.isEmpty ? "nothing changed" : changes
                return JournalEntry(
                    .sourceRecovered, "\(report.scope): works again after \(Self.count(failed, "failed run")); \(what)", fields: fields)
            }
            guard !changes.isEmpty else {
                guard isDetailed else { return nil }
                return JournalEntry("\(report.scope): nothing changed", priority: .debug, fields: fields)
            }
            return JournalEntry(
                .runFinished, "\(report.scope): \(changes) in \(Self.count(report.pages, "page")), \(report.bytes) bytes", fields: fields)
        case .incomplete, .failed:
            failures[report.scope, default: 0] += 1
            let error = report.error ?? "no reason was given"
            let verb = report.outcome == .incomplete ? "the run is incomplete, so nothing that is missing is taken to be gone" : "the run failed"
            let id: MessageID = report.failure == .tls ? .tlsFailed : .runFailed
            return complain(
                report.scope, "run \(error)",
                JournalEntry(id, "\(report.scope): \(verb): \(error)", fields: fields + Self.make([("CISTERN_ERROR", error)])))
        case .cancelled:
            return JournalEntry(
                "\(report.scope): the run was cancelled: \(report.error ?? "the daemon is stopping or reloading")", priority: .debug, fields: fields)
        case .parked:
            failures[report.scope, default: 0] += 1
            return nil
        }
    }

    /// A replay was asked for: each is told, and says nothing of whether the server works.
    private static func replayed(_ report: RunReport) -> JournalEntry {
        let pages = count(report.pages, "archived page"), error = report.error ?? "no reason was given", facts = fields(report)
        switch report.outcome {
        case .succeeded:
            let changes = report.counts.inWords
            return JournalEntry(
                .runFinished, "\(report.scope): \(pages) mapped again; \(changes.isEmpty ? "nothing changed" : changes)", fields: facts)
        case .incomplete, .failed, .parked:
            let verb = report.outcome == .incomplete ? "mapped again, and not all there are" : "mapped again before the replay failed"
            return JournalEntry(.runFailed, "\(report.scope): \(pages) \(verb): \(error)", fields: facts + make([("CISTERN_ERROR", error)]))
        case .cancelled:
            return JournalEntry("\(report.scope): the replay was cancelled after \(pages)", priority: .notice, fields: facts)
        }
    }

    private mutating func opened(_ scope: ResourceScope, _ cause: BreakerCause, _ until: Date) -> JournalEntry? {
        let time = Self.time(until)
        func entry(_ words: String, _ more: [(String, String)] = []) -> JournalEntry {
            JournalEntry(.breakerOpened, "\(scope): \(words)", fields: Self.fields(scope, nil, [("CISTERN_RETRY_AT", time)] + more))
        }
        switch cause {
        case .failures(let count, let server):
            return complain(
                scope, "breaker",
                entry(
                    "\(server) failed \(Self.count(count, "run")) in a row; nobody asks it until \(time). To ask sooner: cisternctl resume \(scope.whole)"
                ))
        case .permanent(let status):
            return complain(
                scope, "permanent \(status)",
                entry(
                    "status \(status) does not change by asking again (breaker.permanent_statuses), so the schedule asks at \(time) next; check the address "
                        + "and the credentials in the configuration, then cisternctl sync \(scope.whole)", [("CISTERN_HTTP_STATUS", "\(status)")]))
        }
    }

    private mutating func freshness(_ scope: ResourceScope, _ isDegraded: Bool, _ since: Date?, _ held: Int) -> JournalEntry? {
        if isDegraded {
            degraded.insert(scope)
            if held > 0 {
                return JournalEntry(
                    .sourceDegraded, "\(scope): \(held) deletions are held back; look at them, then `cisternctl accept-deletes \(scope)`",
                    fields: Self.fields(scope, nil))
            }
            let last = since.map { ", last success \(Self.time($0))" } ?? ", never fetched"
            return JournalEntry(.sourceDegraded, "\(scope): older than schedule.max_age allows\(last)", fields: Self.fields(scope, nil))
        }
        guard degraded.remove(scope) != nil else { return nil }
        return JournalEntry(.sourceRecovered, "\(scope): current again", fields: Self.fields(scope, nil))
    }

    private mutating func saveFailed(_ reason: String, _ cause: SaveFailureCause) -> JournalEntry? {
        let fields = Self.make([("CISTERN_ERROR", reason)])
        let retried = "the document cannot be saved; nothing is lost, cisternd tries again: \(reason)"
        switch cause {
        case .full: return say("save", JournalEntry(.diskLow, retried, fields: fields))
        case .passing: return say("save", JournalEntry(retried, priority: .error, fields: fields))
        case .disk: return JournalEntry(.storeCorrupt, "the store can no longer be trusted, so cisternd exits: \(reason)", fields: fields)
        case .refused:
            return JournalEntry(
                "the store refused changes; they were rolled back and will be fetched again: \(reason)", priority: .error, fields: fields)
        }
    }

    // MARK: Repetition

    private mutating func say(_ kind: String, _ entry: JournalEntry) -> JournalEntry? {
        switch collapser.record(kind) {
        case .keepQuiet: return nil
        case .say(let count):
            guard count > 1 else { return entry }
            var entry = entry
            entry.message += " (\(count) times)"
            entry.fields += Self.make([("CISTERN_REPEATED", "\(count)")])
            return entry
        }
    }

    /// A server that words each error differently must not fill the journal: after this many kinds for a resource, all others count as one.
    private static let mostComplaints = 8

    /// - Parameter what: what kind of complaint it is, and after that what about.
    private mutating func complain(_ scope: ResourceScope, _ what: String, _ entry: JournalEntry) -> JournalEntry? {
        var kind = "\(scope) \(what)"
        // A resource may have any number of parts.
        let scope = scope.whole, known = complaints[scope] ?? []
        if known.count >= Self.mostComplaints && !known.contains(kind) { kind = "\(scope) \(what.prefix { $0 != " " })" }
        complaints[scope, default: []].insert(kind)
        return say(kind, entry)
    }

    /// - Parameter stillSetsAside: complaints of records that were set aside go on.
    private mutating func forget(_ scope: ResourceScope, stillSetsAside: Bool) {
        let kept = (complaints.removeValue(forKey: scope) ?? []).filter { kind in
            if stillSetsAside && kind.split(separator: " ").contains("quarantined") { return true }
            collapser.reset(kind)
            return false
        }
        if !kept.isEmpty { complaints[scope] = kept }
    }
}
