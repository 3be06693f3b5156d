import Secrets

/// A private key in PEM form (RFC 7468), and what kind it says it is. What is in it stays in memory that is overwritten.
struct PrivateKeyText {
    /// What keys are for.
    enum Kind: Sendable, Hashable, CustomStringConvertible {
        case rsa
        case p256, p384
        case ed25519
        /// In words.
        case other(String)

        var description: String {
            switch self {
            case .rsa: "an RSA key"
            case .p256: "an EC key of the curve P-256"
            case .p384: "an EC key of the curve P-384"
            case .ed25519: "an Ed25519 key"
            case .other(let words): words
            }
        }
    }

    let kind: Kind
    /// The key itself: PKCS #8 (RFC 5958) or, as OpenSSL wrote it before, PKCS #1 (RFC 8017) or SEC 1 (RFC 5915).
    let der: Secret

    /// The first private key of a text.
    /// - Throws: `SigningKey.Fault`
    init(_ text: Secret) throws {
        (kind, der) = try text.withUnsafeBytes { bytes in
            let (label, der) = try Self.block(bytes)
            let kind = try der.withUnsafeBytes { try Self.kind(of: $0, label) }
            return (kind, der)
        }
    }

    // MARK: PEM

    private static func block(_ bytes: UnsafeRawBufferPointer) throws -> (label: String, der: Secret) {
        var label: String?, digits: [Slice<UnsafeRawBufferPointer>] = [], other: String?, isOneLine = false
        let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        for line in lines.map({ $0.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }) {
            if let name = boundary(line, "-----BEGIN ") {
                (label, digits) = (name, [])
                // Behind its name and the dashes around that there is nothing else; text that was copied out of JSON goes on.
                isOneLine = line.count > name.utf8.count + 32
            } else if let open = label, boundary(line, "-----END ") != nil {
                if isPrivate(open) { return (open, try decoded(digits)) }
                // Parameters of a curve stand before its key, and say nothing that the key does not.
                if open != "EC PARAMETERS" { other = open }
                label = nil
            } else if label != nil {
                // A line of a header says how an old form is encrypted (RFC 1421).
                if line.contains(UInt8(ascii: ":")) { throw SigningKey.Fault.encrypted }
                digits.append(line)
            }
        }
        if let other { throw SigningKey.Fault.notPrivate(other) }
        if isOneLine { throw SigningKey.Fault.oneLine }
        throw bytes.first == UInt8(ascii: "{") ? SigningKey.Fault.json : SigningKey.Fault.notPEM
    }

    /// Whether a block of this label is what is looked for.
    private static func isPrivate(_ label: String) -> Bool { label.hasSuffix("PRIVATE KEY") }

    /// What a block is called where it begins or ends; nil: the line is another one.
    private static func boundary(_ line: Slice<UnsafeRawBufferPointer>, _ start: StaticString) -> String? {
        let isBoundary = start.withUTF8Buffer { line.starts(with: $0) }
        guard isBoundary else { return nil }
        let text = String(decoding: line.dropFirst(start.utf8CodeUnitCount), as: UTF8.self)
        return text.firstRange(of: "-----").map { String(text[..<$0.lowerBound]) }
    }

    private static func decoded(_ digits: [Slice<UnsafeRawBufferPointer>]) throws -> Secret {
        guard let der = Secret.decoding(base64: digits.joined()), der.count > 0 else { throw SigningKey.Fault.damaged }
        return der
    }

    // MARK: The kind

    private static func kind(of der: UnsafeRawBufferPointer, _ label: String) throws -> Kind {
        switch label {
        case "ENCRYPTED PRIVATE KEY": throw SigningKey.Fault.encrypted
        case "OPENSSH PRIVATE KEY": throw SigningKey.Fault.openSSH
        case "RSA PRIVATE KEY": return .rsa
        case "EC PRIVATE KEY", "PRIVATE KEY": break
        default: return .other("a key of the kind “\(label)”")
        }
        var rest = der[...]
        guard var fields = DER.next(&rest)?.content, DER.next(&fields) != nil, let second = DER.next(&fields) else {
            throw SigningKey.Fault.damaged
        }
        // The number of the form stands first in both. Then comes the key, and what curve it is of; or what algorithm it is for, and the key.
        if label == "EC PRIVATE KEY" {
            if var parameters = DER.next(&fields), parameters.tag == 0xA0, let name = DER.next(&parameters.content)?.content { return curve(name) }
            return second.content.count == 32 ? .p256 : .p384
        }
        var algorithm = second.content
        guard let name = DER.next(&algorithm)?.content else { throw SigningKey.Fault.damaged }
        if name.elementsEqual(Name.ellipticCurve) { return DER.next(&algorithm).map { curve($0.content) } ?? .other("an EC key of no curve") }
        if name.elementsEqual(Name.rsa) { return .rsa }
        if name.elementsEqual(Name.rsaForPSS) { return .other("an RSA key for PSS alone") }
        if name.elementsEqual(Name.ed25519) { return .ed25519 }
        return .other("a key of another kind")
    }

    private static func curve(_ name: Slice<UnsafeRawBufferPointer>) -> Kind {
        if name.elementsEqual(Name.p256) { return .p256 }
        if name.elementsEqual(Name.p384) { return .p384 }
        return .other(name.elementsEqual(Name.p521) ? "an EC key of the curve P-521" : "an EC key of another curve")
    }

    /// Object identifiers (RFC 8017, RFC 5480, RFC 8410).
    private enum Name {
        static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        static let rsaForPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
        static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        static let p384: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]
        static let p521: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x23]
        static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    }
}
