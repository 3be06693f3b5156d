import Foundation
import NIOHTTP1
public import SyncConfiguration

/// How requests to one origin identify themselves: the secrets, and the place they go.
///
/// Credentials belong to the origin they were configured for. A request to any other origin, however it came about, gets none. Addresses
/// that servers hand out are rid of a key in the query before they are stored or shown; it is put in again when they are asked.
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    private enum Credential: Sendable {
        case none
        case header(name: String, value: String)
        case query(name: String, value: String)
        case cookie(name: String, value: String)
    }

    /// The only origin that gets the credentials.
    public let origin: Origin
    /// Takes the credentials out of texts.
    public let redactor: Redactor
    private let credential: Credential

    /// Reads the secrets that a configuration refers to.
    /// - Parameters:
    ///   - configuration: the `auth` table.
    ///   - origin: what the credentials belong to.
    ///   - headers: configured headers, whose values are treated as secrets in messages if their names suggest it.
    ///   - secrets: reads the secrets.
    /// - Throws: `FetchError` of the class `credential` if a secret cannot be read or cannot be sent in its place.
    public init(
        _ configuration: AuthenticationConfiguration, origin: Origin, headers: [HeaderField] = [], secrets resolver: SecretResolver
    ) throws {
        self.origin = origin
        var known = headers.filter { Self.isTelling($0.name) }.map(\.value)
        switch configuration {
        case .none:
            credential = .none
        case .bearer(let bearer):
            let token = try resolver.secret(bearer.token)
            known.append(token)
            let value = bearer.scheme.isEmpty ? token : "\(bearer.scheme) \(token)"
            credential = .header(name: bearer.header, value: try Self.headerSafe(value, bearer.token))
        case .basic(let basic):
            let password = try resolver.secret(basic.password)
            let user: String
            switch basic.username {
            case .name(let name): user = name
            case .secret(let reference):
                user = try resolver.secret(reference)
                known.append(user)
            }
            guard !user.contains(":") else {
                throw FetchError(.credential, detail: "the user name of basic authentication contains a colon")
            }
            let pair = Data("\(user):\(password)".utf8).base64EncodedString()
            known += [password, pair]
            credential = .header(name: "Authorization", value: "Basic \(pair)")
        case .apiKey(let key):
            let value = try resolver.secret(key.value)
            known.append(value)
            switch key.place {
            case .header: credential = .header(name: key.name, value: try Self.headerSafe(value, key.value))
            case .query: credential = .query(name: key.name, value: value)
            case .cookie: credential = .cookie(name: key.name, value: try Self.cookieSafe(value, key.value))
            }
        }
        redactor = Redactor(secrets: known)
    }

    /// Puts the credentials into a request, if it goes to the origin they belong to.
    func apply(to request: inout HTTPRequest) {
        guard request.address.origin == origin else { return }
        switch credential {
        case .none: break
        case .header(let name, let value): request.headers.replaceOrAdd(name: name, value: value)
        case .query(let name, let value): request.address = request.address.setting([(name, value)])
        case .cookie(let name, let value):
            let others = request.headers["Cookie"]
            request.headers.replaceOrAdd(name: "Cookie", value: (["\(name)=\(value)"] + others).joined(separator: "; "))
        }
    }

    /// The address without a key in its query, as it may be stored.
    public func stripping(_ address: HTTPAddress) -> HTTPAddress {
        guard case .query(let name, _) = credential else { return address }
        return address.removing(parameters: [name])
    }

    /// Whether asking for `address`, stripped, would carry a credential to another origin: a server that redirects by copying the query,
    /// or the path, hands on what it was sent.
    func leaks(to address: HTTPAddress) -> Bool {
        address.origin != origin && redactor.finds(in: address.url.absoluteString)
    }

    private static func headerSafe(_ value: String, _ reference: SecretReference) throws -> String {
        guard value.utf8.allSatisfy({ ($0 > 0x1F && $0 != 0x7F) || $0 == 0x09 }) else {
            throw FetchError(.credential, detail: "\(reference) holds a line break or control character")
        }
        return value
    }

    private static func cookieSafe(_ value: String, _ reference: SecretReference) throws -> String {
        guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !",;\"\\".utf8.contains($0) }) else {
            throw FetchError(.credential, detail: "\(reference) holds a character that a cookie cannot carry")
        }
        return value
    }

    private static func isTelling(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "key", "secret", "token", "password"].contains { name.contains($0) }
    }

    /// The kind and the origin.
    public var description: String {
        switch credential {
        case .none: "no authentication"
        case .header(let name, _): "header \(name) for \(origin)"
        case .query(let name, _): "query parameter \(name) for \(origin)"
        case .cookie(let name, _): "cookie \(name) for \(origin)"
        }
    }

    /// Nothing but the origin, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}
