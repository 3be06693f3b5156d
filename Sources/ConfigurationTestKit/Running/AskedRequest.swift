import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncPipeline

/// A request as it was made, ready to be compared with those of a test. Its secrets are those of the test.
struct AskedRequest: Sendable {
    let method: RequestMethod
    let address: HTTPAddress
    let headers: HTTPHeaders
    let body: String

    init(_ request: HTTPRequest) {
        method = request.method
        address = request.address
        headers = request.headers
        body = request.body?.revealed() ?? ""
    }

    /// Whether a test means this request.
    func isMeant(by wanted: RecordedExchange.Request, secrets: TestSecrets) -> Bool {
        guard wanted.method == method, ComparedAddress(wanted.address) == ComparedAddress(address) else { return false }
        if let text = wanted.body, text != body { return false }
        if let json = wanted.json, TestValue(json: body.utf8)?.holds(json) != true { return false }
        return wanted.headers.allSatisfy { header in
            headers[header.name].contains { value in
                switch header.value {
                case .text(let text): value == text
                case .secret(let reference): value.contains(secrets.value(of: reference))
                }
            }
        }
    }

    /// `GET https://api.example/items?page=2`
    var line: String { "\(method.rawValue) \(address)" }

    /// As keys of an exchange; what is sent as JSON where it is that.
    var toml: String {
        var lines = ["request = \(tomlQuoted(line))"]
        if !body.isEmpty {
            if let json = TestValue(json: body.utf8), json != .null, !json.hasNull {
                lines.append("request_json = \(json.toml)")
            } else {
                lines.append("request_body = \(tomlQuoted(body))")
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// What tells addresses apart: the parameters count in any order, and escapes that nobody needs do not.
private struct ComparedAddress: Equatable {
    let origin: Origin
    let path: String
    let parameters: [String]

    init(_ address: HTTPAddress) {
        origin = address.origin
        let parts = URLComponents(url: address.url, resolvingAgainstBaseURL: true)
        let path = parts?.percentEncodedPath ?? ""
        self.path = path.isEmpty ? "/" : path
        let query = parts?.percentEncodedQuery ?? ""
        parameters = query.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { piece in
                let text = piece.replacing("+", with: " ")
                return text.removingPercentEncoding ?? String(text)
            }
            // No name holds this.
            return pair.joined(separator: "\u{0}")
        }.sorted()
    }
}

extension TestValue {
    /// Whether a null is anywhere in it, for which TOML has no word.
    var hasNull: Bool {
        switch self {
        case .null: true
        case .list(let values): values.contains(where: \.hasNull)
        case .table(let members): members.values.contains(where: \.hasNull)
        default: false
        }
    }
}
