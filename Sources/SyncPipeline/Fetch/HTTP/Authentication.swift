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
    /// What requests carried since it was made.
    private let carried = CarriedSecrets()
    private let configuration: AuthenticationConfiguration
    private let secretHeaders: [SecretField]
    private let secretParameters: [SecretField]
    private let secretFields: [SecretField]
    private let secrets: SecretResolver
    /// Where tokens come from; nil: none are fetched here.
    private let issuer: TokenIssuer?

    /// - Parameters:
    ///   - configuration: the `auth` table.
    ///   - origin: what the credentials belong to.
    ///   - headers: configured headers, whose values are treated as secrets in messages if their names suggest it.
    ///   - secrets: reads the secrets.
    public init(_ configuration: AuthenticationConfiguration, origin: Origin, headers: [HeaderField] = [], secrets: SecretResolver) {
        self.init(
            configuration, origin: origin, headers: headers, secretHeaders: [], secretParameters: [], secretFields: [], secrets: secrets, issuer: nil)
    }

    /// - Parameters:
    ///   - secretHeaders: further headers, `secretParameters`: parameters, and `secretFields`: places in bodies, whose values are secrets.
    ///   - issuer: fetches the tokens that the configuration wants.
    init(
        _ configuration: AuthenticationConfiguration, origin: Origin, headers: [HeaderField], secretHeaders: [SecretField],
        secretParameters: [SecretField], secretFields: [SecretField], secrets: SecretResolver, issuer: TokenIssuer?
    ) {
        self.configuration = configuration
        self.origin = origin
        self.secretHeaders = secretHeaders
        self.secretParameters = secretParameters
        self.secretFields = secretFields
        self.secrets = secrets
        self.issuer = issuer
        redactor = Redactor(secrets: headers.filter { Self.isTelling($0.name) }.map(\.value))
    }

    /// The same with a redactor that knows of no credentials yet.
    init(_ other: Authentication, headers: [HeaderField]) {
        self.init(
            other.configuration, origin: other.origin, headers: headers, secretHeaders: other.secretHeaders,
            secretParameters: other.secretParameters, secretFields: other.secretFields, secrets: other.secrets, issuer: other.issuer)
    }

    /// Reads the secrets for one exchange, and has a token fetched where that is needed. May wait.
    /// - Parameter observe: hears of each request for a token, and of each wait for the next one.
    /// - Throws: `FetchError`, of the class `credential` if a secret cannot be read or cannot be sent in its place, or a token is refused;
    ///   `CancellationError`.
    func credential(_ observe: @escaping @Sendable (FetchEvent) -> Void = { _ in }) async throws -> Credential {
        var credential = try await main(observe)
        for field in secretHeaders {
            guard let reference = field.value.reference else { continue }
            let value = try await secret(reference)
            try Self.checkHeader(value, "\(reference)")
            credential.others.append(.header(name: field.name, prefix: "", value))
        }
        for field in secretParameters {
            guard let reference = field.value.reference else { continue }
            credential.others.append(.query(name: field.name, try await secret(reference)))
        }
        for field in secretFields {
            guard let reference = field.value.reference else { continue }
            credential.others.append(.body(place: field.name, try await secret(reference)))
        }
        for place in credential.others + [credential.place] { learn(place) }
        return credential
    }

    private func learn(_ place: Credential.Place) {
        switch place {
        case .none: break
        case .header(let name, _, let secret), .query(let name, let secret), .cookie(let name, let secret): carried.learn(secret, as: name)
        case .body(let place, let secret): carried.learn(secret, as: place.split(separator: "/").last.map(String.init) ?? place)
        }
    }

    /// A server has accepted the token of a request to this address.
    func accept(_ token: AccessToken, at address: HTTPAddress) { issuer?.holder.accept(token, at: address.url.path) }

    /// A server has refused a token that was fetched for the request.
    func refuseNew(_ token: AccessToken) { issuer?.holder.refuseNew(token) }

    /// A server has refused the token of a request to this address. Returns whether another one is worth another request.
    func drop(_ token: AccessToken, at address: HTTPAddress) -> Bool {
        issuer.map { $0.holder.drop(token, at: address.url.path, now: $0.service.clock.instant) } ?? false
    }

    /// Whether a status means that the token has ended. A session that has ended is a person without rights to some.
    /// - Parameter statuses: those that do according to the configuration; nil: it does not say.
    func isTokenRefused(by status: Int?, of statuses: [Int]?) -> Bool {
        guard let status else { return false }
        if let statuses { return statuses.contains(status) }
        return if case .session = configuration, status == 403 { true } else { status == 401 }
    }

    /// What `auth` says.
    private func main(_ observe: @escaping @Sendable (FetchEvent) -> Void) async throws -> Credential {
        switch configuration {
        case .none:
            return Credential(origin: origin, place: .none)
        case .oauth2(let oauth2):
            let (token, isNew) = try await self.token(observe)
            try Self.checkHeader(token.value, "the token")
            let prefix = oauth2.scheme.isEmpty ? "" : "\(oauth2.scheme) "
            return Credential(
                origin: origin, place: .header(name: oauth2.header, prefix: prefix, token.value), token: token, isTokenNew: isNew)
        case .session(let session): return try await self.token(as: session.sendAs, observe)
        case .jwt(let jwt): return try await self.token(as: jwt.sendAs, observe)
        case .hmac(let signature): return Credential(origin: origin, place: .none, signer: try await signer(signature))
        case .bearer(let bearer):
            let token = try await secret(bearer.token)
            try Self.checkHeader(token, "\(bearer.token)")
            return Credential(
                origin: origin, place: .header(name: bearer.header, prefix: bearer.scheme.isEmpty ? "" : "\(bearer.scheme) ", token))
        case .basic(let basic):
            let password = if let reference = basic.password { try await secret(reference) } else { Secret([UInt8]()) }
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
            return Credential(
                origin: origin, place: try Self.place(key.place, name: key.name, prefix: key.prefix, value, "\(key.value)"))
        }
    }

    private func signer(_ signature: AuthenticationConfiguration.RequestSignature) async throws -> RequestSigner {
        let key = try await secret(signature.key)
        var keyID: Secret?
        switch signature.keyID {
        case nil: break
        case .text(let text)?: keyID = Secret(Array(text.utf8))
        case .secret(let reference)?:
            let value = try await secret(reference)
            carried.learn(value, as: "key_id")
            keyID = value
        }
        if let keyID { try Self.checkHeader(keyID, "key_id") }
        return try RequestSigner(signature, key: key, keyID: keyID)
    }

    private static func place(
        _ place: AuthenticationConfiguration.APIKey.Place, name: String, prefix: String, _ value: Secret, _ what: String
    ) throws -> Credential.Place {
        switch place {
        case .header:
            try checkHeader(value, what)
            return .header(name: name, prefix: prefix, value)
        case .query:
            return .query(name: name, value)
        case .cookie:
            try checkCookie(value, what)
            return .cookie(name: name, value)
        case .body: return .body(place: name, value)
        }
    }

    private func token(
        as sendAs: AuthenticationConfiguration.SendAs, _ observe: @escaping @Sendable (FetchEvent) -> Void
    ) async throws -> Credential {
        let (token, isNew) = try await self.token(observe)
        let place = try Self.place(sendAs.place, name: sendAs.name, prefix: sendAs.prefix, token.value, "the token")
        return Credential(origin: origin, place: place, token: token, isTokenNew: isNew)
    }

    private func token(_ observe: @escaping @Sendable (FetchEvent) -> Void) async throws -> (token: AccessToken, isNew: Bool) {
        guard let issuer else { throw FetchError(.credential, detail: "tokens cannot be fetched here") }
        let (token, isNew) = try await issuer.token(observe)
        for secret in [token.value] + token.related { redactor.learn(secret) }
        return (token, isNew)
    }

    private func secret(_ reference: SecretReference) async throws -> Secret {
        let secret = try await secrets.secret(reference)
        redactor.learn(secret)
        return secret
    }

    /// The address without a key in its query, as it may be stored.
    public func stripping(_ address: HTTPAddress) -> HTTPAddress {
        let names = secretNames
        return names.isEmpty ? address : address.removing(parameters: names)
    }

    /// The address that a server gives as it may be stored: without what it repeats of the secrets that requests carry, under whatever name.
    ///
    /// - Parameter first: where the listing begins. What the configuration says in it is no secret.
    /// - Throws: `Refusal.credentialInAddress` where one stands in the path.
    func clearing(_ address: HTTPAddress, of first: HTTPAddress) throws(Refusal) -> HTTPAddress {
        let cleared = stripping(address).removing { name, values in
            values.contains { carried.areIn($0, named: name) && first.parameter(name) != $0 }
        }
        if carried.areIn(cleared.url.path), !carried.areIn(first.url.path) { throw .credentialInAddress }
        return cleared
    }

    /// The parameters of the query that carry secrets.
    private var secretNames: Set<String> { Set(secretParameters.map(\.name)).union(configuration.names(in: .query)) }

    /// Whether requesting `address`, stripped, would carry a credential to another origin: a server that redirects by copying the query, or the path,
    /// passes on what it was sent.
    func leaks(to address: HTTPAddress) -> Bool {
        address.origin != origin && redactor.finds(in: address.url.absoluteString)
    }

    /// - Parameter what: what holds the value, in words.
    /// - Throws: `FetchError` of the class `credential` for what would be more than one header.
    static func checkHeader(_ value: Secret, _ what: String) throws {
        guard value.withUnsafeBytes({ $0.allSatisfy { ($0 > 0x1F && $0 != 0x7F) || $0 == 0x09 } }) else {
            throw FetchError(.credential, detail: "\(what) holds a line break or control character")
        }
    }

    private static func checkCookie(_ value: Secret, _ what: String) throws {
        guard value.withUnsafeBytes({ $0.allSatisfy { $0 > 0x20 && $0 < 0x7F && !",;\"\\".utf8.contains($0) } }) else {
            throw FetchError(.credential, detail: "\(what) holds a character that a cookie cannot carry")
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
        case .apiKey(let key): "\(Self.words(key.place)) \(key.name) for \(origin)"
        case .oauth2(let oauth2): "a token in the header \(oauth2.header) for \(origin)"
        case .session(let session): "a token in the \(Self.words(session.sendAs.place)) \(session.sendAs.name) for \(origin)"
        case .hmac(let signature): "a signature in the \(Self.words(signature)) for \(origin)"
        case .jwt(let jwt): "a signed token in the \(Self.words(jwt.sendAs.place)) \(jwt.sendAs.name) for \(origin)"
        }
    }

    private static func words(_ signature: AuthenticationConfiguration.RequestSignature) -> String {
        switch signature.carrier {
        case .header(let name, _): "header \(name)"
        case .query(let name): "query parameter \(name)"
        }
    }

    private static func words(_ place: AuthenticationConfiguration.APIKey.Place) -> String {
        switch place {
        case .header, .cookie: place.rawValue
        case .query: "query parameter"
        case .body: "body field"
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
        /// `place`: as in `RequestBody.setting(_:at:)`.
        case body(place: String, Secret)
    }

    /// The only origin that gets it.
    let origin: Origin
    let place: Place
    /// Further secrets, each in a place of its own.
    var others: [Place] = []
    /// The token in it, if that was fetched.
    var token: AccessToken?
    /// The token was fetched for this exchange: another one would be no better.
    var isTokenNew = false
    /// Signs each request by itself; nil: nothing does.
    var signer: RequestSigner?

    /// Puts it into a request, if that goes to the origin it belongs to.
    func apply(to request: inout HTTPRequest) {
        guard request.address.origin == origin else { return }
        for place in others + [place] { Self.put(place, into: &request) }
    }

    /// Signs a request that is complete but for that, if it goes to the origin that the key belongs to.
    func sign(_ request: inout HTTPRequest, at now: Date) {
        if request.address.origin == origin { signer?.sign(&request, at: now) }
    }

    /// What a request sends, with the secrets that belong into it if it goes to the origin they belong to.
    func bytes(of content: RequestContent, at address: HTTPAddress) -> [UInt8] {
        let secrets = inBody
        guard !secrets.isEmpty, address.origin == origin else { return content.bytes }
        return content.bytes(setting: secrets.map { (place: $0.place, text: $0.secret.revealed()) }) ?? content.bytes
    }

    /// A place that secrets belong to and a body does not have; nil: there is none, or nothing is sent.
    func missingPlace(in content: RequestContent) -> String? {
        content.isEmpty ? nil : inBody.first { content.bytes(setting: [(place: $0.place, text: "")]) == nil }?.place
    }

    private var inBody: [(place: String, secret: Secret)] {
        var found: [(place: String, secret: Secret)] = []
        for case .body(let name, let secret) in others + [place] { found.append((place: name, secret: secret)) }
        return found
    }

    private static func put(_ place: Place, into request: inout HTTPRequest) {
        switch place {
        // What goes into a body is there already: see `bytes(of:at:)`.
        case .none, .body: break
        case .header(let name, let prefix, let secret): request.headers.replaceOrAdd(name: name, value: prefix + secret.revealed())
        case .query(let name, let secret): request.address = request.address.setting([(name, secret.revealed())])
        case .cookie(let name, let secret):
            // What the run's cookies say of the same name is of no account: it is the token that was asked for.
            let others = request.headers["Cookie"].flatMap { $0.split(separator: ";") }.map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && $0.prefix { $0 != "=" } != name }
            request.headers.replaceOrAdd(name: "Cookie", value: (["\(name)=\(secret.revealed())"] + others).joined(separator: "; "))
        }
    }
}
