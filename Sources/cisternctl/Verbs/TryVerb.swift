import ArgumentParser
import Foundation
import Secrets
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `try`: fetch and map without the daemon, and keep nothing.
struct TryVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Fetch a page, show the answer and what would be stored. Writes nothing.",
        discussion: "Ends with 0, 65 if records cannot be mapped, 69 if the server cannot be reached, 76 for a bad answer, 77 for credentials.")

    /// Where the packaged service gets its credentials from: the service manager does not pass them to this tool.
    static let credentialSources = "/etc/cistern/credentials"

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE/RESOURCE")
    var scope: String

    @Option(help: "Fetch at most this many pages.")
    var pages = 1

    @Option(help: "Show this many objects of each entity.")
    var objects = 3

    func validate() throws {
        guard (1...1000).contains(pages) else { throw ValidationError("--pages takes a number from 1 to 1000") }
        guard (0...1000).contains(objects) else { throw ValidationError("--objects takes a number from 0 to 1000") }
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let configuration = try surroundings.configuration(options, telling: { $0.keyPath.hasSuffix("auth") })
        guard let resource = configuration.resource(scope: scope) else {
            let known = configuration.sources.flatMap(\.resources).map(\.scope).joined(separator: ", ")
            throw ControlError(
                "there is no resource \"\(scope)\"", advice: known.isEmpty ? "the configuration has none" : "there are \(known)", code: .usage)
        }
        let secrets = SecretResolver(SecretReader(environment: surroundings.environment, sources: Self.credentialSources))
        let transports = TransportPool(secrets: secrets)
        let tokens = Self.tokens(scope)
        do {
            let fetched = try await PageTrial.run(
                resource, configuration: configuration, transports: transports, clock: SystemClock(), secrets: secrets, tokens: tokens,
                version: CisternVersion.current, pages: pages, objects: objects)
            await transports.shutdown()
            try show(fetched, surroundings.console)
            return fetched.contains { !$0.rejected.isEmpty } ? .dataError : .success
        } catch {
            await transports.shutdown()
            throw Self.explain(error)
        }
    }

    /// Tokens that are fetched for a try: none that would use one up.
    static func tokens(_ scope: String) -> TokenPool {
        TokenPool(
            vault: .refusing(
                "a refresh token is used by the daemon alone, since a service may put another one in its place; ask it: cisternctl sync --wait \(scope)"
            ))
    }

    private struct Answer: Encodable {
        struct Object: Encodable {
            var entity: String
            var values: [String: String]
        }
        struct Rejected: Encodable {
            var record: Int
            var reason: String
            var path: String
        }
        var method: String
        /// What was sent; empty with a GET.
        var sent: String
        var url: String
        var status: Int
        var headers: [[String]]
        var bytes: Int
        var counts: RecordCounts
        var rejected: [Rejected]
        /// How many records say that their objects are gone.
        var deletions: Int
        var objects: [Object]
        var next: String

        init(_ page: PageTrial.Page) {
            method = page.method.rawValue
            sent = page.sent
            url = page.url
            status = page.status
            headers = page.headers.filter { !TryVerb.isSecret($0.name) }.map { [$0.name, $0.value] }
            bytes = page.bytes
            counts = page.counts
            rejected = page.rejected.map { Rejected(record: $0.record, reason: $0.reason, path: $0.path) }
            deletions = page.deletions
            objects = page.objects.map { object in
                Object(entity: object.entity, values: Dictionary(object.values.map { ($0.name, $0.value) }) { first, _ in first })
            }
            next = page.next
        }
    }

    private func show(_ pages: [PageTrial.Page], _ console: Console) throws {
        if options.json {
            try console.json(pages.map { Answer($0) }, pretty: true)
            return
        }
        for page in pages {
            console.out("\(page.method.rawValue) \(page.url)")
            if !page.sent.isEmpty { console.out("  \(RemoteText.line(page.sent))") }
            console.out("\(page.status), \(page.bytes) bytes, \(RelativeTime.text(page.duration))")
            for header in page.headers where !Self.isSecret(header.name) { console.out("  \(header.name): \(header.value)") }
            let deletions = page.deletions == 0 ? "" : ", \(page.deletions) that are gone"
            console.out("\(page.counts.inserted) objects\(deletions), \(page.rejected.count) records set aside")
            for record in page.rejected.prefix(10) {
                console.out("  record \(record.record): \(record.reason)\(record.path.isEmpty ? "" : " at \(record.path)")")
            }
            for object in page.objects {
                console.out("\(object.isRecord ? "" : "  and ")\(object.entity)")
                let width = object.values.map(\.name.count).max() ?? 0
                for value in object.values {
                    console.out("    \(value.name.padding(toLength: width, withPad: " ", startingAt: 0))  \(value.value)")
                }
            }
            console.out(page.next)
        }
    }

    /// A header of an answer that may hold a session.
    static func isSecret(_ name: String) -> Bool { ["set-cookie", "set-cookie2"].contains(name.lowercased()) }

    static func explain(_ error: any Error) -> ControlError {
        guard let error = error as? FetchError else { return ControlError("\(error)", code: .dataError) }
        switch error.kind {
        case .connect, .timeout, .reset, .dnsTemporary, .dnsNotFound, .tls: return ControlError("\(error)", code: .unavailable)
        case .credential: return ControlError("\(error)", advice: "check [source.auth]; root can read the credentials", code: .noPermission)
        case .status(401), .status(403), .status(407): return ControlError("\(error)", advice: "check [source.auth]", code: .noPermission)
        case .status(let status) where status >= 500 || status == 429: return ControlError("\(error)", code: .unavailable)
        default: return ControlError("\(error)", code: .protocolError)
        }
    }
}
