import Foundation
import Glibc
import NIOSSL
import Secrets
import SyncConfiguration

/// The certificate that a client shows to a server, and its key. What is read of the key is overwritten; the library keeps a copy of its own.
struct ClientIdentity: Sendable {
    /// Its own first.
    let certificates: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey
    /// Tells it from another one.
    let digest: String

    /// When the certificate ends.
    var end: Date { Date(timeIntervalSince1970: TimeInterval(certificates.first?.notValidAfter ?? 0)) }

    /// Nil where none is configured.
    /// - Throws: `FetchError` of the class `credential` if it cannot be read, or key and certificate do not belong together; `CancellationError`.
    init?(_ tls: SyncConfiguration.TLSConfiguration, _ secrets: SecretResolver) async throws {
        guard let reference = tls.clientCertificate else { return nil }
        let certificate = try await Self.read("client_cert", reference, secrets)
        var keyText = certificate
        if let other = tls.clientKey { keyText = try await Self.read("client_key", other, secrets) }
        do {
            certificates = try certificate.withUnsafeBytes { try NIOSSLCertificate.fromPEMBytes(Array($0)) }
        } catch {
            throw Self.failure("client_cert", reference, "holds no certificate in PEM form")
        }
        guard !certificates.isEmpty else { throw Self.failure("client_cert", reference, "holds no certificate in PEM form") }
        let (keyName, keyReference) = tls.clientKey.map { ("client_key", $0) } ?? ("client_cert", reference)
        do {
            key = try Self.key(keyText)
        } catch let fault as SigningKey.Fault {
            if case .notPrivate = fault, tls.clientKey == nil {
                throw Self.failure("client_cert", reference, "holds a certificate and no key; put the key into the same place, or write client_key")
            }
            throw Self.failure(keyName, keyReference, "\(fault)")
        } catch {
            throw Self.failure(keyName, keyReference, "holds a key that cannot be used")
        }
        var both = SecretWriter()
        both.append(certificate)
        both.append(keyText)
        digest = RefreshChain.digest(of: both.secret)
        // The first connection would find it out, and could not say it as well.
        guard (try? NIOSSLContext(configuration: shown(in: .clientAlone))) != nil else {
            throw Self.failure(keyName, keyReference, "holds a key that does not belong to the certificate")
        }
    }

    /// A configuration in which it is shown.
    func shown(in configuration: NIOSSL.TLSConfiguration) -> NIOSSL.TLSConfiguration {
        var configuration = configuration
        configuration.certificateChain = certificates.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
        return configuration
    }

    private static func key(_ text: Secret) throws -> NIOSSLPrivateKey {
        var bytes = try PrivateKeyText(text).der.withUnsafeBytes { Array($0) }
        defer { bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        return try NIOSSLPrivateKey(bytes: bytes, format: .der)
    }

    private static func read(_ name: String, _ reference: SecretReference, _ secrets: SecretResolver) async throws -> Secret {
        do {
            return try await secrets.secret(reference, form: .lines)
        } catch let error as FetchError {
            throw FetchError(.credential, detail: "tls.\(name): \(error.detail)", attempts: 0)
        }
    }

    private static func failure(_ name: String, _ reference: SecretReference, _ what: String) -> FetchError {
        FetchError(.credential, detail: "tls.\(name): \(reference) \(what)", attempts: 0)
    }

    /// What a server makes of the certificate, or of its absence, in a sentence that says what to do; nil if an error says nothing of that.
    ///
    /// - Parameter identity: what was shown.
    static func explanation(of error: any Error, shown identity: ClientIdentity?, now: Date) -> String? {
        let text = "\(error)"
        guard let identity else {
            let isWanted = text.contains("ALERT_CERTIFICATE_REQUIRED")
            return isWanted ? "the server wants a certificate of its client; write tls = { client_cert = \"/path/to/cert.pem\" }" : nil
        }
        guard let reason = reasons.first(where: { text.contains($0.alert) })?.words else { return nil }
        let end = identity.end < now ? "; it expired on \(HTTPDate.format(identity.end))" : ""
        return "the server refuses the certificate in tls.client_cert: \(reason)\(end)"
    }

    /// Alerts (RFC 8446, 6.2), as the library calls them.
    private static let reasons = [
        (alert: "ALERT_CERTIFICATE_EXPIRED", words: "it has expired, or is not valid yet"),
        (alert: "ALERT_CERTIFICATE_REVOKED", words: "it is revoked"),
        (alert: "ALERT_UNKNOWN_CA", words: "it does not know who signed it; are all certificates in between there?"),
        (alert: "ALERT_UNSUPPORTED_CERTIFICATE", words: "it is not of a kind that is taken"),
        (alert: "ALERT_BAD_CERTIFICATE", words: "it cannot be verified"), (alert: "ALERT_CERTIFICATE_UNKNOWN", words: "it is not accepted"),
        (alert: "ALERT_ACCESS_DENIED", words: "it has no right to this"), (alert: "ALERT_CERTIFICATE_REQUIRED", words: "it was not shown"),
    ]
}

extension NIOSSL.TLSConfiguration {
    /// For a client that verifies nothing, as it connects to nobody: looking for the system's authorities takes long.
    fileprivate static var clientAlone: NIOSSL.TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        return configuration
    }
}
