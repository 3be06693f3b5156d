import OpenCoreData
import Synchronization

/// Writes down what the library notices while it lives.
package final class DiagnosticRecorder: Sendable {
    private final class Log: Sendable {
        let entries = Mutex<[ContextDiagnostic]>([])
    }

    private let log: Log
    private let observation: ContextDiagnostic.Observation

    package init() {
        let log = Log()
        self.log = log
        observation = ContextDiagnostic.observe { diagnostic in log.entries.withLock { $0.append(diagnostic) } }
    }

    package func cancel() { observation.cancel() }

    /// Everything that was noticed in the process so far.
    package var all: [ContextDiagnostic] { log.entries.withLock { $0 } }

    /// What was noticed about a context, queue or store of that name.
    package func about(_ subject: String) -> [ContextDiagnostic] { all.filter { $0.subject == subject } }
}
