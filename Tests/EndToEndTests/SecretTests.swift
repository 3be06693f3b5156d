import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// Secrets and certificates, as the service manager passes them and as files.
@Suite struct SecretTests {
    private func shop(_ server: RawHTTPServer, _ change: (String) -> String) throws -> Workshop {
        let shop = try Workshop()
        try shop.configure(text: change(HostileServerTests.configuration(server, paths: ["good"])))
        return shop
    }

    /// Starts `cisternd` with a folder of credentials.
    private func daemon(_ shop: Workshop, credentials: [String: String]) async throws -> Child {
        let folder = "\(shop.folder)/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in credentials { try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8) }
        let words = ["CREDENTIALS_DIRECTORY=\(folder)", try Workshop.binary("cisternd"), "--config", "\(shop.folder)/cisternd.toml"]
        let daemon = try shop.start("env", words)
        try await daemon.line { $0.contains(MessageMark.ready) }
        return daemon
    }

    /// A server with a certificate that signs itself, and another certificate.
    private struct Authorities {
        private let identity: TestIdentity, stranger: TestIdentity
        let server: RawHTTPServer
        var right: String { identity.certificate }
        var other: String { stranger.certificate }

        init() async throws {
            identity = try TestIdentity(for: ["IP:127.0.0.1"])
            stranger = try TestIdentity(for: ["IP:127.0.0.1"])
            server = try await RawHTTPServer(identity: identity) { _, _ in [.send(HostileServerTests.answer("200 OK", "[{\"id\": 1}]")), .close] }
        }

        func remove() {
            identity.remove()
            stranger.remove()
        }

        /// The configuration with that authority.
        func trusted(_ text: String, _ authority: String) -> String {
            text.replacingOccurrences(of: "http://", with: "https://")
                .replacingOccurrences(of: "[[source]]", with: "[defaults.tls]\nca = \(authority)\n[[source]]")
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: [true, false]) func anAuthorityMayBeACredential(isTheRightOne: Bool) async throws {
        let authorities = try await Authorities(), server = authorities.server
        defer { authorities.remove() }
        let shop = try shop(server) { authorities.trusted($0, "{ credential = \"authority\" }") }
        defer { shop.close() }
        let certificate = isTheRightOne ? authorities.right : authorities.other
        let daemon = try await daemon(shop, credentials: ["authority": String(contentsOfFile: certificate, encoding: .utf8)])
        let run = try #require(try await shop.sync()["shop/good"])
        #expect(run.outcome == (isTheRightOne ? .succeeded : .failed), "\(run.error ?? "")")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60))) func anAuthorityThatWasReplacedCountsAfterAReload() async throws {
        let authorities = try await Authorities(), server = authorities.server
        defer { authorities.remove() }
        let shop = try Workshop()
        defer { shop.close() }
        let file = "\(shop.folder)/authority.pem"
        try FileManager.default.copyItem(atPath: authorities.other, toPath: file)
        try shop.configure(text: authorities.trusted(HostileServerTests.configuration(server, paths: ["good"]), "\"\(file)\""))
        let daemon = try await shop.daemon()
        #expect(try await shop.sync()["shop/good"]?.outcome == .failed)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.copyItem(atPath: authorities.right, toPath: file)
        #expect(try await shop.sync()["shop/good"]?.outcome == .failed)
        #expect(try await shop.control("reload", "--wait").status == 0)
        #expect(try await shop.sync()["shop/good"]?.outcome == .succeeded)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60))) func aSecretThatEverybodyMayReadIsWarnedOf() async throws {
        let server = try await RawHTTPServer(.send(HostileServerTests.answer("200 OK", "[]")), .close)
        let secret = "\(NSTemporaryDirectory())/cistern-secret-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: secret) }
        try "topsecret".write(toFile: secret, atomically: true, encoding: .utf8)
        let shop = try shop(server) {
            $0.replacingOccurrences(
                of: "[[source.resource]]", with: "auth = { kind = \"bearer\", token = { file = \"\(secret)\" } }\n[[source.resource]]")
        }
        defer { shop.close() }
        for (mode, isWarned) in [(mode_t(0o644), true), (0o640, false), (0o600, false)] {
            #expect(chmod(secret, mode) == 0)
            let sentence = "everyone on this machine can read the secret in \(secret)"
            let check = try await shop.run(Workshop.binary("cisternctl"), ["check", "--config", "\(shop.folder)/cisternd.toml"])
            #expect(check.status == 0 && check.output.contains { $0.contains(sentence) } == isWarned, "\(check)")
            let daemon = try await shop.daemon()
            #expect(daemon.errors.contains { $0.contains(sentence) } == isWarned)
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
        }
        await server.shutdown()
    }
}
