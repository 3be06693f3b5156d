import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Lists for each of many things, through the programs.
@Suite struct PartsTests {
    private static let repositories = 40

    /// What the server says now, and which request it answers with a kill.
    private struct Server {
        var version = 1
        var requests = 0
        var kill: (pid: Int32, request: Int)?
    }

    private static func configuration(_ api: String) -> String {
        """
        version = 1
        [log]
        format = "json"
        [document]
        autosave_interval = "1s"
        [store]
        min_free_disk = "1MiB"
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        jitter = "0%"
        [defaults.retry]
        attempts = 1

        [[source]]
        name = "hub"
        base_url = "\(api)"
        [[source.resource]]
        name = "repos"
        path = "/repos"
        entity = "Repo"
        [[source.resource]]
        name = "issues"
        path = "/repos/{repo.fullName}/issues"
        params = { of = "{repo.id}" }
        entity = "Issue"
        for_each = { resource = "repos", as = "repo", where = "archived == NO" }
        set = { repo = "{repo}", repoName = "{repo.fullName}" }
        deletion = { detect = "snapshot", confirm_runs = 1, max_fraction = 1.0 }

        [entity.Repo]
        key = ["id"]
        [entity.Repo.attributes]
        id = { type = "int64", optional = false }
        fullName = { path = "$.full_name", type = "string" }
        archived = { type = "bool", default = false }
        [entity.Issue]
        key = ["repoName", "number"]
        [entity.Issue.attributes]
        repoName = { type = "string", optional = false }
        number = { type = "int64", optional = false }
        title = { type = "string" }
        [entity.Issue.relationships]
        repo = { to = "Repo" }
        """
    }

    private static func answer(_ target: String, _ version: Int) -> String {
        if target == "/repos" {
            return "["
                + (1...repositories).map { #"{"id": \#($0), "full_name": "o/r\#($0)", "archived": \#($0 == repositories)}"# }.joined(separator: ",")
                + "]"
        }
        // Two of three issues stay, one is new with each version.
        return "[" + [1, 2, 2 + version].map { #"{"number": \#($0), "title": "v\#(version)"}"# }.joined(separator: ",") + "]"
    }

    @Test func aNewcomerMirrorsTheIssuesOfTheirRepositories() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in [.send(HostileServerTests.answer("200 OK", Self.answer(request.target, 1))), .close] }
        try shop.configure(text: Self.configuration(server.url("")))
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let trial = try await shop.run(Workshop.binary("cisternctl"), ["try", "hub/issues", "--config", "\(shop.folder)/cisternd.toml"])
        #expect(trial.status == 0 && trial.output.joined(separator: "\n").contains("/repos/o/r1/issues?of=1"), "\(trial)")
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs["hub/issues"]?.isComplete == true && runs["hub/issues"]?.counts.inserted == 3 * (Self.repositories - 1), "\(runs)")
        #expect(try await shop.sql("SELECT count(*) FROM Issue JOIN Repo ON Repo.id = Issue.repo WHERE Issue.repoName = Repo.fullName") == ["117"])
        #expect(
            try await shop.sql("SELECT count(*), min(state), max(state) FROM cistern_status WHERE resource = 'issues' AND partition <> ''") == [
                "39|ok|ok"
            ])
        let status = try await shop.control("status")
        #expect(status.output.contains { $0.contains("hub/issues") } && !status.output.contains { $0.contains("[") }, "\(status.output)")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }

    // A part is whole or as it was, at whatever request the process ends; and in the end all of them are what the server says.
    @Test func noKillLeavesAPartHalfDone() async throws {
        var random = SeededRandom(state: SeededRandom.seed)
        let shop = try Workshop(), state = SharedServer()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let version = state.value.withLock { state in
                state.requests += 1
                if let kill = state.kill, kill.request == state.requests { Glibc.kill(kill.pid, SIGKILL) }
                return state.version
            }
            return [.send(HostileServerTests.answer("200 OK", Self.answer(request.target, version))), .close]
        }
        try shop.configure(text: Self.configuration(server.url("")))
        for round in 1...6 {
            let daemon = try await shop.daemon()
            let request = Int.random(in: 2...Self.repositories, using: &random)
            state.value.withLock { $0 = Server(version: round, requests: 0, kill: (daemon.pid, request)) }
            _ = try await shop.control("sync")
            #expect(await daemon.end() == 128 + SIGKILL)
            guard try await shop.sql("SELECT count(*) FROM sqlite_master WHERE name = 'Issue'") == ["1"] else { continue }
            // What a page no longer names goes when the part is concluded from.
            let torn = try await shop.sql(
                "SELECT repoName FROM Issue AS i GROUP BY repoName "
                    + "HAVING sum(title = (SELECT max(title) FROM Issue AS j WHERE j.repoName = i.repoName)) <> 3")
            #expect(torn == [], "seed \(SeededRandom.seed), round \(round), request \(request)")
        }
        state.value.withLock { $0 = Server(version: 7) }
        let daemon = try await shop.daemon()
        let runs = try await shop.sync()
        #expect(runs["hub/issues"]?.isComplete == true, "\(runs)")
        #expect(try await shop.sql("SELECT count(*), count(DISTINCT repoName), min(title), max(title) FROM Issue") == ["117|39|v7|v7"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }

    private final class SharedServer: Sendable {
        let value = Mutex(Server())
    }
}
