import Foundation
import Systemd
import Testing

/// The files below `systemd/`, checked by systemd itself in a root of their own.
@Suite struct UnitFilesTests {
    static let units = ["cisternd.service", "cisternd@.service", "cisternd.socket"]
    static let withoutAnalyze: Comment = "needs systemd-analyze (package systemd)"

    private func text(_ name: String) throws -> String {
        try String(contentsOf: PackageRoot.file("systemd/\(name)"), encoding: .utf8)
    }

    /// The settings of a unit, without comments, in their order.
    private func settings(_ name: String) throws -> [String] {
        try text(name).components(separatedBy: "\n").filter { !$0.isEmpty && !$0.hasPrefix("#") && !$0.hasPrefix("[") }
    }

    /// A folder that looks like a root with the units and their programs installed.
    private func withInstalledRoot<Result>(
        editing: (String) -> String = { $0 }, _ body: (String) throws -> Result
    ) throws -> Result {
        let files = FileManager.default
        let root = files.temporaryDirectory.appending(path: "root-\(UUID().uuidString)")
        defer { try? files.removeItem(at: root) }
        let (folder, bin) = (root.appending(path: "usr/lib/systemd/system"), root.appending(path: "usr/bin"))
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try files.createDirectory(at: bin, withIntermediateDirectories: true)
        for unit in Self.units { try editing(text(unit)).write(to: folder.appending(path: unit), atomically: true, encoding: .utf8) }
        for program in ["cisternd", "cisternctl"] {
            try files.copyItem(at: URL(filePath: "/usr/bin/true"), to: bin.appending(path: program))
        }
        // What they are ordered against.
        let system = "/usr/lib/systemd/system"
        for name in try files.contentsOfDirectory(atPath: system) where name.hasSuffix(".target") {
            try? files.copyItem(atPath: "\(system)/\(name)", toPath: folder.appending(path: name).path)
        }
        return try body(root.path)
    }

    // Section 4
    @Test(.enabled(if: Tool.isInstalled("systemd-analyze"), withoutAnalyze))
    func systemdFindsNothingWrongWithTheUnits() throws {
        let outcome = try withInstalledRoot { root in
            try Tool.runHere(["systemd-analyze", "verify", "--man=no", "--root=\(root)"] + Self.units + ["cisternd@tenant.service"])
        }
        #expect(outcome.status == 0)
        #expect(outcome.output + outcome.errors == "")
    }

    @Test(.enabled(if: Tool.isInstalled("systemd-analyze"), withoutAnalyze))
    func aMisspelledSettingWouldBeFound() throws {
        let outcome = try withInstalledRoot(editing: { $0.replacing("WatchdogSec=", with: "WatchdogSecs=") }) { root in
            try Tool.runHere(["systemd-analyze", "verify", "--man=no", "--root=\(root)", "cisternd.service"])
        }
        #expect(outcome.errors.contains("WatchdogSecs"))
    }

    // Section 4: exposure ≤ 1.1
    @Test(.enabled(if: Tool.isInstalled("systemd-analyze"), withoutAnalyze), arguments: ["cisternd.service", "cisternd@.service"])
    func exposureStaysWithinTheThreshold(unit: String) throws {
        let command = ["systemd-analyze", "security", "--offline=yes", "--threshold=11", "--no-pager"]
        let outcome = try withInstalledRoot { try Tool.runHere(command + ["--root=\($0)", unit]) }
        #expect(outcome.status == 0, "\(outcome.output)")
        let opened = try withInstalledRoot(editing: { $0.replacing("ProtectSystem=strict", with: "ProtectSystem=no") }) {
            try Tool.runHere(command + ["--root=\($0)", unit])
        }
        #expect(opened.status != 0, "one line less would be noticed")
    }

    // Section 3: as section 2 but for these lines
    @Test func theInstanceDiffersFromTheMainUnitOnlyInWhatIsItsOwn() throws {
        let (main, instance) = (try settings("cisternd.service"), try settings("cisternd@.service"))
        #expect(
            instance.filter { !main.contains($0) } == [
                "Description=Cistern instance %i", "ExecStart=/usr/bin/cisternd --config /etc/cistern/%i.toml",
                "ExecReload=/usr/bin/cisternctl --socket ${RUNTIME_DIRECTORY}/control.sock reload --wait", "StateDirectory=cistern-%i",
                "RuntimeDirectory=cistern-%i", "LoadCredential=cred:/etc/cistern/%i.credentials",
            ])
        #expect(main.count == instance.count)
    }

    // Section 1: facts that shape the unit
    @Test(arguments: [
        "Type=notify", "NotifyAccess=main", "SystemCallErrorNumber=EPERM", "RuntimeDirectoryPreserve=yes",
        "RestartPreventExitStatus=CONFIG USAGE 77", "WatchdogSec=60s", "KillMode=mixed", "LimitCORE=0", "UMask=0027",
        "Environment=LIBDISPATCH_LOG=NO SWIFT_BACKTRACE=enable=no", "ExecStart=/usr/bin/cisternd",
        "ExecPaths=/usr/bin/cisternd /usr/bin/cisternctl /usr/lib /lib /lib64",
    ])
    func aFactThatWasMeasuredStaysInTheUnit(line: String) throws {
        #expect(try settings("cisternd.service").contains(line))
    }

    // Section 1, fact 3: the exit status of ExecStartPre= does not count for RestartPreventExitStatus=
    @Test(arguments: ["cisternd.service", "cisternd@.service"]) func nothingRunsBeforeTheDaemon(unit: String) throws {
        #expect(try settings(unit).allSatisfy { !$0.hasPrefix("ExecStartPre=") })
    }

    // Section 3, the table of drop-ins
    @Test func theDropInsSayWhatNewerManagersAdd() throws {
        #expect(
            try settings("cisternd.service.d/10-notify-reload.conf") == ["Type=notify-reload", "ReloadSignal=SIGHUP", "ExecReload="])
        #expect(
            try settings("cisternd.service.d/20-v254.conf") == [
                "ImportCredential=cistern.*", "RestartSteps=5", "RestartMaxDelaySec=5min", "MemoryPressureWatch=yes",
                "FileDescriptorStoreMax=1", "FileDescriptorStorePreserve=restart",
            ])
        #expect(try settings("cisternd.service.d/30-v260.conf") == ["RefreshOnReload=credentials"])
    }

    // Section 1, fact 6: a missing credentials directory fails the unit, so it is shipped
    @Test func theCredentialsDirectoryIsMade() throws {
        #expect(try settings("cistern.tmpfiles").contains("d /etc/cistern/credentials 0700 root root -"))
        #expect(try settings("cistern.sysusers") == ["u cistern - \"Cistern\" /var/lib/cistern /usr/sbin/nologin"])
    }

    @Test(.enabled(if: Tool.isInstalled("journalctl"), "needs journalctl (package systemd)"))
    func journalctlTakesTheCatalogue() throws {
        let listed = try withInstalledRoot { root in
            let folder = URL(filePath: root).appending(path: "usr/lib/systemd/catalog")
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try files.createDirectory(atPath: root + "/var/lib/systemd/catalog", withIntermediateDirectories: true)
            try files.copyItem(at: PackageRoot.file("systemd/cisternd.catalog"), to: folder.appending(path: "cisternd.catalog"))
            #expect(try Tool.runHere(["journalctl", "--update-catalog", "--root=\(root)"]).status == 0)
            return try Tool.runHere(["journalctl", "--list-catalog", "--root=\(root)"]).output
        }
        #expect(listed.split(separator: "\n").count == MessageID.allCases.count)
        #expect(listed.split(separator: "\n").allSatisfy { $0.contains("cisternd: ") })
    }
}
