import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// HTTP/2 as a real server speaks it.
@Suite(.serialized, .enabled(if: Nginx.path != nil, "nginx is not installed"))
struct HTTP2Tests {
    private func fetch(
        _ nginx: Nginx, options change: (inout TransportOptions) -> Void = { _ in }, validators: ConditionalGET? = nil
    ) async throws -> FetchOutcome {
        var options = TransportOptions.test
        options.tls.ca = .file(nginx.identity.certificate)
        change(&options)
        let transport = try AsyncHTTPClientTransport(options)
        let settings = try Fixture.settings("https://localhost:\(nginx.port)/items.json") {
            // The server may not listen yet.
            $0.retry.errors = [.connect]
            $0.retry.attempts = 200
            $0.retry.base = .milliseconds(50)
            $0.retry.factor = 1
            $0.retry.jitter = .none
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: SystemClock())
        let outcome = await PageFetch(PageRequest(address: settings.first), validators: validators, environment: environment).run()
        await transport.shutdown()
        return outcome
    }

    @Test func aPageComesOverHTTP2() async throws {
        let nginx = try await Nginx()
        defer { nginx.stop() }
        guard case .page(let page) = try await fetch(nginx) else { throw Unexpected() }
        #expect(page.headers.first(name: "X-Protocol") == "HTTP/2.0")
        #expect(page.body == nginx.body)
        #expect(page.received < page.body.count)
        #expect(page.headers.first(name: "Content-Encoding") == "gzip")
        guard case .notModified = try await fetch(nginx, validators: page.validators) else { throw Unexpected() }
    }

    // N5
    @Test func aPrivateAddressIsRefusedOverHTTP2() async throws {
        let nginx = try await Nginx()
        defer { nginx.stop() }
        guard case .page = try await fetch(nginx) else { throw Unexpected() }
        let requests = nginx.requests
        let error = try await fetch(nginx, options: { $0.allowsPrivateNetworks = false }).error
        #expect(error?.kind == .refused(.privateAddress("127.0.0.1")) || error?.kind == .refused(.privateAddress("::1")))
        #expect(nginx.requests == requests)
    }
}

/// An nginx of its own, in a directory of its own.
private final class Nginx {
    static let path = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].first { FileManager.default.isExecutableFile(atPath: $0) }

    let identity: TestIdentity
    let port: Int
    let body = Array("[\(String(repeating: "{\"id\": 1, \"name\": \"something\"},", count: 2000)) null]".utf8)
    private let directory: URL
    private let process = Process()

    init() async throws {
        identity = try TestIdentity(for: ["DNS:localhost"])
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // A port that is free now, and with luck a moment later.
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
        try await listener.close()
        try Data(body).write(to: directory.appendingPathComponent("items.json"))
        let configuration = """
            daemon off; master_process off; pid \(directory.path)/pid; error_log \(directory.path)/error;
            events {}
            http {
              access_log \(directory.path)/access;
              default_type application/json; types { application/json json; } gzip on; gzip_types application/json;
              client_body_temp_path \(directory.path)/a; proxy_temp_path \(directory.path)/b; fastcgi_temp_path \(directory.path)/c;
              uwsgi_temp_path \(directory.path)/d; scgi_temp_path \(directory.path)/e;
              server {
                listen 127.0.0.1:\(port) ssl http2; root \(directory.path); add_header X-Protocol $server_protocol;
                ssl_certificate \(identity.certificate); ssl_certificate_key \(identity.key);
              }
            }
            """
        try Data(configuration.utf8).write(to: directory.appendingPathComponent("nginx.conf"))
        process.executableURL = URL(fileURLWithPath: Self.path ?? "nginx")
        process.arguments = ["-p", directory.path, "-c", directory.appendingPathComponent("nginx.conf").path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// The requests it has answered.
    var requests: Int {
        (try? String(contentsOf: directory.appendingPathComponent("access"), encoding: .utf8))?.split(separator: "\n").count ?? 0
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
        identity.remove()
    }
}
