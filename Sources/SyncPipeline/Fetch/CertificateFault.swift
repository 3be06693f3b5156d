import Foundation
import SyncConfiguration

/// Why a certificate was not believed, in a sentence that says what to do. Pure.
enum CertificateFault: Sendable, Hashable {
    case expired(Date)
    case notYetValid(Date)
    /// One of those between the server's and the authority's.
    case authorityExpired(Date)
    case selfSigned
    case unknownAuthority(String)
    /// Made out to these names, none of which is the host's.
    case otherNames([String])

    /// What explains best that a chain was refused by a verification that says no more than that.
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
    func sentence(host: String, now: Date, authority: TLSConfiguration.CertificateAuthority = .system) -> String {
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
            "the certificate of \(host) rests on one that expired on \(HTTPDate.format(time)); its operator has to renew it; \(clock)"
        case .selfSigned:
            "the certificate of \(host) is signed by itself, and \(trusted) does not know it; if it is the right one, name its file with tls.ca"
        case .unknownAuthority(let name):
            "the certificate of \(host) is signed by an authority that \(trusted) does not know\(name.isEmpty ? "" : ", “\(name)”"); "
                + "update ca-certificates, or name the certificate of a private authority with tls.ca"
        case .otherNames(let names):
            "the certificate of \(host) is made out to \(Self.list(names)), not to \(host); write one of its names in the URL, or ask the operator"
        }
    }

    private static func list(_ names: [String]) -> String {
        if names.isEmpty { return "no name at all" }
        return names.prefix(4).joined(separator: ", ") + (names.count > 4 ? " and \(names.count - 4) more" : "")
    }
}
