import Foundation
import JSONReader
import NIOHTTP1
import Secrets
import SyncConfiguration

/// What a token is asked for with, or made of. Two resources with equal ones share the token, whatever their sources are: a token may be bound to the
/// certificate that was shown for it (RFC 8705).
struct TokenRequest: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case oauth2(AuthenticationConfiguration.OAuth2)
        case session(AuthenticationConfiguration.Session)
        case jwt(AuthenticationConfiguration.JWT)
    }

    let kind: Kind
    /// Where it goes. The secrets in it go nowhere else. Nil: the token is made here.
    let address: HTTPAddress?
    /// Where the certificate is that is shown there, and its key.
    private(set) var identity: [SecretReference] = []

    /// That of a resource; nil where there is no token but what the configuration refers to.
    /// - Throws: `FetchError` of the class `refused` for an address that cannot be asked.
    init?(_ resource: ResourceConfiguration) throws(FetchError) {
        try self.init(resource.authentication)
        if let address { identity = TokenRules.tls(resource, for: address).identity }
    }

    /// Nil where there is no token but what the configuration refers to.
    /// - Throws: `FetchError` of the class `refused` for an address that cannot be asked.
    init?(_ configuration: AuthenticationConfiguration) throws(FetchError) {
        let text: String
        switch configuration {
        case .none, .bearer, .basic, .apiKey, .hmac: return nil
        case .oauth2(let oauth2):
            kind = .oauth2(oauth2)
            text = oauth2.tokenURL
        case .session(let session):
            kind = .session(session)
            text = session.login.url
        case .jwt(let jwt):
            kind = .jwt(jwt)
            address = nil
            return
        }
        do throws(Refusal) { address = try HTTPAddress(text) } catch {
            throw FetchError(.refused(error), detail: "the address that tokens are fetched from", url: Redactor().redact(text), attempts: 0)
        }
    }

    /// How long a token lives whose answer does not say it.
    var lifetime: Duration? {
        switch kind {
        case .oauth2(let oauth2): oauth2.lifetime?.duration
        case .session(let session): session.lifetime?.duration
        // It says itself how long it lives.
        case .jwt: nil
        }
    }

    /// How long before its end a token is no longer sent.
    var earlyRefresh: Duration {
        switch kind {
        case .oauth2(let oauth2): oauth2.earlyRefresh.duration
        case .session(let session): session.earlyRefresh.duration
        case .jwt(let jwt): jwt.earlyRefresh.duration
        }
    }

    /// Where the token stands in an answer.
    var tokenPlace: AuthenticationConfiguration.Session.TokenPlace {
        switch kind {
        case .oauth2(let oauth2): .path(oauth2.tokenPath)
        case .session(let session): session.token
        case .jwt: .path(.root)
        }
    }

    /// Where an answer says when the token ends.
    var expiresPath: JSONPath? {
        switch kind {
        case .oauth2(let oauth2): oauth2.expiresPath
        case .session(let session): session.expiresPath
        case .jwt: nil
        }
    }

    /// The configured refresh token, if that is what tokens are asked for with.
    var refreshToken: SecretReference? {
        if case .oauth2(let oauth2) = kind, oauth2.grant == .refreshToken { oauth2.refreshToken } else { nil }
    }

    /// Whether a signed token is what tokens are asked for with.
    var isGrantSigned: Bool {
        if case .oauth2(let oauth2) = kind { oauth2.grant == .jwtBearer } else { false }
    }

    /// Whether the configuration says whom the signed token speaks of.
    var hasSubject: Bool {
        guard case .oauth2(let oauth2) = kind, let claims = oauth2.assertion?.claims else { return false }
        return claims.contains { $0.name == "sub" }
    }

    // MARK: On the wire

    /// The request, with its secrets.
    ///
    /// - Parameters:
    ///   - address: where it goes.
    ///   - refreshToken: the one to use.
    ///   - now: the wall time.
    ///   - secrets: reads the others.
    /// - Throws: what reading secrets throws, and what signing does.
    func question(
        to address: HTTPAddress, refreshToken: Secret?, userAgent: String, now: Date, _ secrets: TokenSecrets
    ) async throws -> TokenQuestion {
        switch kind {
        case .oauth2(let oauth2):
            guard let statement = Self.statement(oauth2) else {
                return TokenQuestion(try await request(oauth2, address, refreshToken, assertion: nil, userAgent, secrets))
            }
            let signed = try await SignedToken(statement, now: now, secrets)
            let request = try await self.request(oauth2, address, refreshToken, assertion: signed.value, userAgent, secrets)
            // No two assertions are the same, and a service that has refused one refuses the next one as well.
            let alike = try await self.request(oauth2, address, refreshToken, assertion: signed.likeness, userAgent, secrets)
            return TokenQuestion(request, like: alike, assertion: signed.value)
        case .session(let session): return TokenQuestion(try await request(session.login, address, userAgent, secrets))
        case .jwt: throw FetchError(.credential, detail: "a token that is made here is not asked for")
        }
    }

    /// What is signed, with what it says unless it is configured otherwise; nil: nothing is.
    private static func statement(_ oauth2: AuthenticationConfiguration.OAuth2) -> AuthenticationConfiguration.WebToken? {
        guard var webToken = oauth2.assertion else { return nil }
        func add(_ name: String, _ text: SecretText?) {
            guard let text, !webToken.claims.contains(where: { $0.name == name }) else { return }
            webToken.claims.append(.init(name: name, value: .text(text)))
        }
        add("iss", oauth2.clientID)
        add("aud", .text(oauth2.tokenURL))
        if oauth2.grant != .jwtBearer { add("sub", oauth2.clientID) }
        // Some services look for them here, and others in the form.
        if oauth2.grant == .jwtBearer, !oauth2.scopes.isEmpty { add("scope", .text(oauth2.scopes.joined(separator: " "))) }
        return webToken
    }

    private static func headers(_ userAgent: String) -> HTTPHeaders { ["User-Agent": userAgent, "Accept": "application/json"] }

    private func request(
        _ oauth2: AuthenticationConfiguration.OAuth2, _ address: HTTPAddress, _ refreshToken: Secret?, assertion: Secret?, _ userAgent: String,
        _ secrets: TokenSecrets
    ) async throws -> HTTPRequest {
        var headers = Self.headers(userAgent), form = SecretWriter()
        headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        func add(_ name: String, _ value: String) { form.append(field: name, Secret(Array(value.utf8))) }
        switch oauth2.grant {
        case .clientCredentials: add("grant_type", "client_credentials")
        case .refreshToken:
            add("grant_type", "refresh_token")
            if let refreshToken { form.append(field: "refresh_token", refreshToken) }
        case .password:
            add("grant_type", "password")
            if let username = oauth2.username { form.append(field: "username", try await secrets.text(username)) }
            let password = if let reference = oauth2.password { try await secrets.sent(reference) } else { Secret([UInt8]()) }
            form.append(field: "password", password)
        case .jwtBearer:
            add("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
            if let assertion { form.append(field: "assertion", assertion) }
        }
        if !oauth2.scopes.isEmpty { add("scope", oauth2.scopes.joined(separator: " ")) }
        if let audience = oauth2.audience { add("audience", audience) }
        if let clientID = oauth2.clientID {
            let client = try await secrets.text(clientID)
            if let reference = oauth2.clientSecret, oauth2.clientAuthentication == .basic {
                // RFC 6749, 2.3.1: both are encoded as in a form first.
                let pair = client.formEncoded.colon(try await secrets.sent(reference).formEncoded).base64()
                headers.add(name: "Authorization", value: "Basic " + pair.revealed())
            } else {
                form.append(field: "client_id", client)
                if oauth2.clientAuthentication == .privateKeyJWT, let assertion {
                    add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                    form.append(field: "client_assertion", assertion)
                }
                if let reference = oauth2.clientSecret { form.append(field: "client_secret", try await secrets.sent(reference)) }
            }
        }
        for field in oauth2.fields { form.append(field: field.name, try await secrets.text(field.value)) }
        return HTTPRequest(method: .post, address: address, headers: headers, body: form.secret)
    }

    private func request(
        _ login: AuthenticationConfiguration.Login, _ address: HTTPAddress, _ userAgent: String, _ secrets: TokenSecrets
    ) async throws -> HTTPRequest {
        var headers = Self.headers(userAgent), body: Secret?
        switch login.body {
        case .none: break
        case .json(let json):
            var writer = SecretWriter()
            try await writer.append(json, secrets)
            headers.add(name: "Content-Type", value: "application/json")
            body = writer.secret
        case .form(let fields):
            var form = SecretWriter()
            for field in fields { form.append(field: field.name, try await secrets.text(field.value)) }
            headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            body = form.secret
        }
        var parameters: [(name: String, value: String)] = []
        for parameter in login.parameters { parameters.append((parameter.name, try await secrets.text(parameter.value).revealed())) }
        for header in login.headers {
            let value = try await secrets.text(header.value)
            try Authentication.checkHeader(value, header.value.reference.map { "\($0)" } ?? header.name)
            headers.replaceOrAdd(name: header.name, value: value.revealed())
        }
        if let username = login.username {
            let password = if let reference = login.password { try await secrets.sent(reference) } else { Secret([UInt8]()) }
            headers.add(name: "Authorization", value: "Basic " + (try await secrets.text(username)).colon(password).base64().revealed())
        }
        return HTTPRequest(method: login.method, address: address.setting(parameters), headers: headers, body: body)
    }
}

/// A request for a token, and what it is known by.
struct TokenQuestion {
    let request: HTTPRequest
    /// The same for requests that are answered in the same way.
    let digest: String
    /// What was signed for it.
    let assertion: Secret?

    /// - Parameter like: what it is known by, if that is another request.
    init(_ request: HTTPRequest, like: HTTPRequest? = nil, assertion: Secret? = nil) {
        self.request = request
        self.assertion = assertion
        digest = (like ?? request).digest
    }
}

extension HTTPRequest {
    /// SHA-256 of everything in it: whether a request would be the same as one before.
    var digest: String {
        var all = SecretWriter()
        all.append("\(method) \(address.url.absoluteString)\n")
        for header in headers { all.append("\(header.name): \(header.value)\n") }
        if let body { all.append(body) }
        return RefreshChain.digest(of: all.secret)
    }
}
