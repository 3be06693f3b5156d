import Foundation
import Glibc
import SyncDaemon

// Before the second thread starts: signals that come too early wait in the kernel instead of killing the process, and what the service
// manager says in the environment is taken out of it.
Signals.block()
if let shortage = StartResources.shortage() {
    // Straight to the descriptor, which the service manager connects to the journal: nothing that needs more may be used.
    let line = Array("<3>\(shortage)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(ExitStatus.osError.rawValue)
}
let launch = DaemonLaunch.prepare(arguments: Array(CommandLine.arguments.dropFirst()))
guard case .serve(let daemon, let signals) = launch else { exit((launch.answer() ?? .failure).rawValue) }

// The main thread runs the main queue, which serves the document's main context and nothing else. The daemon lives on other queues.
Task.detached {
    let status = await daemon.run(signals)
    exit(status.rawValue)
}
RunLoop.main.run()
