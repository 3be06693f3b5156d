public import Secrets
public import SyncConfiguration

/// Turns a reference to a secret into the secret, before each exchange that needs it: a replaced secret is used at once, and a token may be fetched
/// first. Where secrets are kept is the daemon's business; the pipeline only gets this.
public struct SecretResolver: Sendable {
    private let read: @Sendable (SecretReference, SecretForm) async throws -> Secret

    /// A resolver that calls `read`, which refuses what does not have the right form.
    public init(_ read: @escaping @Sendable (SecretReference, SecretForm) async throws -> Secret) {
        self.read = read
    }

    /// A resolver that reads again, each time, from where the reader looks.
    public init(_ reader: SecretReader) {
        self.init { try reader.secret($0, form: $1) }
    }

    /// A resolver for sources that need none: every reference fails.
    public static let none = SecretResolver { reference, _ in
        throw FetchError(.credential, detail: "\(reference) cannot be read here")
    }

    /// The secret.
    /// - Throws: `FetchError` of the class `credential` if there is none, or if it is empty; `CancellationError`.
    public func secret(_ reference: SecretReference, form: SecretForm = .line) async throws -> Secret {
        let secret: Secret
        do {
            secret = try await read(reference, form)
        } catch let error as FetchError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw FetchError(.credential, detail: "\(error)")
        }
        guard secret.count > 0 else { throw FetchError(.credential, detail: "\(reference) is empty") }
        return secret
    }
}

/// The forms in which a secret is sent, or comes back. Each is in memory of the same kind, and is overwritten as the secret is.
extension Secret {
    /// Whether both hold the same bytes.
    func isEqual(to other: Secret) -> Bool {
        count == other.count && withUnsafeBytes { mine in other.withUnsafeBytes { mine.elementsEqual($0) } }
    }

    /// This one, a colon, and another one.
    func colon(_ other: Secret) -> Secret {
        make(capacity: count + 1 + other.count) { bytes, append in
            bytes.forEach(append)
            append(UInt8(ascii: ":"))
            other.withUnsafeBytes { $0.forEach(append) }
        }
    }

    /// With the letters of ASCII in lower case, as it comes back in a name of a host or a scheme.
    func lowercased() -> Secret {
        make(capacity: count) { bytes, append in
            for byte in bytes { append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte) }
        }
    }

    /// With escapes for everything but letters, digits and `kept`, as in an address.
    func percentEncoded(keeping kept: StaticString) -> Secret {
        make(capacity: 3 * count) { bytes, append in
            for byte in bytes {
                switch byte {
                case 48...57, 65...90, 97...122: append(byte)
                case _ where kept.withUTF8Buffer { $0.contains(byte) }: append(byte)
                default:
                    append(UInt8(ascii: "%"))
                    append(Self.hexadecimal[Int(byte >> 4)])
                    append(Self.hexadecimal[Int(byte & 15)])
                }
            }
        }
    }

    /// In Base64.
    func base64() -> Secret {
        make(capacity: (count + 2) / 3 * 4) { bytes, append in
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let present = min(3, bytes.count - start)
                let group = (0..<3).reduce(UInt32(0)) { $0 << 8 | ($1 < present ? UInt32(bytes[start + $1]) : 0) }
                for digit in 0..<4 {
                    append(digit > present ? UInt8(ascii: "=") : Self.base64Digits[Int(group >> (18 - 6 * UInt32(digit)) & 63)])
                }
            }
        }
    }

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)
    private static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private func make(capacity: Int, _ body: (UnsafeRawBufferPointer, (UInt8) -> Void) -> Void) -> Secret {
        withUnsafeBytes { bytes in
            Secret(capacity: capacity) { buffer in
                var length = 0
                body(bytes) { byte in
                    buffer[length] = byte
                    length += 1
                }
                return length
            }
        }
    }
}
