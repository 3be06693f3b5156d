import Foundation
import SyncTestSupport
import Testing

/// The service under a real systemd, as a package would install it. One boot; each check is a line of the script in `in-box`.
@Suite struct ServiceTests {
    private static var box: String { "\(TestData.project)/Scripts/systemd-box" }

    /// Why no box can be made here; nil if one can.
    private static let obstacle: String? = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: box)
        process.arguments = ["--check"]
        let pipe = Pipe()
        process.standardOutput = pipe
        // Without the script nothing is skipped: the test fails on it.
        do { try process.run() } catch { return nil }
        let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : words.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    /// What has to be proved, by the names the script uses.
    private static let checks = [
        "start-waits-for-ready", "status-is-shown", "security-score", "rows-arrive", "group-reads-running", "others-read-nothing",
        "journal-fields", "catalogue-explains", "credential-is-used", "missing-credential-named", "usr1-polls-at-once", "reload-takes-effect",
        "bad-reload-refused", "bad-reload-in-journal", "old-configuration-stays", "model-reload-migrates", "second-instance-75", "no-secret-anywhere",
        "watchdog-restarts", "kill-9-restarts-with-the-same-rows", "sigterm-exits-0", "group-reads-stopped", "bad-configuration-78-no-restart",
    ]

    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"), .timeLimit(.minutes(60)))
    func theServiceBehavesUnderARealSystemd() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let binaries = URL(fileURLWithPath: try Workshop.binary("cisternd")).deletingLastPathComponent().path
        _ = try Workshop.binary("cisternctl")
        // The programs as they were built need the toolchain's libraries, wherever they are.
        let libraries = try await shop.run(
            "sh", ["-c", "ldd \"$1\" | sed -n 's/.*=> \\(.*\\)\\/libswiftCore.so.*/\\1/p'", "-", "\(binaries)/cisternd"])
        // In the box, /tmp is another one.
        let result = try await shop.run(
            Self.box,
            [
                "--project", TestData.project, "--scratch", "\(shop.folder)/scratch", "--timeout", "540", "--ro", "\(binaries):/opt/cistern-build",
                "--env", "SWIFT_LIBRARIES=\(libraries.output.first ?? "")", "\(TestData.project)/Tests/EndToEndTests/in-box/service",
            ])
        let verdicts = result.output.filter { $0.hasPrefix("ok ") || $0.hasPrefix("not ok ") }
        let report = (result.output + result.errors).joined(separator: "\n")
        for check in Self.checks { #expect(verdicts.contains("ok \(check)"), "\(check)\n\(report)") }
        #expect(result.status == 0, "\(report)")
        Evidence.note("systemd: \(verdicts.count { $0.hasPrefix("ok ") }) of \(Self.checks.count) checks hold")
    }
}
