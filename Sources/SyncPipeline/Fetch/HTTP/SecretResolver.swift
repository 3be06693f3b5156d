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

    /// In Base64 (RFC 4648, 4).
    ///
    /// - Parameter isForURLs: in the alphabet of addresses and file names, and without what fills the end (RFC 4648, 5; RFC 7515, 2).
    func base64(isForURLs: Bool = false) -> Secret {
        make(capacity: (count + 2) / 3 * 4) { bytes, append in
            let digits = isForURLs ? Self.base64DigitsForURLs : Self.base64Digits
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let present = min(3, bytes.count - start)
                let group = (0..<3).reduce(UInt32(0)) { $0 << 8 | ($1 < present ? UInt32(bytes[start + $1]) : 0) }
                for digit in 0...present { append(digits[Int(group >> (18 - 6 * UInt32(digit)) & 63)]) }
                if !isForURLs { for _ in present..<3 { append(UInt8(ascii: "=")) } }
            }
        }
    }

    /// What is written in Base64, in either alphabet; white space counts for nothing. Nil: it is something else.
    static func decoding(base64 text: some Collection<UInt8>) -> Secret? {
        var group: UInt32 = 0, bits: UInt32 = 0, isOver = false, isValid = true
        let secret = Secret(capacity: text.count) { buffer in
            var length = 0
            for byte in text {
                let digit: UInt8
                switch byte {
                case 65...90: digit = byte - 65
                case 97...122: digit = byte - 97 + 26
                case 48...57: digit = byte - 48 + 52
                case UInt8(ascii: "+"), UInt8(ascii: "-"): digit = 62
                case UInt8(ascii: "/"), UInt8(ascii: "_"): digit = 63
                case UInt8(ascii: "="):
                    isOver = true
                    continue
                case UInt8(ascii: " "), 9...13: continue
                default:
                    isValid = false
                    continue
                }
                if isOver { isValid = false }
                (group, bits) = (group << 6 | UInt32(digit), bits + 6)
                guard bits >= 8 else { continue }
                bits -= 8
                buffer[length] = UInt8(truncatingIfNeeded: group >> bits)
                length += 1
                group &= (UInt32(1) << bits) - 1
            }
            return length
        }
        // One digit alone is not a byte.
        return isValid && bits < 6 ? secret : nil
    }

    /// With escapes for what a JSON text may not hold as it is (RFC 8259, 7).
    ///
    /// - Parameters:
    ///   - slashes: also for slashes.
    ///   - isASCII: also for everything that is not ASCII. What is no UTF-8 stays as it is.
    func jsonEscaped(slashes: Bool = false, isASCII: Bool = false) -> Secret {
        make(capacity: 6 * count) { bytes, append in
            func unit(_ value: UInt16) {
                for byte in "\\u".utf8 { append(byte) }
                for shift: UInt16 in [12, 8, 4, 0] { append(Self.lowerHexadecimal[Int(value >> shift & 15)]) }
            }
            func plain(_ byte: UInt8) {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    append(UInt8(ascii: "\\"))
                    append(byte)
                case UInt8(ascii: "/") where slashes:
                    append(UInt8(ascii: "\\"))
                    append(byte)
                case 0..<0x20: unit(UInt16(byte))
                default: append(byte)
                }
            }
            var place = 0
            while place < bytes.count {
                let byte = bytes[place], length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
                let rest = bytes[min(place + 1, bytes.count)..<min(place + length, bytes.count)]
                guard isASCII, byte >= 0xC2, byte < 0xF5, rest.count == length - 1, rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else {
                    plain(byte)
                    place += 1
                    continue
                }
                let value = rest.reduce(UInt32(byte) & (0x7F >> UInt32(length))) { $0 << 6 | UInt32($1 & 0x3F) }
                if value > 0xFFFF {
                    unit(UInt16(truncatingIfNeeded: 0xD800 + (value - 0x10000) >> 10))
                    unit(UInt16(truncatingIfNeeded: 0xDC00 + value & 0x3FF))
                } else {
                    unit(UInt16(truncatingIfNeeded: value))
                }
                place += length
            }
        }
    }

    /// In the ways in which writers of JSON escape it; none where there is nothing to escape.
    var jsonEscapedForms: [Secret] {
        let isPlain = withUnsafeBytes { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x80 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "/") }
        }
        if isPlain { return [] }
        return [false, true].flatMap { slashes in [false, true].map { jsonEscaped(slashes: slashes, isASCII: $0) } }
    }

    private static let lowerHexadecimal = Array("0123456789abcdef".utf8)
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)
    private static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let base64DigitsForURLs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

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
