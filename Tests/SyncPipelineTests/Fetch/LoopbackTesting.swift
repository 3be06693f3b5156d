import Foundation
import SyncConfiguration
import SyncTestSupport

@testable import SyncPipeline

/// Tests that fetch over real sockets, from servers that do as a script says.
protocol LoopbackTesting {}

extension LoopbackTesting {
    /// Starts a server and a transport, and stops both.
    func with<Value>(
        _ script: @escaping @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step], options: TransportOptions = .test,
        _ body: (RawHTTPServer, any HTTPTransport) async throws -> Value
    ) async throws -> Value {
        let server = try await RawHTTPServer(script)
        let transport = try await AsyncHTTPClientTransport(options)
        do {
            let value = try await body(server, transport)
            await transport.shutdown()
            await server.shutdown()
            return value
        } catch {
            await transport.shutdown()
            await server.shutdown()
            throw error
        }
    }

    func fetch(
        _ url: String, _ transport: any HTTPTransport, validators: ConditionalGET? = nil, cookies: RunCookies? = nil,
        secrets: SecretResolver = .none, _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) async throws -> FetchOutcome {
        let settings = try Fixture.settings(url, secrets: secrets) {
            $0.retry.attempts = 1
            $0.http.waitLong()
            change(&$0)
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock(), cookies: cookies)
        return await PageFetch(PageRequest(address: settings.first), validators: validators, environment: environment).run()
    }

    func head(_ fields: String...) -> String {
        (["HTTP/1.1 200 OK", "Content-Type: application/json"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }
}

extension TransportOptions {
    /// What the tests of this folder connect with.
    static var test: TransportOptions {
        TransportOptions(
            tls: SyncConfiguration.TLSConfiguration(), allowsPrivateNetworks: true, connectTimeout: .minutes(5), connectionsPerHost: 8)
    }
}
