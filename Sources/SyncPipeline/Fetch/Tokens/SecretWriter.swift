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
        append(text.jsonEscaped())
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
}
