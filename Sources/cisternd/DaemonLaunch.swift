import ArgumentParser
import Foundation
import Glibc
import SyncDaemon

/// What a command line asks of the daemon, and doing it.
enum DaemonLaunch: Sendable {
    /// Print this to standard output, or to standard error, and end.
    case say(String, isError: Bool, ExitStatus)
    case check(config: String, environment: [String: String])
    case serve(SyncDaemon.Launch, Signals)

    /// Reads the command line and takes what the service manager passed. Starts no thread but the one that hears signals, last.
    static func prepare(arguments: [String]) -> DaemonLaunch {
        let command: Cisternd
        do {
            command = try Cisternd.parse(arguments)
        } catch {
            let code = Cisternd.exitCode(for: error)
            let text = Cisternd.fullMessage(for: error)
            return .say(text, isError: code != .success, ExitStatus(rawValue: code.rawValue) ?? .failure)
        }
        let environment = SyncDaemon.directories(in: ProcessInfo.processInfo.environment)
        if command.checkConfig { return .check(config: command.config, environment: environment) }
        let launch = SyncDaemon.Launch(configuration: command.config, environment: environment, maxBlock: command.maxBlock.map { .milliseconds($0) })
        do {
            return .serve(launch, try Signals())
        } catch {
            return .say("<3>cisternd cannot start: \(error)", isError: true, error.status)
        }
    }

    /// Does what needs no daemon, in the thread that calls; nil: there is one to run.
    func answer() -> ExitStatus? {
        switch self {
        case .say(let text, let isError, let status):
            (isError ? FileHandle.standardError : FileHandle.standardOutput).write(Data((text + "\n").utf8))
            return status
        case .check(let config, let environment):
            let (lines, status) = ConfigurationCheck(path: config, environment: environment).run()
            for line in lines { FileHandle.standardError.write(Data((line + "\n").utf8)) }
            return status
        case .serve: return nil
        }
    }
}
