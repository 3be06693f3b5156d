import Foundation
import NIOHTTP1
import Secrets
public import SyncConfiguration

/// How requests to one origin identify themselves: where the secrets are kept, and the place they go. The secrets are read before each exchange.
///
/// Credentials belong to the origin they were configured for. A request to any other origin, however it came about, gets none. A key in the query of
/// an address that a server returns is removed before the address is stored or shown, and put back when the address is requested.
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    /// The only origin that gets the credentials.
    public let origin: Origin
    /// Removes credentials from texts: all that were used since it was made, because a server may echo one that has since been replaced.
    public let redactor: Redactor
    private let configuration: AuthenticationConfiguration
    private let secrets: SecretResolver

    /// - Parameters:
    ///   - configuration: the `auth` table.
    ///   - origin: what the credentials belong to.
    ///   - headers: configured headers, whose values are treated as secrets in messages if their names suggest it.
    ///   - secrets: reads the secrets.
    public init(_ configuration: AuthenticationConfiguration, origin: Origin, headers: [HeaderField] = [], secrets: SecretResolver) {
        self.configuration = configuration
        self.origin = origin
        self.secrets = secrets
        redactor = Redactor(secrets: headers.filter { Self.isTelling($0.name) }.map(\.value))
    }

    /// The same with a redactor that knows of no credentials yet.
    init(_ other: Authentication, headers: [HeaderField]) {
        self.init(other.configuration, origin: other.origin, headers: headers, secrets: other.secrets)
    }

    /// Reads the secrets for one exchange. May wait.
    /// - Throws: `FetchError` of the class `credential` if a secret cannot be read or cannot be sent in its place; `CancellationError`.
    func credential() async throws -> Credential {
        switch configuration {
        case .none:
            return Credential(origin: origin, place: .none)
        case .bearer(let bearer):
            let token = try await secret(bearer.token)
            try Self.checkHeader(token, bearer.token)
            return Credential(
                origin: origin, place: .header(name: bearer.header, prefix: bearer.scheme.isEmpty ? "" : "\(bearer.scheme) ", token))
        case .basic(let basic):
            let password = try await secret(basic.password)
            let user =
                switch basic.username {
                case .name(let name): Secret(Array(name.utf8))
                case .secret(let reference): try await secret(reference)
                }
            guard !user.withUnsafeBytes({ $0.contains(UInt8(ascii: ":")) }) else {
                throw FetchError(.credential, detail: "the user name of basic authentication contains a colon")
            }
            let pair = user.colon(password).base64()
            redactor.learn(pair)
            return Credential(origin: origin, place: .header(name: "Authorization", prefix: "Basic ", pair))
        case .apiKey(let key):
            let value = try await secret(key.value)
            switch key.place {
            case .header:
                try Self.checkHeader(value, key.value)
                return Credential(origin: origin, place: .header(name: key.name, prefix: "", value))
            case .query:
                return Credential(origin: origin, place: .query(name: key.name, value))
            case .cookie:
                try Self.checkCookie(value, key.value)
                return Credential(origin: origin, place: .cookie(name: key.name, value))
            }
        }
    }

    private func secret(_ reference: SecretReference) async throws -> Secret {
        let secret = try await secrets.secret(reference)
        redactor.learn(secret)
        return secret
    }

    /// The address without a key in its query, as it may be stored.
    public func stripping(_ address: HTTPAddress) -> HTTPAddress {
        guard case .apiKey(let key) = configuration, key.place == .query else { return address }
        return address.removing(parameters: [key.name])
    }

    /// Whether requesting `address`, stripped, would carry a credential to another origin: a server that redirects by copying the query, or the path,
    /// passes on what it was sent.
    func leaks(to address: HTTPAddress) -> Bool {
        address.origin != origin && redactor.finds(in: address.url.absoluteString)
    }

    private static func checkHeader(_ value: Secret, _ reference: SecretReference) throws {
        guard value.withUnsafeBytes({ $0.allSatisfy { ($0 > 0x1F && $0 != 0x7F) || $0 == 0x09 } }) else {
            throw FetchError(.credential, detail: "\(reference) holds a line break or control character")
        }
    }

    private static func checkCookie(_ value: Secret, _ reference: SecretReference) throws {
        guard value.withUnsafeBytes({ $0.allSatisfy { $0 > 0x20 && $0 < 0x7F && !",;\"\\".utf8.contains($0) } }) else {
            throw FetchError(.credential, detail: "\(reference) holds a character that a cookie cannot carry")
        }
    }

    private static func isTelling(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "key", "secret", "token", "password"].contains { name.contains($0) }
    }

    /// The kind and the origin.
    public var description: String {
        switch configuration {
        case .none: "no authentication"
        case .bearer(let bearer): "header \(bearer.header) for \(origin)"
        case .basic: "header Authorization for \(origin)"
        case .apiKey(let key): "\(key.place == .query ? "query parameter" : key.place.rawValue) \(key.name) for \(origin)"
        }
    }

    /// Nothing but the origin, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}

/// What identifies the requests of one exchange: secrets that were read for it, and the place they go.
///
/// The bytes kept here are overwritten when the exchange is over, unless they are still needed to remove secrets from texts. The copies that `apply`
/// makes cannot be overwritten: HTTP headers and addresses are Swift strings, here and inside the HTTP library, which frees their memory without
/// clearing it.
struct Credential: Sendable {
    enum Place: Sendable {
        case none
        /// `prefix`: what stands before the secret.
        case header(name: String, prefix: String, Secret)
        case query(name: String, Secret)
        case cookie(name: String, Secret)
    }

    /// The only origin that gets it.
    let origin: Origin
    let place: Place

    /// Puts it into a request, if that goes to the origin it belongs to.
    func apply(to request: inout HTTPRequest) {
        guard request.address.origin == origin else { return }
        switch place {
        case .none: break
        case .header(let name, let prefix, let secret): request.headers.replaceOrAdd(name: name, value: prefix + secret.revealed())
        case .query(let name, let secret): request.address = request.address.setting([(name, secret.revealed())])
        case .cookie(let name, let secret):
            let others = request.headers["Cookie"]
            request.headers.replaceOrAdd(name: "Cookie", value: (["\(name)=\(secret.revealed())"] + others).joined(separator: "; "))
        }
    }
}
