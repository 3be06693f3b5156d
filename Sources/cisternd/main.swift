import Foundation
import Glibc
import SyncDaemon

// Before the second thread starts: signals that come too early wait in the kernel instead of killing the process, and what the service
// manager says in the environment is taken out of it.
Signals.block()
let launch = DaemonLaunch.prepare(arguments: Array(CommandLine.arguments.dropFirst()))

// The main thread runs the main queue, which serves the document's main context and nothing else. The daemon lives on other queues.
Task.detached {
    let status = await launch.run()
    exit(status.rawValue)
}
RunLoop.main.run()
