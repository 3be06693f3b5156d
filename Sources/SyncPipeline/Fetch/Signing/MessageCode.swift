import Crypto
import Foundation
import Secrets
import SyncConfiguration

/// Codes of messages, made with a key that both sides have (HMAC, RFC 2104), and digests of them.
enum MessageCode {
    typealias RequestSignature = AuthenticationConfiguration.RequestSignature

    /// The code of a message.
    static func code(of message: Secret, key: Secret, _ algorithm: RequestSignature.Algorithm) -> [UInt8] {
        switch algorithm {
        case .sha256: code(of: message, key, SHA256.self)
        case .sha1: code(of: message, key, Insecure.SHA1.self)
        case .sha384: code(of: message, key, SHA384.self)
        case .sha512: code(of: message, key, SHA512.self)
        case .md5: code(of: message, key, Insecure.MD5.self)
        }
    }

    private static func code<Hash: HashFunction>(of message: Secret, _ key: Secret, _ hash: Hash.Type) -> [UInt8] {
        let key = key.withUnsafeBytes { SymmetricKey(data: $0) }
        return message.withUnsafeBytes { Array(HMAC<Hash>.authenticationCode(for: $0, using: key)) }
    }

    /// SHA-256 of bytes; without any, that of nothing.
    static func digest(of bytes: Secret?) -> [UInt8] {
        bytes.map { $0.withUnsafeBytes { Array(SHA256.hash(data: $0)) } } ?? Array(SHA256.hash(data: [UInt8]()))
    }

    /// Bytes as a text.
    static func text(of bytes: [UInt8], _ encoding: SignatureTemplate.Encoding) -> String {
        switch encoding {
        case .hex: bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .base64: Data(bytes).base64EncodedString()
        case .base64url: Secret(bytes).base64(isForURLs: true).revealed()
        }
    }
}
