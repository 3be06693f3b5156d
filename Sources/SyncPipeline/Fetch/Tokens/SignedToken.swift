import Foundation
import Secrets
import SyncConfiguration

/// A token that was made here (RFC 7519), in its compact form (RFC 7515, 7.1).
struct SignedToken: Sendable {
    let value: Secret
    /// How long it is good from when it was made.
    let life: Duration
    /// What it was made of, but for its times and its number: two that are alike are answered alike.
    let likeness: Secret

    /// A server whose clock is behind takes a token that was made before by this much. Less where it does not live for four times as long.
    private static let mostSkew: Int64 = 60

    /// Makes one.
    ///
    /// - Parameters:
    ///   - now: the wall time.
    ///   - id: what tells it from all others.
    /// - Throws: `FetchError` of the class `credential` if the key cannot be used, and what reading secrets throws.
    init(
        _ webToken: AuthenticationConfiguration.WebToken, now: Date, id: String = UUID().uuidString.lowercased(), _ secrets: TokenSecrets
    ) async throws {
        let algorithm = webToken.algorithm
        let text = try await secrets.key(webToken.key, algorithm.isShared ? .line : .lines)
        var header = SecretWriter(), claims = SecretWriter()
        header.append("{\"alg\":\"\(algorithm.rawValue)\"")
        if !webToken.headers.contains(where: { $0.name == "typ" }) { header.append(",\"typ\":\"JWT\"") }
        for member in webToken.headers {
            header.append(",")
            try await header.append(member, secrets)
        }
        header.append("}")
        for member in webToken.claims {
            try await claims.append(member, secrets)
            claims.append(",")
        }
        var alike = SecretWriter()
        alike.append(header.secret)
        alike.append(claims.secret)
        alike.append(RefreshChain.digest(of: text))
        likeness = alike.secret

        let length = max(webToken.lifetime.milliseconds / 1000, 1)
        let begin = Int64(now.timeIntervalSince1970.rounded(.down)) - min(Self.mostSkew, length / 4), end = begin + length
        life = now.duration(to: Date(timeIntervalSince1970: Double(end)))
        // Which one it is may be said already: some services want a number of their own kind.
        if !webToken.claims.contains(where: { $0.name == "jti" }) { claims.append("\"jti\":\"\(id)\",") }
        claims.append("\"iat\":\(begin),\"nbf\":\(begin),\"exp\":\(end)}")
        var payload = SecretWriter(), message = SecretWriter()
        payload.append("{")
        payload.append(claims.secret)
        message.append(header.secret.base64(isForURLs: true))
        message.append(".")
        message.append(payload.secret.base64(isForURLs: true))
        do {
            let key = try SigningKey(text, encoding: webToken.keyEncoding, for: algorithm)
            let signature = try key.signature(of: message.secret)
            message.append(".")
            message.append(signature.base64(isForURLs: true))
        } catch let fault as SigningKey.Fault {
            throw FetchError(.credential, detail: "\(webToken.key) \(fault)", attempts: 0)
        } catch {
            // The library's own words may hold anything.
            throw FetchError(.credential, detail: "\(webToken.key) cannot be signed with", attempts: 0)
        }
        value = message.secret
    }
}
