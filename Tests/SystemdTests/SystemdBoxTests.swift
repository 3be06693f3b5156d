import Foundation
import Testing

@testable import Systemd

/// `Scripts/systemd-box`, and what only a real systemd can show. Where no box can be made, each test is skipped with the reason.
@Suite(.serialized) struct SystemdBoxTests {
    static let tool = PackageRoot.file("Scripts/systemd-box").path

    /// Why this machine cannot run a box; nil if it can.
    static let obstacle: String? = {
        guard let outcome = try? Tool.runHere([tool, "--check"]) else { return "Scripts/systemd-box does not run" }
        return outcome.status == 0 ? nil : outcome.output.trimmingCharacters(in: .newlines)
    }()

    // Where namespaces or systemd are missing there is nothing to test; the reason stands in the output.
    static var canBox: ConditionTrait { .disabled(if: obstacle != nil, Comment(rawValue: obstacle ?? "")) }

    private func box(_ script: String, _ options: [String] = [], timeout: Int = 300) async throws -> Tool.Outcome {
        let file = FileManager.default.temporaryDirectory.appending(path: "script-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try script.write(to: file, atomically: true, encoding: .utf8)
        let project = PackageRoot.url.path
        return try await Tool.run([Self.tool, "--project", project, "--timeout", String(timeout)] + options + [file.path, "one", "t w o"])
    }

    @Test(canBox) func aScriptRunsUnderARealSystemd() async throws {
        let outcome = try await box(
            """
            systemctl is-system-running
            cat /proc/1/comm
            echo "$1,$2,$NUMBER,$SYSTEMD_BOX,$PWD"
            echo to stderr >&2
            """, ["--env", "NUMBER=7"])
        #expect(outcome.status == 0)
        #expect(outcome.output == "running\nsystemd\none,t w o,7,1,\(PackageRoot.url.path)\n")
        #expect(outcome.errors == "to stderr\n")
    }

    @Test(canBox, arguments: [("exit 7", 7), ("kill -TERM $$", 143), ("exec sleep 600", 124)] as [(String, Int32)])
    func theStatusIsThatOfTheScript(script: String, status: Int32) async throws {
        let outcome = try await box(script, timeout: script.contains("sleep") ? 2 : 300)
        #expect(outcome.status == status)
        #expect(outcome.errors.contains("the end of the journal"))
    }

    @Test(canBox) func aServiceGetsItsCredential() async throws {
        let outcome = try await box(
            """
            mkdir /etc/secrets && echo of-no-use > /etc/secrets/token
            printf '%s\\n' '[Service]' Type=oneshot DynamicUser=yes LoadCredential=cred:/etc/secrets \
                'ExecStart=/bin/sh -c "cat $CREDENTIALS_DIRECTORY/cred_token"' > /etc/systemd/system/reader.service
            systemctl daemon-reload && systemctl start reader && journalctl --sync && journalctl -u reader -t sh -o cat
            """)
        #expect(outcome.output == "of-no-use\n", "\(outcome.errors)")
    }

    @Test(canBox) func theBoxWritesOnlyWhereItMay() async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "scratch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let outcome = try await box(
            """
            touch "$SYSTEMD_BOX_PROJECT/must-not-be" 2> /dev/null && echo project
            touch /etc/only-in-the-box && echo etc
            echo kept > "$SYSTEMD_BOX_SCRATCH/file"
            """, ["--scratch", scratch.path])
        #expect(outcome.output == "etc\n")
        #expect(!FileManager.default.fileExists(atPath: "/etc/only-in-the-box"))
        #expect(try String(contentsOf: scratch.appending(path: "file"), encoding: .utf8) == "kept\n")
    }

    @Test(canBox) func aBoxThatDiesIsReportedWithItsConsole() async throws {
        let outcome = try await box("kill -SEGV 1; exec sleep 600")
        #expect(outcome.status == 125)
        #expect(outcome.errors.contains("Queued start job"))
    }

    @Test func aWrongCommandLineIsRefused() async throws {
        for arguments in [[], ["--nonsense", "x"], ["--timeout", "soon", "x"], ["--ro", "/nonexistent", "x"]] {
            #expect(try await Tool.run([Self.tool] + arguments).status == (Self.obstacle == nil || !arguments.isEmpty ? 2 : 125))
        }
    }

    /// Runs the tests that only mean something in a box: this very program, in one.
    @Test(canBox) func aRealJournalAndManagerHearUs() async throws {
        let program = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let build = program.deletingLastPathComponent().path
        let outcome = try await box(
            """
            install -D -m 644 systemd/cisternd.catalog /usr/lib/systemd/catalog/cisternd.catalog && journalctl --update-catalog
            "\(program.path)" --testing-library swift-testing --filter RealSystemdTests 2>&1
            """, ["--ro", build])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("Test run with 3 tests"), "\(outcome.output)")
        #expect(!outcome.output.contains("skipped"), "\(outcome.output)")
    }
}
