import Foundation
import SyncControl

/// The status as entries of the journal: one for the process, one for each resource.
enum StatusDump {
    struct Line: Sendable, Equatable {
        var text: String
        var fields: [(String, String)]

        static func == (left: Line, right: Line) -> Bool {
            left.text == right.text && left.fields.elementsEqual(right.fields, by: ==)
        }
    }

    static func lines(_ snapshot: StatusSnapshot) -> [Line] {
        [process(snapshot)] + snapshot.resources.map { resource($0, at: snapshot.generatedAt) }
    }

    private static func process(_ snapshot: StatusSnapshot) -> Line {
        let document = snapshot.document
        var text = "\(snapshot.daemon.status); configuration \(snapshot.daemon.configurationGeneration), "
        text += "\(document.unsavedChanges) unsaved changes in \(document.path)"
        if let oldest = document.oldestUnsavedSeconds { text += ", the oldest for \(RelativeTime.text(oldest))" }
        if let error = document.error { text += "; the last save failed: \(error)" }
        if !snapshot.daemon.watchdog.failing.isEmpty { text += "; not alive: \(snapshot.daemon.watchdog.failing.joined(separator: "; "))" }
        return Line(
            text: text,
            fields: [
                ("CISTERN_VERSION", snapshot.daemon.version), ("CISTERN_CONFIG_GENERATION", "\(snapshot.daemon.configurationGeneration)"),
                ("CISTERN_UNSAVED", "\(document.unsavedChanges)"),
            ])
    }

    private static func resource(_ resource: ResourceStatus, at now: Date) -> Line {
        var text = "\(resource.scope): \(resource.health.rawValue)"
        if let age = resource.ageSeconds { text += ", last success \(RelativeTime.text(age)) ago" }
        if let next = resource.nextPollAt { text += ", next poll in \(RelativeTime.text(next.timeIntervalSince(now)))" }
        if let objects = resource.objects { text += ", \(objects) objects" }
        if resource.heldDeletes > 0 { text += ", \(resource.heldDeletes) deletions held back" }
        if let error = resource.error { text += "; \(error)" }
        var fields = [("CISTERN_SOURCE", resource.scope.source), ("CISTERN_RESOURCE", resource.scope.resource)]
        fields.append(("CISTERN_STATE", resource.health.rawValue))
        if let status = resource.httpStatus { fields.append(("CISTERN_HTTP_STATUS", "\(status)")) }
        return Line(text: text, fields: fields)
    }
}
