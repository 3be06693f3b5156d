/// A text with places that are filled for each attempt: `{method}\n{target}\n{timestamp}`. Braces around anything that is no word are text; `{{NAME}}` is the
/// text `{NAME}`.
public struct SignatureTemplate: Sendable, Hashable, CustomStringConvertible {
    /// How bytes are written as a text.
    public enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// In hexadecimal, in small letters.
        case hex
        /// In Base64 (RFC 4648, 4).
        case base64
        /// In the alphabet of addresses, and without what fills the end (RFC 4648, 5).
        case base64url
    }

    /// What stands at a place.
    public enum Place: Sendable, Hashable {
        /// GET or POST.
        case method
        /// The path as it is sent, with its escapes.
        case path
        /// The query as it is sent, without its question mark; the signature itself is not in it.
        case query
        /// The path, and the query where there is one.
        case target
        /// The name of the server, with its port where that is not the scheme's own.
        case host
        /// The body as it is sent; nothing where none is.
        case body
        /// Its SHA-256.
        case bodyDigest(Encoding)
        /// The time of the attempt.
        case timestamp
        /// A text that no other attempt has.
        case nonce
        /// What the service calls the key.
        case keyID
        /// The value of a header; nothing where there is none.
        case header(String)
        /// The code itself.
        case signature

        /// Reads what stands between braces; nil: there is no such place.
        init?(_ text: some StringProtocol) {
            let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            if words.count == 2 {
                switch words[0] {
                case "header" where Self.isName(words[1]): self = .header(words[1])
                case "body_sha256":
                    guard let encoding = Encoding(rawValue: words[1]) else { return nil }
                    self = .bodyDigest(encoding)
                default: return nil
                }
                return
            }
            guard let place = Self.plain[words[0]] else { return nil }
            self = place
        }

        /// Whether it is the name of a header (RFC 9110, 5.6.2).
        private static func isName(_ text: String) -> Bool {
            !text.isEmpty
                && text.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
        }

        private static let plain: [String: Place] = [
            "method": .method, "path": .path, "query": .query, "target": .target, "host": .host, "body": .body, "body_sha256": .bodyDigest(.hex),
            "timestamp": .timestamp, "nonce": .nonce, "key_id": .keyID, "signature": .signature,
        ]
    }

    /// A piece of it.
    public enum Part: Sendable, Hashable {
        case text(String)
        case place(Place)
    }

    /// A place that there is not.
    package struct UnknownPlace: Error, Sendable, Hashable {
        /// What stands between its braces.
        package let text: String
    }

    /// Texts and places, in turn as they come.
    public let parts: [Part]
    /// As it is written.
    public let description: String

    /// Reads a text.
    package init(_ text: String) throws(UnknownPlace) {
        description = text
        var parts: [Part] = [], plain = "", rest = Substring(text)
        while let brace = rest.firstIndex(of: "{") {
            plain += rest[..<brace]
            rest = rest[brace...]
            let isEscaped = rest.hasPrefix("{{"), inner = rest.dropFirst(isEscaped ? 2 : 1)
            guard let end = inner.firstIndex(of: "}"), Self.isWord(inner[..<end]), !isEscaped || inner[end...].hasPrefix("}}") else {
                plain += "{"
                rest = rest.dropFirst()
                continue
            }
            let word = inner[..<end]
            rest = inner[end...].dropFirst(isEscaped ? 2 : 1)
            if isEscaped {
                plain += "{\(word)}"
                continue
            }
            guard let place = Place(word) else { throw UnknownPlace(text: String(word)) }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.place(place))
        }
        plain += rest
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// Whether it is meant as a place: letters, then whatever has no blanks and no braces.
    private static func isWord(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first | 0x20) else { return false }
        return text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"{}\"".utf8.contains($0) }
    }

    /// The code, and nothing else.
    public static let signatureAlone = SignatureTemplate(parts: [.place(.signature)], description: "{signature}")

    private init(parts: [Part], description: String) {
        self.parts = parts
        self.description = description
    }

    /// What stands in it.
    public var places: Set<Place> { Set(parts.compactMap { if case .place(let place) = $0 { place } else { nil } }) }
}
