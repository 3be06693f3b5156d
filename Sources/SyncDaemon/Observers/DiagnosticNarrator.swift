import Foundation
import OpenCoreData
import Systemd

/// Puts what the object graph noticed into the journal: it is no failure, and nobody asked.
enum DiagnosticNarrator {
    static func entry(for diagnostic: ContextDiagnostic) -> JournalEntry {
        var fields = [("CISTERN_DIAGNOSTIC", diagnostic.kind.rawValue)]
        if let subject = diagnostic.subject { fields.append(("CISTERN_CONTEXT", subject)) }
        if !diagnostic.stack.isEmpty { fields.append(("CISTERN_STACK", diagnostic.stack.joined(separator: "\n"))) }
        var message = diagnostic.message
        if let place = diagnostic.stack.first { message += " It came from \(place)." }
        return JournalEntry(message, priority: .warning, fields: JournalNarrator.make(fields))
    }
}
