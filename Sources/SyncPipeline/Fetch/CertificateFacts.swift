import Foundation
import NIOSSL

/// What a certificate says of itself, as far as it explains why it is not believed. Nothing is verified here.
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

    /// The names and addresses a certificate is made out to.
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
        guard var fields = next(&rest)?.content, var parts = next(&fields)?.content else { return nil }
        // The version may be left out; then the serial number stands first.
        guard let first = next(&parts) else { return nil }
        if first.tag == 0xA0, next(&parts) == nil { return nil }
        guard next(&parts) != nil, let issuer = next(&parts), next(&parts) != nil, let subject = next(&parts) else { return nil }
        return (issuer.content, subject.content)
    }

    /// The common name of a name, else its organization.
    private static func text(_ name: ArraySlice<UInt8>) -> String {
        var rest = name, found: [UInt8: String] = [:]
        while var set = next(&rest)?.content {
            while var pair = next(&set)?.content {
                guard let type = next(&pair)?.content, let value = next(&pair)?.content, type.count == 3, type.starts(with: [0x55, 0x04]) else {
                    continue
                }
                found[type[type.endIndex - 1]] = String(decoding: value, as: UTF8.self)
            }
        }
        return found[3] ?? found[10] ?? ""
    }

    /// Takes one element off the front.
    private static func next(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return (tag, bytes.prefix(length))
    }
}
