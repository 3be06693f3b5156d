import Foundation
import SyncDaemon
import Testing

import enum SyncDaemon.ExitStatus

@testable import cisternd

@Suite struct DaemonLaunchTests {
    private func said(_ arguments: String...) -> (text: String, isError: Bool, status: ExitStatus)? {
        guard case .say(let text, let isError, let status) = DaemonLaunch.prepare(arguments: arguments) else { return nil }
        return (text, isError, status)
    }

    @Test func helpAndVersionEndWithZero() {
        #expect(said("--version")?.text == SyncDaemon.version)
        #expect(said("--version")?.status == .success)
        #expect(said("--help")?.isError == false)
        #expect(said("--help")?.text.contains("--check-config") == true)
    }

    @Test(arguments: ["--bogus", "start", "--config", "--max-block=soon", "--max-block=0"]) func aBadCommandLineIs64(_ argument: String) {
        #expect(said(argument)?.status == .usage)
        #expect(said(argument)?.isError == true)
    }

    @Test func aCheckOfAMissingConfigurationIs78() async {
        let launch = DaemonLaunch.prepare(arguments: ["--check-config", "--config", "/nonexistent/cisternd.toml"])
        guard case .check(let config, let environment) = launch else {
            return #expect(Bool(false), "expected a check")
        }
        #expect(config == "/nonexistent/cisternd.toml")
        let (lines, status) = ConfigurationCheck(path: config, environment: environment).run()
        #expect(status == .configuration)
        #expect(lines.first?.contains("/nonexistent/cisternd.toml: the file cannot be read") == true)
    }
}
