import Crypto
import CryptoExtras
import Foundation
import Secrets
import SyncConfiguration

/// A key that signs in one way. What the library below keeps of it is overwritten by that; while it reads an EC key it makes copies that are not.
struct SigningKey {
    typealias WebToken = AuthenticationConfiguration.WebToken

    /// What is wrong with the text of a key, and what to do about it; nothing of what it holds. The subject of the sentence is where it is kept.
    enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        case notPEM
        /// A file of an account, as some services hand it out.
        case json
        /// As it stands in JSON, or in a variable.
        case oneLine
        case encrypted
        case openSSH
        /// PEM, but of this label.
        case notPrivate(String)
        case damaged
        case notBase64
        case otherKind(PrivateKeyText.Kind, WebToken.Algorithm)
        case tooShort

        /// The rest of a sentence.
        var description: String {
            switch self {
            case .notPEM: "holds no private key in PEM form, which begins with the line -----BEGIN PRIVATE KEY-----"
            case .json: "holds JSON: write what stands in its private_key alone, with line breaks in place of every \\n"
            case .oneLine: "holds a key without line breaks: write one in place of every \\n, or one after and one before the words in dashes"
            case .encrypted: "holds an encrypted key; decrypt it with openssl pkey -in FILE -out NEW_FILE"
            case .openSSH: "holds a key in the form of OpenSSH; convert a copy of it with ssh-keygen -p -m PKCS8 -f COPY"
            case .notPrivate(let label): "holds “\(label)”, and a private key is needed"
            case .damaged: "holds a damaged key: is all of it there?"
            case .notBase64: "is not written in Base64, as key_encoding says"
            case .otherKind(let kind, let algorithm):
                "holds \(kind), and \(algorithm.rawValue) needs \(SigningKey.kind(for: algorithm)); write the right algorithm, or use another key"
            case .tooShort: "holds an RSA key of less than 2048 bits, which is no longer safe: use a longer one"
            }
        }
    }

    private enum Material {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case shared(SymmetricKey)
    }

    private let material: Material
    private let algorithm: WebToken.Algorithm

    /// What a private key must be; nothing for a shared one.
    private static func kind(for algorithm: WebToken.Algorithm) -> PrivateKeyText.Kind {
        switch algorithm {
        case .rs256, .rs384, .rs512: .rsa
        case .es256: .p256
        case .es384: .p384
        case .edDSA: .ed25519
        case .hs256, .hs384, .hs512: .other("a shared key")
        }
    }

    /// The key that a text holds.
    /// - Throws: `Fault`
    init(_ text: Secret, encoding: WebToken.KeyEncoding, for algorithm: WebToken.Algorithm) throws {
        self.algorithm = algorithm
        if algorithm.isShared {
            guard let bytes = encoding == .text ? text : text.withUnsafeBytes({ Secret.decoding(base64: $0) }), bytes.count > 0 else {
                throw Fault.notBase64
            }
            material = .shared(bytes.withUnsafeBytes { SymmetricKey(data: $0) })
            return
        }
        let key = try PrivateKeyText(text)
        guard key.kind == Self.kind(for: algorithm) else { throw Fault.otherKind(key.kind, algorithm) }
        material = try key.der.withUnsafeBytes { try Self.material(key.kind, $0) }
    }

    private static func material(_ kind: PrivateKeyText.Kind, _ der: UnsafeRawBufferPointer) throws -> Material {
        do {
            switch kind {
            case .rsa:
                // What the library refuses for its length is told apart from what is no key.
                guard let key = try? _RSA.Signing.PrivateKey(derRepresentation: der) else {
                    let isShort = (try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: der)) != nil
                    throw isShort ? Fault.tooShort : Fault.damaged
                }
                return .rsa(key)
            case .p256: return .p256(try P256.Signing.PrivateKey(derRepresentation: der))
            case .p384: return .p384(try P384.Signing.PrivateKey(derRepresentation: der))
            case .ed25519:
                guard let seed = Self.seed(der) else { throw Fault.damaged }
                return .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: seed))
            case .other: throw Fault.damaged
            }
        } catch let fault as Fault {
            throw fault
        } catch {
            // What the library says of it says nothing about the cause.
            throw Fault.damaged
        }
    }

    /// The 32 bytes of an Ed25519 key. The library does not take the newer form, in which the public key follows (RFC 5958, 2).
    private static func seed(_ der: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var rest = der[...]
        guard var fields = DER.next(&rest)?.content, DER.next(&fields) != nil, DER.next(&fields) != nil, var key = DER.next(&fields)?.content,
            let seed = DER.next(&key), seed.tag == 0x04, seed.content.count == 32
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: seed.content)
    }

    /// Signs a message: for ECDSA both numbers, one behind the other (RFC 7518, 3.4).
    /// - Throws: what the library throws.
    func signature(of message: Secret) throws -> Secret {
        try message.withUnsafeBytes { bytes in
            switch material {
            case .rsa(let key): Secret(try rsa(key, bytes))
            case .p256(let key): Secret(try key.signature(for: SHA256.hash(data: bytes)).rawRepresentation)
            case .p384(let key): Secret(try key.signature(for: SHA384.hash(data: bytes)).rawRepresentation)
            case .ed25519(let key): Secret(try key.signature(for: bytes))
            case .shared(let key): Secret(shared(key, bytes))
            }
        }
    }

    private func rsa(_ key: _RSA.Signing.PrivateKey, _ bytes: UnsafeRawBufferPointer) throws -> Data {
        let padding = _RSA.Signing.Padding.insecurePKCS1v1_5
        switch algorithm {
        case .rs384: return try key.signature(for: SHA384.hash(data: bytes), padding: padding).rawRepresentation
        case .rs512: return try key.signature(for: SHA512.hash(data: bytes), padding: padding).rawRepresentation
        default: return try key.signature(for: SHA256.hash(data: bytes), padding: padding).rawRepresentation
        }
    }

    private func shared(_ key: SymmetricKey, _ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        switch algorithm {
        case .hs384: Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key))
        case .hs512: Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key))
        default: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        }
    }
}
