public import Foundation

/// An absolute `http` or `https` address that is safe to request: the only kind of address the fetch stage works with.
///
/// Refused when it is made: other schemes, user information, a missing or empty host, an IPv6 zone, control characters and backslashes
/// (which different parsers read differently), and more than 16 KiB. A fragment is dropped.
public struct HTTPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address as it is requested.
    public let url: URL
    /// What credentials for it belong to.
    public let origin: Origin

    /// An address from its text.
    /// - Throws: `Refusal` with the reason.
    public init(_ text: String) throws(Refusal) {
        try self.init(text, relativeTo: nil)
    }

    /// The address that `reference` (a `Location`, a next link) means when it is found in a response from this address.
    /// - Throws: `Refusal` with the reason.
    public func resolving(_ reference: String) throws(Refusal) -> HTTPAddress {
        try HTTPAddress(reference, relativeTo: url)
    }

    private init(_ text: String, relativeTo base: URL?) throws(Refusal) {
        let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard !trimmed.isEmpty else { throw .emptyAddress }
        guard trimmed.utf8.count <= 16_384 else { throw .malformedAddress("longer than 16 KiB") }
        guard trimmed.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw .malformedAddress("control character or backslash")
        }
        let authority = Self.authority(of: trimmed)
        guard authority?.contains("@") != true else { throw .userInformation }
        guard let resolved = URL(string: Self.escaped(trimmed), relativeTo: base)?.absoluteURL,
            var parts = URLComponents(url: resolved, resolvingAgainstBaseURL: true), let scheme = parts.scheme?.lowercased()
        else { throw .malformedAddress("not an absolute address") }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        guard parts.percentEncodedUser == nil, parts.percentEncodedPassword == nil else { throw .userInformation }
        guard var host = parts.percentEncodedHost?.lowercased(), !host.isEmpty else { throw .malformedAddress("no host") }
        guard !host.contains("%") else { throw .malformedAddress("zone or escape in the host") }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix("."), host.utf8.count > 1 { host.removeLast() }
        let port = parts.port ?? Origin.defaultPort(of: scheme)
        guard (1...65_535).contains(port) else { throw .malformedAddress("port out of range") }
        parts.fragment = nil
        guard let url = parts.url else { throw .malformedAddress("not an absolute address") }
        self.url = url
        origin = Origin(scheme: scheme, host: host, port: port)
    }

    /// The part between `//` and the path, read from the text itself, because a parser may already have hidden what is wrong with it.
    private static func authority(of text: String) -> Substring? {
        guard let slashes = text.range(of: "//") else { return nil }
        let before = text[..<slashes.lowerBound]
        guard before.isEmpty || (before.hasSuffix(":") && !before.contains { "/?#".contains($0) }) else { return nil }
        return text[slashes.upperBound...].prefix { !"/?#".contains($0) }
    }

    /// The address of the host, if it is written as one and need not be looked up.
    public var literalAddress: NetworkAddress? { NetworkAddress(origin.host) }

    /// Whether the host itself names this machine or a private network, without a lookup.
    public var isPrivateByName: Bool {
        if let literalAddress { return !literalAddress.isPublic }
        return origin.host == "localhost" || origin.host.hasSuffix(".localhost")
    }

    /// Whether the host is a link-local address: clouds' metadata services answer there, and they reveal credentials.
    public var isLinkLocal: Bool { literalAddress?.isLinkLocal == true }

    /// Host and port as the address has them, which is what a request says in `Host`.
    var authority: String { Self.authority(of: url.absoluteString).map(String.init) ?? origin.host }

    /// The address as a text, with another host.
    func text(at host: String) -> String {
        let text = url.absoluteString
        guard let authority = Self.authority(of: text) else { return text }
        return "\(text[..<authority.startIndex])\(host):\(origin.port)\(text[authority.endIndex...])"
    }

    /// The address with the query parameters `items` put in; parameters of the same name are replaced, the others stay as they were
    /// written, byte for byte.
    public func setting(_ items: [(name: String, value: String)]) -> HTTPAddress {
        guard !items.isEmpty else { return self }
        let kept = removing(parameters: Set(items.map(\.name)))
        let added = items.map { Self.encode($0.name) + "=" + Self.encode($0.value) }
        return kept.replacingQuery(Self.parts(of: kept) + added)
    }

    /// The address without the query parameters of these names.
    public func removing(parameters names: Set<String>) -> HTTPAddress {
        removing { name, _ in names.contains(name) }
    }

    /// The address without some of the query's parameters.
    /// - Parameter isUnwanted: gets a name, and the value in the two ways in which it may be meant: with `+` for a space, and for itself.
    func removing(where isUnwanted: (_ name: String, _ values: [String]) -> Bool) -> HTTPAddress {
        let parts = Self.parts(of: self)
        let kept = parts.filter { part in
            let pieces = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = pieces.count == 2 ? pieces[1] : ""
            return !isUnwanted(Self.decode(pieces[0]), [Self.decode(value), value.removingPercentEncoding ?? value])
        }
        return kept.count == parts.count ? self : replacingQuery(kept)
    }

    /// The value of the first query parameter of this name, decoded.
    public func parameter(_ name: String) -> String? {
        for part in Self.parts(of: self) {
            let pieces = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if Self.decode(String(pieces[0])) == name { return pieces.count == 2 ? Self.decode(String(pieces[1])) : "" }
        }
        return nil
    }

    private init(url: URL, origin: Origin) {
        self.url = url
        self.origin = origin
    }

    private func replacingQuery(_ parts: [String]) -> HTTPAddress {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return self }
        components.percentEncodedQuery = parts.isEmpty ? nil : parts.joined(separator: "&")
        return components.url.map { HTTPAddress(url: $0, origin: origin) } ?? self
    }

    private static func parts(of address: HTTPAddress) -> [String] {
        let query = URLComponents(url: address.url, resolvingAgainstBaseURL: true)?.percentEncodedQuery ?? ""
        return query.isEmpty ? [] : query.split(separator: "&", omittingEmptySubsequences: true).map(String.init)
    }

    /// Everything but unreserved characters is escaped, so that no server can read a value in two ways.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 0x2D, 0x2E, 0x5F, 0x7E: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += byte < 16 ? "%0" + String(byte, radix: 16, uppercase: true) : "%" + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// The text with escapes added where an address needs them. What is already escaped stays: a parser that meets one character it does not like
    /// would escape the escapes next to it again.
    private static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        // Brackets stand around an IPv6 address, and nowhere else.
        let hostEnd = authority(of: text).map { text.utf8.distance(from: text.startIndex, to: $0.endIndex) } ?? 0
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isBracket = (byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")) && index >= hostEnd
            let isEscape = byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHexDigit(bytes[index + 1]) && isHexDigit(bytes[index + 2])
            if isEscape || (!isBracket && byte > 0x20 && byte < 0x7F && !"\"%<>\\^`{|}".utf8.contains(byte)) {
                result.append(byte)
            } else {
                result += Array("%".utf8) + [byte >> 4, byte & 15].map { Array("0123456789ABCDEF".utf8)[Int($0)] }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...70, 97...102: true
        default: false
        }
    }

    private static func decode(_ text: String) -> String {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? text
    }

    /// The address as text. It may hold what the server put into it; print it through a `Redactor`.
    public var description: String { url.absoluteString }
}

/// Scheme, host and port: what credentials belong to.
public struct Origin: Sendable, Hashable, Codable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// In lower case, without brackets and without a trailing dot.
    public let host: String
    /// The port, also where it is the scheme's own.
    public let port: Int

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The port that a scheme has when an address names none.
    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// The host as a request names it, with the port where it is not the scheme's own.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort(of: scheme) ? name : "\(name):\(port)"
    }

    /// `https://api.example`, with the port where it is not the scheme's own.
    public var description: String { "\(scheme)://\(authority)" }
}
