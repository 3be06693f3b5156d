import Foundation
import JSONReader
import NIOHTTP1
import Secrets
import SyncConfiguration

/// What a service answers that was asked for a token (RFC 6749, 5.1).
struct TokenAnswer: Sendable {
    let token: Secret
    /// How long the token lives, from when it was asked for; nil: the answer does not say it.
    let life: Duration?
    /// A refresh token that may take the place of the one that was used.
    let refreshToken: Secret?
    /// When it was asked for.
    let askedAt: SyncInstant
    /// The secrets that were sent, and those that came.
    var secrets: [Secret] = []

    /// A number of seconds from here on is a moment, in seconds since 1970: nobody's token lives for thirty years.
    private static let firstMoment = 1_000_000_000.0

    /// Reads an answer.
    /// - Throws: `FetchError` of the class `credential`, without anything of what the answer holds.
    init(_ body: [UInt8], _ headers: HTTPHeaders, to request: TokenRequest, askedAt: SyncInstant, now: Date) throws(FetchError) {
        self.askedAt = askedAt
        var paths: [JSONPath] = []
        if let path = request.expiresPath { paths.append(path) }
        var refreshPath: Int?
        if request.refreshToken != nil {
            refreshPath = paths.count
            paths.append(JSONPath(keys: ["refresh_token"]))
        }
        var values: [JSONValue] = []
        switch request.tokenPlace {
        case .path(let path):
            values = try Self.values(at: paths + [path], in: body)
            guard case .string(let text)? = values.last, !text.isEmpty else {
                guard case .int64(let number)? = values.last else { throw Self.missing("there is no token at \(path)") }
                token = Secret(Array("\(number)".utf8))
                break
            }
            token = Secret(Array(text.utf8))
        case .header(let name):
            guard let text = headers.first(name: name), !text.isEmpty else { throw Self.missing("it has no header \(name)") }
            token = Secret(Array(text.utf8))
            // A login may answer with nothing but the header.
            if !paths.isEmpty { values = (try? Self.values(at: paths, in: body)) ?? [] }
        }
        if request.expiresPath != nil, let value = values.first?.parameterText, let seconds = Double(value), seconds.isFinite {
            let life = seconds < Self.firstMoment ? Duration.bounded(seconds: seconds) : now.duration(to: Date(timeIntervalSince1970: seconds))
            self.life = max(life, .zero)
        } else {
            life = nil
        }
        if let refreshPath, values.indices.contains(refreshPath), let text = values[refreshPath].stringValue, !text.isEmpty {
            refreshToken = Secret(Array(text.utf8))
        } else {
            refreshToken = nil
        }
    }

    private static func missing(_ what: String) -> FetchError {
        FetchError(.credential, detail: "the answer to the request for a token cannot be used: \(what); check token_path, or token_header")
    }

    /// What a service says of a request that it refuses (RFC 6749, 5.2), in words; nil if it says nothing of that kind.
    static func refusal(_ body: [UInt8]) -> String? {
        let paths = ["error", "error_description"].map { JSONPath(keys: [$0]) }
        guard let values = try? values(at: paths, in: body), let error = values[0].stringValue, !error.isEmpty else { return nil }
        return values[1].stringValue.map { "\(error): \($0)" } ?? error
    }

    /// The values of a document, whatever its outermost value is.
    private static func values(at paths: [JSONPath], in body: [UInt8]) throws(FetchError) -> [JSONValue] {
        // As a member of an object, since a reader of records refuses a document that is only a text.
        let document = Array(#"{"a":"#.utf8) + body + Array("}".utf8)
        let plan = JSONFieldPlan(
            paths.map { path in JSONField("\(path)", path: JSONPath(segments: [.key("a")] + path.segments)) })
        do {
            return try JSONRecordReader().read(body: document, plan: JSONFieldPlan([]), envelope: plan) { _ in }.envelope
        } catch let error as JSONReaderError {
            throw missing("it is not the JSON that was expected: \(error.message)")
        } catch {
            throw missing("it cannot be read")
        }
    }
}
