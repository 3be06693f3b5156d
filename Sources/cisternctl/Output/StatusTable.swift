import Foundation
import SyncControl

/// What `cisternctl status` prints for people.
struct StatusTable {
    var snapshot: StatusSnapshot

    func show(on console: Console) {
        for line in [daemonLine, snapshot.daemon.status, documentLine] + backupLines { console.out(line) }
        if let error = snapshot.daemon.reloadError { console.out("The last reload failed; the previous configuration is in force: \(error)") }
        for failing in snapshot.daemon.watchdog.failing { console.out("Liveness check failed: \(failing)") }
        guard !snapshot.resources.isEmpty else { return }
        console.out("")
        console.table(table)
        for resource in snapshot.resources {
            let held = resource.heldDeletes
            guard held > 0 else { continue }
            console.out("")
            console.out("\(resource.scope): \(held) deletions are held back. If the loss is real: cisternctl accept-deletes \(resource.scope)")
        }
    }

    private var now: Date { snapshot.generatedAt }

    private var daemonLine: String {
        let daemon = snapshot.daemon
        let up = RelativeTime.text(now.timeIntervalSince(daemon.startedAt))
        return "\(daemon.name) \(daemon.version), process \(daemon.pid), \(daemon.state), up \(up), configuration \(daemon.configurationGeneration)"
    }

    private var documentLine: String {
        let document = snapshot.document
        var text = "\(document.path): "
        if document.unsavedChanges == 0 {
            text += "everything is saved"
        } else {
            text += "\(document.unsavedChanges) unsaved changes"
            if let oldest = document.oldestUnsavedSeconds { text += ", the oldest \(RelativeTime.text(oldest)) old" }
        }
        if let save = document.lastSaveAt { text += ", last save \(RelativeTime.text(now.timeIntervalSince(save))) ago" }
        if let error = document.error { text += "; SAVING FAILS: \(error)" }
        if let held = document.held { text += "; fetching waits: \(held)" }
        return text
    }

    private var backupLines: [String] {
        var lines: [String] = []
        if let last = snapshot.document.lastBackupAt { lines.append("Last backup \(RelativeTime.text(now.timeIntervalSince(last))) ago") }
        if let error = snapshot.document.backupError { lines.append("THE LAST BACKUP FAILED: \(error)") }
        return lines
    }

    private var table: TextTable {
        var table = TextTable(titles: [
            ("RESOURCE", .left), ("STATE", .left), ("AGE", .right), ("NEXT", .right), ("OBJECTS", .right), ("LAST RUN", .left), ("CAUSE", .left),
        ])
        for resource in snapshot.resources {
            table.rows.append([
                TextTable.Cell("\(resource.scope)"), TextTable.Cell(resource.health.rawValue, Self.colour(resource.health)),
                TextTable.Cell(resource.ageSeconds.map { RelativeTime.text($0) } ?? "never"), TextTable.Cell(next(resource)),
                TextTable.Cell(resource.objects.map(String.init) ?? ""), TextTable.Cell(Self.lastRun(resource)),
                TextTable.Cell(Self.cause(resource)),
            ])
        }
        return table
    }

    private func next(_ resource: ResourceStatus) -> String {
        if resource.health == .running { return "now" }
        guard let next = resource.nextPollAt else { return "" }
        let text = RelativeTime.text(next.timeIntervalSince(now))
        return resource.intervalSeconds.map { "\(text), every \(RelativeTime.text($0))" } ?? text
    }

    private static func lastRun(_ resource: ResourceStatus) -> String {
        if let page = resource.runningPage { return "page \(page), \(resource.runningRecords ?? 0) records" }
        guard let run = resource.lastReport else { return "" }
        return RunText.changes(run)
    }

    private static func cause(_ resource: ResourceStatus) -> String {
        var text = resource.error ?? ""
        if resource.consecutiveFailures > 1 { text = "\(resource.consecutiveFailures) times: " + text }
        switch resource.breaker?.state {
        case .open?: text += "; its server is left alone: cisternctl resume \(resource.scope) asks it sooner"
        case .halfOpen?: text += "; one resource tries whether its server works again"
        case nil: break
        }
        return text
    }

    private static func colour(_ state: ResourceStatus.Health) -> TextTable.Colour? {
        switch state {
        case .ok: .green
        case .running: nil
        case .degraded: .red
        case .pending: .yellow
        case .paused, .disabled: .grey
        }
    }
}

/// A run in words.
enum RunText {
    /// `12 inserted, 3 updated`, or `nothing changed`.
    static func changes(_ run: RunReport) -> String {
        let text = run.counts.inWords
        return text.isEmpty ? "nothing changed" : text
    }

    /// One line for the end of a run.
    static func line(_ run: RunReport) -> String {
        let seconds = max(0, run.endedAt.timeIntervalSince(run.startedAt))
        let pages = run.notModifiedPages == run.pages && run.pages > 0 ? "not modified" : "\(run.pages) page\(run.pages == 1 ? "" : "s")"
        switch run.outcome {
        case .succeeded: return "\(run.scope): \(changes(run)) (\(pages), \(RelativeTime.text(seconds)))"
        default: return "\(run.scope): \(run.outcome.rawValue)\(run.error.map { ": " + $0 } ?? "") (\(pages), \(changes(run)))"
        }
    }
}
