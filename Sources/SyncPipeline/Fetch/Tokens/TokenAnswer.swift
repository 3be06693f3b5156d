import Foundation
import JSONReader
import NIOHTTP1
import Secrets
import SyncConfiguration

/// What a service answers that was asked for a token (RFC 6749, 5.1).
struct TokenAnswer: Sendable {
    /// Or why there is none, in an error of the class `credential` without anything of what the answer holds. A refresh token may have come all the same,
    /// and be the only one that is good for anything.
    var token: Result<Secret, FetchError>
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

    /// Reads an answer. The parts are read one by one: none is lost because of another.
    init(_ body: [UInt8], _ headers: HTTPHeaders, to request: TokenRequest, askedAt: SyncInstant, now: Date) {
        self.askedAt = askedAt
        refreshToken = Self.refreshPaths(of: request).lazy.compactMap { Self.text(at: $0, in: body) }.first
        switch request.tokenPlace {
        case .path(let path):
            do throws(FetchError) {
                let value = try Self.value(at: path, in: body)
                if let text = Self.text(of: value) {
                    token = .success(text)
                } else {
                    token = .failure(Self.missing("there is no token at \(path)"))
                }
            } catch {
                token = .failure(error)
            }
        case .header(let name):
            if let text = headers.first(name: name), !text.isEmpty {
                token = .success(Secret(Array(text.utf8)))
            } else {
                token = .failure(Self.missing("it has no header \(name)"))
            }
        }
        life = request.expiresPath.flatMap { Self.life(at: $0, in: body, now: now) }
    }

    /// A token that was made here.
    init(_ signed: SignedToken, made instant: SyncInstant) {
        token = .success(signed.value)
        life = signed.life
        refreshToken = nil
        askedAt = instant
    }

    /// Where a refresh token is looked for: beside the token, and at the root.
    private static func refreshPaths(of request: TokenRequest) -> [JSONPath] {
        guard request.refreshToken != nil else { return [] }
        let name = "refresh_token", root = JSONPath(keys: [name])
        guard case .path(let path) = request.tokenPlace, case .key? = path.segments.last else { return [root] }
        let beside = JSONPath(segments: path.segments.dropLast() + [.key(name)])
        return beside == root ? [root] : [beside, root]
    }

    /// One that is over, or was before it began, is as good as none that is said: nobody gives tokens that nobody can use.
    private static func life(at path: JSONPath, in body: [UInt8], now: Date) -> Duration? {
        let text = (try? value(at: path, in: body))?.parameterText
        guard let seconds = text.flatMap({ Double($0) }), seconds.isFinite else { return nil }
        let life = seconds < firstMoment ? Duration.bounded(seconds: seconds) : now.duration(to: Date(timeIntervalSince1970: seconds))
        return life > .zero ? life : nil
    }

    private static func text(at path: JSONPath, in body: [UInt8]) -> Secret? { (try? value(at: path, in: body)).flatMap { text(of: $0) } }

    /// A text, or the digits of an integer.
    private static func text(of value: JSONValue) -> Secret? {
        switch value {
        case .string(let text) where !text.isEmpty: Secret(Array(text.utf8))
        case .bigNumber(let digits) where digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }): Secret(Array(digits.utf8))
        case .int64(let number): Secret(Array("\(number)".utf8))
        case .missing, .null, .bool, .double, .bigNumber, .string, .raw: nil
        }
    }

    private static func missing(_ what: String) -> FetchError {
        FetchError(.credential, detail: "the answer to the request for a token cannot be used: \(what); check token_path, or token_header")
    }

    /// What a service says of a request that it refuses (RFC 6749, 5.2), in words; nil if it says nothing of that kind.
    static func refusal(_ body: [UInt8]) -> String? {
        guard let error = (try? value(at: JSONPath(keys: ["error"]), in: body))?.stringValue, !error.isEmpty else { return nil }
        let description = (try? value(at: JSONPath(keys: ["error_description"]), in: body))?.stringValue
        return description.map { "\(error): \($0)" } ?? error
    }

    /// A value of a document, whatever its outermost value is.
    private static func value(at path: JSONPath, in body: [UInt8]) throws(FetchError) -> JSONValue {
        // As a member of an object, since a reader of records refuses a document that is only a text.
        let document = Array(#"{"a":"#.utf8) + body + Array("}".utf8)
        let plan = JSONFieldPlan([JSONField("\(path)", path: JSONPath(segments: [.key("a")] + path.segments))])
        do {
            return try JSONRecordReader().read(body: document, plan: JSONFieldPlan([]), envelope: plan) { _ in }.envelope[0]
        } catch let error as JSONReaderError {
            throw missing("it is not the JSON that was expected: \(error.message)")
        } catch {
            throw missing("it cannot be read")
        }
    }
}
