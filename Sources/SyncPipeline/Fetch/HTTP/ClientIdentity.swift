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

    /// What messages call it.
    let table: String

    /// What an identity is made of, as it was read: reading it is enough to see whether it is another one.
    struct Texts: Sendable {
        fileprivate let tls: SyncConfiguration.TLSConfiguration
        fileprivate let table: String
        fileprivate let certificate: Secret
        /// The same text where both are in one place.
        fileprivate let key: Secret
        /// Tells it from another one.
        let digest: String

        /// Nil where none is configured.
        /// - Throws: `FetchError` of the class `credential` if it cannot be read; `CancellationError`.
        init?(_ options: TransportOptions, _ secrets: SecretResolver) async throws {
            tls = options.tls
            table = options.tlsTable
            guard let reference = tls.clientCertificate else { return nil }
            certificate = try await Self.read("\(table).client_cert", reference, secrets)
            if let other = tls.clientKey {
                key = try await Self.read("\(table).client_key", other, secrets)
            } else {
                key = certificate
            }
            var both = SecretWriter()
            both.append(certificate)
            both.append(key)
            digest = RefreshChain.digest(of: both.secret)
        }

        private static func read(_ name: String, _ reference: SecretReference, _ secrets: SecretResolver) async throws -> Secret {
            do {
                return try await secrets.secret(reference, form: .lines)
            } catch let error as FetchError {
                throw FetchError(.credential, detail: "\(name): \(error.detail)", attempts: 0)
            }
        }
    }

    /// A certificate and a key, each in a place of its own, that do not belong together: one of them may have been renewed, and the other may follow.
    struct Mismatch: Error {
        /// What is wrong where nothing follows.
        let failure: FetchError
    }

    /// - Throws: `FetchError` of the class `credential` if there is no certificate, or key and certificate do not belong together.
    init?(_ texts: Texts?) throws {
        do {
            guard let identity = try Self(checking: texts) else { return nil }
            self = identity
        } catch let mismatch as Mismatch {
            throw mismatch.failure
        }
    }

    /// - Throws: `Mismatch`, or as `init(_:)` does.
    init?(checking texts: Texts?) throws {
        guard let texts, let reference = texts.tls.clientCertificate else { return nil }
        table = texts.table
        digest = texts.digest
        let own = (name: "\(texts.table).client_cert", reference: reference)
        let ofKey = texts.tls.clientKey.map { (name: "\(texts.table).client_key", reference: $0) } ?? own
        certificates = (try? Self.certificates(texts.certificate)) ?? []
        guard !certificates.isEmpty else { throw Self.failure(own, "holds no certificate in PEM form") }
        do {
            key = try Self.key(texts.key)
        } catch let fault as SigningKey.Fault {
            if case .notPrivate = fault, texts.tls.clientKey == nil {
                throw Self.failure(own, "holds a certificate and no key; put the key into the same place, or write client_key")
            }
            throw Self.failure(ofKey, "\(fault)")
        } catch {
            throw Self.failure(ofKey, "holds a key that cannot be used")
        }
        // The first connection would find it out, and could not say it as well.
        do {
            _ = try NIOSSLContext(configuration: shown(in: .clientAlone))
        } catch NIOSSLError.failedToLoadPrivateKey {
            let failure = Self.failure(ofKey, "holds a key that does not belong to the certificate")
            throw texts.tls.clientKey == nil ? failure : Mismatch(failure: failure)
        } catch {
            throw Self.failure(own, "holds a certificate that cannot be shown with its key: \(error)")
        }
    }

    /// A configuration in which it is shown.
    func shown(in configuration: NIOSSL.TLSConfiguration) -> NIOSSL.TLSConfiguration {
        var configuration = configuration
        configuration.certificateChain = certificates.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
        return configuration
    }

    /// A text may hold the key as well.
    private static func certificates(_ text: Secret) throws -> [NIOSSLCertificate] {
        var bytes = text.withUnsafeBytes { Array($0) }
        defer { overwrite(&bytes) }
        return try NIOSSLCertificate.fromPEMBytes(bytes)
    }

    private static func key(_ text: Secret) throws -> NIOSSLPrivateKey {
        var bytes = try PrivateKeyText(text).der.withUnsafeBytes { Array($0) }
        defer { overwrite(&bytes) }
        return try NIOSSLPrivateKey(bytes: bytes, format: .der)
    }

    private static func overwrite(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } }
    }

    private static func failure(_ place: (name: String, reference: SecretReference), _ what: String) -> FetchError {
        FetchError(.credential, detail: "\(place.name): \(place.reference) \(what)", attempts: 0)
    }

    /// What a server makes of the certificate, or of its absence, in a sentence that says what to do; nil if an error says nothing of that.
    ///
    /// - Parameters:
    ///   - identity: what was shown.
    ///   - withheld: what was not, because the server is another one than it is for.
    static func explanation(
        of error: any Error, shown identity: ClientIdentity?, withheld: (identity: ClientIdentity, origin: Origin)? = nil, now: Date
    ) -> String? {
        let text = "\(error)"
        guard let identity else {
            guard text.contains("ALERT_CERTIFICATE_REQUIRED") else { return nil }
            let wish = "the server wants a certificate of its client"
            if let withheld { return "\(wish), and that in \(withheld.identity.table).client_cert is shown to \(withheld.origin) only" }
            return "\(wish); write tls = { client_cert = \"/path/to/cert.pem\" }, or the same in auth if it is the service of tokens"
        }
        guard let reason = reasons.first(where: { text.contains($0.alert) })?.words else { return nil }
        let end = identity.end < now ? "; it expired on \(HTTPDate.format(identity.end))" : ""
        return "the server refuses the certificate in \(identity.table).client_cert: \(reason)\(end)"
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
