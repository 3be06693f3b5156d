import DocumentPackages
import Foundation
import SyncControl
import Testing

@testable import cisternctl

@Suite struct BackupVerbTests {
    private let outcome = Outcome()

    @Test func withoutBackupsTheListSaysWhereItLooked() async {
        let files = ["/c.toml": "version = 1\n[store.backup]\ndir = \"/nonexistent/backups\"\n"]
        let code = await Cisternctl.run(arguments: ["backup", "list", "--config", "/c.toml"], surroundings: outcome.surroundings(files))
        #expect(code == .success)
        #expect(outcome.out == "there is no backup in /nonexistent/backups\n")
    }

    @Test func backupAloneMakesOne() async {
        let arguments = ["backup", "--socket", "/nonexistent/s"]
        #expect(await Cisternctl.run(arguments: arguments, surroundings: outcome.surroundings()) == .unavailable)
    }

    @Test func whatCannotBeRestoredEndsWithAStatusThatSaysWhy() {
        let codes: [(PackageFailure.Kind, ControlExitCode)] = [
            (.inUse, .temporaryFailure), (.damaged, .dataError), (.unusable, .dataError), (.notPermitted, .noPermission), (.full, .ioError),
            (.disk, .ioError), (.notWritable, .ioError), (.unsettled, .ioError),
        ]
        for (kind, code) in codes { #expect(RestoreVerb.error(PackageFailure(kind, "x")).code == code) }
    }

    @Test func aDocumentThatIsNotThereIsNotRestored() async {
        let files = ["/c.toml": "version = 1\n[document]\npath = \"/nonexistent/document\"\n"]
        let arguments = ["restore", "cistern-20270115T080000Z", "--config", "/c.toml"]
        #expect(await Cisternctl.run(arguments: arguments, surroundings: outcome.surroundings(files)) == .ioError)
        #expect(outcome.error.contains("there is no document at /nonexistent/document"))
    }
}
