import Crypto
import Foundation
import NIOCore
import NIOSSL

/// The public keys that a server may have, whoever vouches for its certificate.
struct CertificatePins: Sendable {
    /// SHA-256 of their SubjectPublicKeyInfo, in base64; not empty.
    let pins: [String]
    /// What the configuration calls the table that they are in.
    let table: String

    /// - Returns: nil if any key will do.
    init?(_ pins: [String], table: String) {
        if pins.isEmpty { return nil }
        self.pins = pins
        self.table = table
    }

    /// What a certificate is pinned by.
    /// - Throws: what reading its key throws.
    static func pin(of certificate: NIOSSLCertificate) throws -> String {
        Data(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes())).base64EncodedString()
    }

    /// Looks at the key of the server at the other end of a connection whose handshake is complete. Must be called on its event loop.
    /// - Throws: `FetchError` of the class `tls` if it is none of these, or there is none.
    func check(_ channel: any Channel) throws {
        guard let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self) else {
            throw FetchError(.tls, detail: "the connection is not encrypted: there is no key to compare with \(table).pin_sha256; use https")
        }
        guard let certificate = handler.peerCertificate, let seen = try? Self.pin(of: certificate) else {
            throw FetchError(.tls, detail: "the key of the server cannot be read, to compare it with \(table).pin_sha256")
        }
        if pins.contains(seen) { return }
        throw FetchError(
            .tls,
            detail: "the key of the server has the SHA-256 \"\(seen)\", which is not in \(table).pin_sha256; "
                + "add it if the operator confirms that the key is a new one, else somebody answers in the server's place")
    }
}
