import Foundation
import Glibc
import SyncControl
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Tokens through the programs: a service that replaces its refresh tokens, and a daemon that is killed while it does.
@Suite struct TokenTests {
    /// When a round's daemon is killed.
    private enum Moment: CaseIterable {
        /// The service has replaced the refresh token, and its answer does not leave.
        case beforeTheAnswer
        /// While the answer is on its way.
        case withTheAnswer
        /// At the first request that carries the new token: then the new refresh token is stored.
        case atTheFirstUse
    }

    /// A service of tokens, and the API that takes them.
    private final class Service: Sendable {
        private struct State {
            /// The refresh token that was given last; before any was, the configured one.
            var newest = "REFRESH-SECRET-0"
            /// What was used to get it. It is good until the newest is used, if the service is lenient.
            var previous: String?
            var issued = 0
            var refused = 0
            var isLenient: Bool
            var kill: (pid: Int32, at: Moment)?
        }

        private let state: Mutex<State>

        init(isLenient: Bool) { state = Mutex(State(isLenient: isLenient)) }

        var refused: Int { state.withLock { $0.refused } }
        var issued: Int { state.withLock { $0.issued } }

        func kill(_ pid: Int32, at moment: Moment) { state.withLock { $0.kill = (pid, moment) } }

        /// Somebody consents anew: this is what may be configured then.
        func consent() -> String {
            state.withLock { state in
                state.issued += 1
                state.newest = "REFRESH-SECRET-\(state.issued)"
                state.previous = nil
                return state.newest
            }
        }

        func answer(_ request: RawHTTPServer.Request) -> [RawHTTPServer.Step] {
            let (answer, kill): ([UInt8], (pid: Int32, at: Moment)?) = state.withLock { state in
                let isOfTokens = request.target == "/token"
                let answer = isOfTokens ? Self.token(request, &state) : Self.items(request, state.issued)
                guard let kill = state.kill, isOfTokens != (kill.at == .atTheFirstUse) else { return (answer, nil) }
                state.kill = nil
                return (answer, kill)
            }
            if let (pid, moment) = kill {
                switch moment {
                case .beforeTheAnswer, .atTheFirstUse: _ = Glibc.kill(pid, SIGKILL)
                case .withTheAnswer: Task.detached { Glibc.kill(pid, SIGKILL) }
                }
            }
            return [.send(answer), .close]
        }

        private static func token(_ request: RawHTTPServer.Request, _ state: inout State) -> [UInt8] {
            let sent = request.form["refresh_token"]
            let isClient = request.headers["authorization"] == "Basic \(Data("client:CLIENT-SECRET".utf8).base64EncodedString())"
            guard isClient, sent == state.newest || (state.isLenient && sent == state.previous) else {
                state.refused += 1
                let said = #"{"error": "invalid_grant", "error_description": "unknown: \#(sent ?? "")"}"#
                return HostileServerTests.answer("400 Bad Request", said)
            }
            state.issued += 1
            state.previous = sent
            state.newest = "REFRESH-SECRET-\(state.issued)"
            return HostileServerTests.answer(
                "200 OK", #"{"access_token": "ACCESS-SECRET-\#(state.issued)", "expires_in": 3600, "refresh_token": "\#(state.newest)"}"#)
        }

        private static func items(_ request: RawHTTPServer.Request, _ issued: Int) -> [UInt8] {
            guard request.headers["authorization"] == "Bearer ACCESS-SECRET-\(issued)" else {
                return HostileServerTests.answer("401 Unauthorized", #"{"said": "\#(request.headers["authorization"] ?? "")"}"#)
            }
            return HostileServerTests.answer("200 OK", #"[{"id": 1}, {"id": 2}]"#)
        }
    }

    private static func configuration(_ api: String, grant: String = "refresh-token") -> String {
        let refresh = grant == "refresh-token" ? "refresh_token = { credential = \"refresh\" }" : ""
        return """
            version = 1
            [daemon]
            start = "wait"
            [log]
            format = "json"
            level = "debug"
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
            name = "api"
            url = "\(api)/items"
            entity = "Item"
            [source.auth]
            kind = "oauth2"
            grant = "\(grant)"
            token_url = "\(api)/token"
            client_id = "client"
            client_secret = { credential = "client" }
            \(refresh)

            [entity.Item]
            key = ["id"]
            [entity.Item.attributes]
            id = { type = "int64", optional = false }
            """
    }

    private func put(_ shop: Workshop, refresh: String) throws {
        let folder = "\(shop.folder)/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in ["client": "CLIENT-SECRET", "refresh": refresh] {
            try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
    }

    private func daemon(_ shop: Workshop) async throws -> Child {
        let words = ["CREDENTIALS_DIRECTORY=\(shop.folder)/credentials", try Workshop.binary("cisternd"), "--config", "\(shop.folder)/cisternd.toml"]
        let daemon = try shop.start("env", words)
        try await daemon.line { $0.contains(MessageMark.ready) }
        return daemon
    }

    /// What can be promised: a service that keeps a refresh token good until the next one is used locks nobody out, whenever the daemon is killed.
    /// One that does not, does so only if its answer was lost; a daemon that has used a token has stored the refresh token that came with it.
    @Test(.timeLimit(.minutes(60)), arguments: [true, false]) func noKillLocksTheDaemonOut(isLenient: Bool) async throws {
        var random = SeededRandom(state: SeededRandom.seed)
        let shop = try Workshop(), service = Service(isLenient: isLenient)
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in service.answer(request) }
        try shop.configure(text: Self.configuration(server.url("")))
        try put(shop, refresh: "REFRESH-SECRET-0")
        var lost = 0, journal: [String] = []
        for round in 1...9 {
            let moment = random.one(of: Moment.allCases)
            let killed = try await daemon(shop)
            service.kill(killed.pid, at: moment)
            _ = try await shop.control("sync")
            #expect(await killed.end() == 128 + SIGKILL, "seed \(SeededRandom.seed), round \(round), \(moment)")
            journal += killed.output + killed.errors

            let refused = service.refused
            let next = try await daemon(shop)
            var run = try #require(try await shop.sync()["api/api"])
            if service.refused > refused {
                lost += 1
                #expect(!isLenient && moment != .atTheFirstUse, "seed \(SeededRandom.seed), round \(round), \(moment)")
                #expect(run.outcome == .failed && run.error?.contains("invalid_grant") == true, "\(run.error ?? "")")
                #expect(service.refused == refused + 1)
                // Whoever is locked out configures a new token, which counts from then on.
                try put(shop, refresh: service.consent())
                run = try #require(try await shop.sync()["api/api"])
            }
            #expect(run.outcome == .succeeded, "seed \(SeededRandom.seed), round \(round), \(moment): \(run.error ?? "")")
            next.signal(SIGTERM)
            #expect(await next.end() == 0)
            journal += next.output + next.errors
        }
        Evidence.note("tokens, lenient \(isLenient): 9 kills, seed \(SeededRandom.seed), \(service.issued) tokens, \(lost) answers lost for good")
        try await expectNoSecret(shop, journal)
        await server.shutdown()
    }

    /// Neither what others may read, nor what is told to anybody, holds a secret.
    private func expectNoSecret(_ shop: Workshop, _ journal: [String]) async throws {
        #expect(!journal.contains { $0.contains("-SECRET") })
        #expect(journal.contains { $0.contains("a new token") })
        let found = try await shop.run("grep", ["-rlaF", "-e", "-SECRET", "\(shop.folder)/state"])
        #expect(found.output.allSatisfy { $0.hasPrefix("\(shop.folder)/state/tokens/") } && !found.output.isEmpty, "\(found.output)")
        for path in found.output {
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o077 == 0, "\(path)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func aTrialShowsNoSecretAndUsesNoRefreshTokenUp() async throws {
        let shop = try Workshop(), service = Service(isLenient: false)
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            // The other grant, and an answer that shows what was sent.
            guard request.target == "/token", request.form["grant_type"] == "client_credentials" else { return service.answer(request) }
            return [.send(HostileServerTests.answer("200 OK", #"{"access_token": "ACCESS-SECRET-0"}"#)), .close]
        }
        let api = server.url("")
        try put(shop, refresh: "REFRESH-SECRET-0")
        func trial() async throws -> (status: Int32, output: [String], errors: [String]) {
            let words = ["CREDENTIALS_DIRECTORY=\(shop.folder)/credentials", try Workshop.binary("cisternctl"), "try", "api/api"]
            return try await shop.run("env", words + ["--config", "\(shop.folder)/cisternd.toml"])
        }
        try shop.configure(text: Self.configuration(api, grant: "client-credentials"))
        let shown = try await trial()
        #expect(shown.status == 0 && shown.output.contains { $0.contains("2 objects") }, "\(shown)")
        #expect(!(shown.output + shown.errors).contains { $0.contains("-SECRET") })

        try shop.configure(text: Self.configuration(api))
        let refused = try await trial()
        #expect(refused.status == 77 && refused.errors.contains { $0.contains("used by the daemon alone") }, "\(refused)")
        #expect(service.issued == 0 && service.refused == 0)

        let daemon = try await daemon(shop)
        #expect(try await shop.sync()["api/api"]?.outcome == .succeeded)
        let status = try await shop.control("status", "--json")
        #expect(!(status.output + status.errors).contains { $0.contains("-SECRET") })
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }
}
