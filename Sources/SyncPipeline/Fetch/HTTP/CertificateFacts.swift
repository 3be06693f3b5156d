import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SyncConfiguration

/// What a certificate says about itself, as far as it explains why it is not trusted. Nothing is verified here.
struct CertificateFacts: Sendable, Hashable {
    var notBefore: Date
    var notAfter: Date
    /// The name of the authority that signed it; empty if it has none.
    var issuer: String
    /// Whether it names itself as its authority.
    var isSelfSigned: Bool

    init(notBefore: Date, notAfter: Date, issuer: String, isSelfSigned: Bool) {
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.issuer = issuer
        self.isSelfSigned = isSelfSigned
    }

    init(_ certificate: NIOSSLCertificate) {
        let names = (try? certificate.toDERBytes()).flatMap(Self.names)
        self.init(
            notBefore: Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore)),
            notAfter: Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter)),
            issuer: names.map { Self.text($0.issuer) } ?? "", isSelfSigned: names.map { $0.issuer == $0.subject } ?? false)
    }

    /// The names and addresses a certificate is for.
    static func names(of certificate: NIOSSLCertificate) -> [String] {
        certificate._subjectAlternativeNames().compactMap { name in
            let bytes = Array(name.contents)
            switch name.nameType {
            case .dnsName: return String(decoding: bytes, as: UTF8.self)
            case .ipAddress where bytes.count == 4: return bytes.map { "\($0)" }.joined(separator: ".")
            case .ipAddress where bytes.count == 16: return "\(NetworkAddress.v6(bytes: bytes))"
            default: return nil
            }
        }
    }

    // MARK: Names in DER

    /// The issuer and the subject, as the certificate has them.
    private static func names(_ certificate: [UInt8]) -> (issuer: ArraySlice<UInt8>, subject: ArraySlice<UInt8>)? {
        var rest = certificate[...]
        guard var fields = DER.next(&rest)?.content, var parts = DER.next(&fields)?.content else { return nil }
        // The version may be left out; then the serial number stands first.
        guard let first = DER.next(&parts) else { return nil }
        if first.tag == 0xA0, DER.next(&parts) == nil { return nil }
        guard DER.next(&parts) != nil, let issuer = DER.next(&parts), DER.next(&parts) != nil, let subject = DER.next(&parts) else { return nil }
        return (issuer.content, subject.content)
    }

    /// The common name of a name, else its organization.
    private static func text(_ name: ArraySlice<UInt8>) -> String {
        var rest = name, found: [UInt8: String] = [:]
        while var set = DER.next(&rest)?.content {
            while var pair = DER.next(&set)?.content {
                guard let type = DER.next(&pair)?.content, let value = DER.next(&pair)?.content else { continue }
                guard type.count == 3, type.starts(with: [0x55, 0x04]) else { continue }
                found[type[type.endIndex - 1]] = String(decoding: value, as: UTF8.self)
            }
        }
        return found[3] ?? found[10] ?? ""
    }
}

/// Why a certificate was not trusted, in a sentence that says what to do. Pure.
enum CertificateFault: Sendable, Hashable {
    case expired(Date)
    case notYetValid(Date)
    /// One of those between the server's and the authority's.
    case authorityExpired(Date)
    case selfSigned
    case unknownAuthority(String)
    /// It is for these names, none of which is the host's.
    case otherNames([String])

    /// The best explanation why verification refused a chain; the verification itself says no more than that it did.
    /// - Parameter chain: the certificate of the server first; not empty.
    init(refused chain: [CertificateFacts], now: Date) {
        let leaf = chain[0], authorities = chain.dropFirst()
        if now > leaf.notAfter {
            self = .expired(leaf.notAfter)
        } else if now < leaf.notBefore {
            self = .notYetValid(leaf.notBefore)
        } else if let old = authorities.first(where: { now > $0.notAfter }) {
            self = .authorityExpired(old.notAfter)
        } else if leaf.isSelfSigned {
            self = .selfSigned
        } else {
            self = .unknownAuthority(authorities.last?.issuer ?? leaf.issuer)
        }
    }

    /// What is wrong with the certificate of `host`, and what to do.
    /// - Parameter isHostOfURL: false: it is the name that `tls.server_name` says.
    func sentence(
        host: String, now: Date, authority: SyncConfiguration.TLSConfiguration.CertificateAuthority = .system, isHostOfURL: Bool = true
    ) -> String {
        let clock = "the clock of this machine says \(HTTPDate.format(now))"
        let trusted =
            switch authority {
            case .system: "this machine"
            case .file(let path): "tls.ca = \"\(path)\""
            case .credential(let id): "tls.ca, the credential \"\(id)\","
            }
        return switch self {
        case .expired(let time):
            "the certificate of \(host) expired on \(HTTPDate.format(time)); its operator has to renew it; \(clock)"
        case .notYetValid(let time):
            "the certificate of \(host) is not valid before \(HTTPDate.format(time)); \(clock): correct it, or ask the operator"
        case .authorityExpired(let time):
            "the certificate of \(host) depends on one that expired on \(HTTPDate.format(time)); its operator has to renew it; \(clock)"
        case .selfSigned:
            "the certificate of \(host) is self-signed, and \(trusted) does not know it; if it is the right one, name its file with tls.ca"
        case .unknownAuthority(let name):
            "the certificate of \(host) is signed by an authority that \(trusted) does not know\(name.isEmpty ? "" : ", “\(name)”"); "
                + "update ca-certificates, or name the certificate of a private authority with tls.ca"
        case .otherNames(let names):
            "the certificate of \(host) is for \(Self.list(names)), not for \(host); "
                + "write one of its names \(isHostOfURL ? "in the URL" : "as tls.server_name"), or ask the operator"
        }
    }

    private static func list(_ names: [String]) -> String {
        if names.isEmpty { return "no name at all" }
        return names.prefix(4).joined(separator: ", ") + (names.count > 4 ? " and \(names.count - 4) more" : "")
    }
}

/// Looks at the certificates of a server that was not trusted, to say why: the verification itself does not. The handshake is broken off once the
/// certificates have arrived; nothing is sent over the connection.
struct CertificateInspection: Sendable {
    let host: String
    let port: Int
    /// The name that the server is asked for; nil: the host.
    var serverName: String?
    /// Whether the address must be one of the public internet.
    let refusesPrivateAddresses: Bool
    /// For connecting, and then for the certificates.
    let timeout: TimeAmount

    /// The certificates, the server's own first; none if they could not be obtained.
    func chain() async -> [NIOSSLCertificate] {
        let (chains, chain) = AsyncStream.makeStream(of: [NIOSSLCertificate].self)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(timeout)
        guard let channel = try? await bootstrap.connect(host: host, port: port).get() else { return [] }
        defer { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in chain.finish() }
        channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        let isAgreed = channel.eventLoop.submit { [self] in
            try ConnectionCheck(refusesPrivateAddresses: refusesPrivateAddresses, verifiesCertificates: false).checkAddress(channel)
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([])
            let handler = try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: configuration), serverHostname: serverName ?? (NetworkAddress(host) == nil ? host : nil),
                customVerificationCallback: { certificates, verdict in
                    chain.yield(certificates)
                    chain.finish()
                    verdict.succeed(.failed)
                })
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        isAgreed.whenFailure { _ in chain.finish() }
        for await certificates in chains { return certificates }
        return []
    }
}
