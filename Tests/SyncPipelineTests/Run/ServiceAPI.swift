import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A service as its documentation describes it, as far as a test needs it: answers by path, parameters and what is sent. What nobody has thought of is
/// answered 404.
final class ServiceAPI: Sendable {
    private struct Rule: Sendable {
        let address: String
        let query: [String: String?]
        let sent: [String]
        let status: Int
        let headers: HTTPHeaders
        let body: String
    }

    private let rules = Mutex<[Rule]>([])

    /// Sets an answer, which comes before those that were set earlier.
    ///
    /// - Parameters:
    ///   - address: as it is requested, but for its query.
    ///   - query: parameters and their values; nil for one that must not be there. Others do not matter.
    ///   - sent: what must be somewhere in the body of the request.
    func on(
        _ address: String, _ query: [String: String?], sending sent: [String] = [], status: Int = 200, headers: HTTPHeaders = [:], _ body: String
    ) {
        let rule = Rule(address: address, query: query, sent: sent, status: status, headers: headers, body: body)
        rules.withLock { $0.insert(rule, at: 0) }
    }

    /// The same, whatever the parameters are.
    func on(_ address: String, sending sent: [String] = [], status: Int = 200, headers: HTTPHeaders = [:], _ body: String) {
        on(address, [:], sending: sent, status: status, headers: headers, body)
    }

    func answer(_ request: HTTPRequest) -> StubTransport.Answer {
        let address = request.address, sent = request.body?.revealed() ?? ""
        let plain = String(address.url.absoluteString.prefix { $0 != "?" })
        let found = rules.withLock { rules in
            rules.first { rule in
                rule.address == plain && rule.query.allSatisfy { address.parameter($0.key) == $0.value } && rule.sent.allSatisfy { sent.contains($0) }
            }
        }
        guard let found else { return .response(status: 404, headers: ["Content-Type": "application/json"], body: Array("{}".utf8)) }
        var headers = found.headers
        headers.replaceOrAdd(name: "Content-Type", value: "application/json; charset=utf-8")
        return .response(status: found.status, headers: headers, body: Array(found.body.utf8))
    }

    /// A pipeline with one source that names a preset. Every secret is "secret"; nothing is asked for again.
    func fixture(_ preset: String, _ lines: String, with: String = "") async throws -> PipelineFixture {
        let secrets = SecretResolver { _, _ in Secret(Array("secret".utf8)) }
        return try await PipelineFixture(Self.toml(preset, lines, with: with), secrets: secrets) { request, _ in self.answer(request) }
    }

    static func toml(_ preset: String, _ lines: String, with: String = "") -> String {
        """
        [daemon]
        contact = "test@localhost"
        [defaults.retry]
        attempts = 1
        [[source]]
        preset = "\(preset)"
        \(lines)
        [source.with]
        \(with)
        """
    }
}

extension PipelineFixture {
    /// What the last request asked for: its query, decoded parameter by parameter.
    func lastParameter(_ name: String) -> String? { transport.requests.last?.address.parameter(name) }

    /// What the last request sent.
    var lastBody: String { transport.requests.last?.body?.revealed() ?? "" }
}
