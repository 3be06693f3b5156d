import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// J1: the 318 files of JSONTestSuite, each as the body of a resource of one daemon.
@Suite struct JSONTestSuiteTests {
    private static let folder = "JSONTestSuite/test_parsing"

    private static let head = """
        version = 1
        [daemon]
        start = "wait"
        [document]
        autosave_interval = "1h"
        [store]
        min_free_disk = "1MiB"
        [log]
        format = "json"
        [defaults.schedule]
        min_interval = "1s"
        [entity.Thing]
        key = ["id"]
          [entity.Thing.attributes]
          id = { type = "string", optional = false }
        [[source]]
        name = "suite"
        base_url = "@API@"

        """

    /// A body is read if it is JSON: its run ends, complete or not, or fails because what it holds is no list of records, or because all that it holds was set
    /// aside. A body is refused if its run fails for the sake of the JSON, with the place of the mistake.
    private static let isNoList = "expected an array or an object of records at"
    private static let isNoRecord = "records were set aside"

    @Test(.enabled(if: TestData.has(folder), "\(TestData.absent)"), .timeLimit(.minutes(60)))
    func everyValidBodyIsReadEveryInvalidOneRefusedAndNoneStopsTheDaemon() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let names = try FileManager.default.contentsOfDirectory(atPath: TestData.path(Self.folder)).filter { $0.hasSuffix(".json") }.sorted()
        #expect(names.count == 318)
        let server = try await shop.server("files.py", [TestData.path(Self.folder)])
        var text = Self.head.replacingOccurrences(of: "@API@", with: server.address)
        for (index, name) in names.enumerated() {
            let path = "/" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name)
            text += "[[source.resource]]\nname = \"r\(index)\"\nentity = \"Thing\"\npath = \"\(path)\"\n"
        }
        try shop.configure(text: text)
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs.count == 318)

        var counts: [Character: (read: Int, refused: Int)] = ["y": (0, 0), "n": (0, 0), "i": (0, 0)]
        for (index, name) in names.enumerated() {
            guard let run = runs["suite/r\(index)"], let kind = name.first else { continue }
            let isRead =
                [RunOutcome.succeeded, .incomplete].contains(run.outcome) || run.error?.contains(Self.isNoList) == true
                || run.error?.contains(Self.isNoRecord) == true
            if isRead { counts[kind]?.read += 1 } else { counts[kind]?.refused += 1 }
            switch kind {
            case "y": #expect(isRead, "\(name): \(run.error ?? run.outcome.rawValue)")
            case "n":
                #expect(!isRead, "\(name) was read")
                // The complaint names the resource, the place and the reason.
                #expect(run.outcome == .failed && run.error?.contains("suite/r\(index)") == true, "\(name): \(run.error ?? "")")
                #expect(
                    run.error?.contains(/line [0-9]+, column [0-9]+|at byte [0-9]+/) == true || run.error?.contains("empty") == true,
                    "\(name): \(run.error ?? "")")
            default: #expect(run.outcome == .succeeded || run.error != nil, "\(name) has no verdict")
            }
        }
        #expect(counts["y"]?.read == 95 && counts["n"]?.refused == 188)
        let open = counts["i"] ?? (0, 0)
        Evidence.note(
            "JSONTestSuite: \(counts["y"]?.read ?? 0)/95 read, \(counts["n"]?.refused ?? 0)/188 refused, "
                + "of 35 that may be either \(open.read) read and \(open.refused) refused")
        #expect(daemon.isRunning)
        #expect(try await shop.damage() == [])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }
}
