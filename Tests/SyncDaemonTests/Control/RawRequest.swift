import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SyncControl
import Synchronization

/// A request as `curl --unix-socket` makes it.
enum RawRequest {
    static func send(_ method: String, _ target: String, socket: String) async throws -> (status: Int, body: String) {
        let path = socket.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socket
        var request = HTTPClientRequest(url: "http+unix://\(path)\(target)")
        request.method = HTTPMethod(rawValue: method)
        request.headers.replaceOrAdd(name: "Host", value: "localhost")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), String(buffer: body))
    }
}

/// Keeps lines of progress.
final class ProgressList: Sendable {
    private let list = Mutex<[SyncProgress]>([])

    var all: [SyncProgress] { list.withLock { $0 } }
    func append(_ progress: SyncProgress) { list.withLock { $0.append(progress) } }
}
