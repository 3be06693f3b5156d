import Secrets

/// Puts bytes together out of texts and secrets. What it holds is overwritten with it.
struct SecretWriter {
    private var pieces: [Secret] = []

    mutating func append(_ text: String) { pieces.append(Secret(Array(text.utf8))) }

    mutating func append(_ secret: Secret) { pieces.append(secret) }

    /// A field of a form, encoded byte by byte (RFC 6749, Appendix B). A blank is `%20`, which every reader of forms understands.
    mutating func append(field name: String, _ value: Secret) {
        append((pieces.isEmpty ? "" : "&") + HTTPAddress.encode(name) + "=")
        append(value.formEncoded)
    }

    /// A text of a JSON document (RFC 8259, 7).
    mutating func append(jsonText text: Secret) {
        append("\"")
        append(text.jsonEscaped)
        append("\"")
    }

    /// Everything, one behind the other.
    var secret: Secret {
        let length = pieces.reduce(0) { $0 + $1.count }
        return Secret(capacity: length) { buffer in
            var place = 0
            for piece in pieces where piece.count > 0 {
                piece.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[place...]).copyBytes(from: $0) }
                place += piece.count
            }
            return length
        }
    }
}

extension Secret {
    /// As a value in a form.
    var formEncoded: Secret { percentEncoded(keeping: "-._~") }

    /// With escapes for what a JSON text may not hold as it is.
    fileprivate var jsonEscaped: Secret {
        withUnsafeBytes { bytes in
            Secret(capacity: 6 * bytes.count) { buffer in
                var length = 0
                func append(_ byte: UInt8) {
                    buffer[length] = byte
                    length += 1
                }
                for byte in bytes {
                    switch byte {
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                        append(UInt8(ascii: "\\"))
                        append(byte)
                    case 0..<0x20:
                        for digit in "\\u00".utf8 { append(digit) }
                        for half in [byte >> 4, byte & 15] { append(half < 10 ? half + UInt8(ascii: "0") : half - 10 + UInt8(ascii: "a")) }
                    default: append(byte)
                    }
                }
                return length
            }
        }
    }
}
