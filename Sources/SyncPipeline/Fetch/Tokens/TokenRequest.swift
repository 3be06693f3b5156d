import Foundation
import JSONReader
import NIOHTTP1
import Secrets
import SyncConfiguration

/// What a token is asked for with. Two resources with equal ones share the token, whatever their sources are.
struct TokenRequest: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case oauth2(AuthenticationConfiguration.OAuth2)
        case session(AuthenticationConfiguration.Session)
    }

    let kind: Kind
    /// Where it goes. The secrets in it go nowhere else.
    let address: HTTPAddress

    /// Nil where no token is fetched.
    /// - Throws: `FetchError` of the class `refused` for an address that cannot be asked.
    init?(_ configuration: AuthenticationConfiguration) throws(FetchError) {
        let text: String
        switch configuration {
        case .none, .bearer, .basic, .apiKey: return nil
        case .oauth2(let oauth2):
            kind = .oauth2(oauth2)
            text = oauth2.tokenURL
        case .session(let session):
            kind = .session(session)
            text = session.login.url
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
        }
    }

    /// How long before its end a token is no longer sent.
    var earlyRefresh: Duration {
        switch kind {
        case .oauth2(let oauth2): oauth2.earlyRefresh.duration
        case .session(let session): session.earlyRefresh.duration
        }
    }

    /// Where the token stands in an answer.
    var tokenPlace: AuthenticationConfiguration.Session.TokenPlace {
        switch kind {
        case .oauth2(let oauth2): .path(oauth2.tokenPath)
        case .session(let session): session.token
        }
    }

    /// Where an answer says when the token ends.
    var expiresPath: JSONPath? {
        switch kind {
        case .oauth2(let oauth2): oauth2.expiresPath
        case .session(let session): session.expiresPath
        }
    }

    /// The configured refresh token, if that is what tokens are asked for with.
    var refreshToken: SecretReference? {
        if case .oauth2(let oauth2) = kind, oauth2.grant == .refreshToken { oauth2.refreshToken } else { nil }
    }

    // MARK: On the wire

    /// The request, with its secrets.
    ///
    /// - Parameters:
    ///   - refreshToken: the one to use.
    ///   - read: reads a secret.
    /// - Throws: what `read` throws.
    func request(
        refreshToken: Secret?, userAgent: String, _ read: (SecretReference) async throws -> Secret
    ) async throws -> HTTPRequest {
        switch kind {
        case .oauth2(let oauth2): try await request(oauth2, refreshToken, userAgent, read)
        case .session(let session): try await request(session.login, userAgent, read)
        }
    }

    private static func headers(_ userAgent: String) -> HTTPHeaders { ["User-Agent": userAgent, "Accept": "application/json"] }

    private func text(_ text: SecretText, _ read: (SecretReference) async throws -> Secret) async throws -> Secret {
        switch text {
        case .text(let text): Secret(Array(text.utf8))
        case .secret(let reference): try await read(reference)
        }
    }

    private func request(
        _ oauth2: AuthenticationConfiguration.OAuth2, _ refreshToken: Secret?, _ userAgent: String,
        _ read: (SecretReference) async throws -> Secret
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
            if let username = oauth2.username { form.append(field: "username", try await text(username, read)) }
            let password = if let reference = oauth2.password { try await read(reference) } else { Secret([UInt8]()) }
            form.append(field: "password", password)
        }
        if !oauth2.scopes.isEmpty { add("scope", oauth2.scopes.joined(separator: " ")) }
        if let audience = oauth2.audience { add("audience", audience) }
        if let clientID = oauth2.clientID {
            let client = try await text(clientID, read)
            if let reference = oauth2.clientSecret, oauth2.clientAuthentication == .basic {
                // RFC 6749, 2.3.1: both are encoded as in a form first.
                let pair = client.formEncoded.colon(try await read(reference).formEncoded).base64()
                headers.add(name: "Authorization", value: "Basic " + pair.revealed())
            } else {
                form.append(field: "client_id", client)
                if let reference = oauth2.clientSecret { form.append(field: "client_secret", try await read(reference)) }
            }
        }
        for field in oauth2.fields { form.append(field: field.name, try await text(field.value, read)) }
        return HTTPRequest(method: .post, address: address, headers: headers, body: form.secret)
    }

    private func request(
        _ login: AuthenticationConfiguration.Login, _ userAgent: String, _ read: (SecretReference) async throws -> Secret
    ) async throws -> HTTPRequest {
        var headers = Self.headers(userAgent), body: Secret?
        switch login.body {
        case .none: break
        case .json(let json):
            var writer = SecretWriter()
            try await write(json, to: &writer, read)
            headers.add(name: "Content-Type", value: "application/json")
            body = writer.secret
        case .form(let fields):
            var form = SecretWriter()
            for field in fields { form.append(field: field.name, try await text(field.value, read)) }
            headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            body = form.secret
        }
        var parameters: [(name: String, value: String)] = []
        for parameter in login.parameters { parameters.append((parameter.name, try await text(parameter.value, read).revealed())) }
        if let username = login.username {
            let password = if let reference = login.password { try await read(reference) } else { Secret([UInt8]()) }
            headers.add(name: "Authorization", value: "Basic " + (try await text(username, read)).colon(password).base64().revealed())
        }
        return HTTPRequest(method: login.method, address: address.setting(parameters), headers: headers, body: body)
    }

    private func write(_ json: SecretJSON, to writer: inout SecretWriter, _ read: (SecretReference) async throws -> Secret) async throws {
        switch json {
        case .text(let value): writer.append(jsonText: try await text(value, read))
        case .number(let digits): writer.append(digits)
        case .bool(let flag): writer.append("\(flag)")
        case .array(let values):
            writer.append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { writer.append(",") }
                try await write(value, to: &writer, read)
            }
            writer.append("]")
        case .object(let members):
            writer.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { writer.append(",") }
                writer.append(jsonText: Secret(Array(member.name.utf8)))
                writer.append(":")
                try await write(member.value, to: &writer, read)
            }
            writer.append("}")
        }
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
