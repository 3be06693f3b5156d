#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An IP address, and whether it belongs to the public internet.
///
/// A remote server must not be able to send the daemon to what cannot be reached from the outside: the machine itself, the local network, a cloud's
/// metadata service.
public enum NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four bytes.
    case v4(UInt32)
    /// Sixteen bytes, high half first.
    case v6(UInt64, UInt64)

    /// Reads an address in any of the forms that a resolver accepts without asking anyone: dotted, decimal, octal, hexadecimal,
    /// shortened (`127.1`), IPv6 with or without brackets, with or without a zone.
    public init?(_ text: String) {
        var host = text
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if let zone = host.firstIndex(of: "%") { host = String(host[..<zone]) }
        guard !host.isEmpty, !host.utf8.contains(0) else { return nil }
        var v6 = in6_addr()
        if inet_pton(AF_INET6, host, &v6) == 1 {
            self = Self.v6(bytes: withUnsafeBytes(of: &v6) { Array($0) })
            return
        }
        // A trailing dot only marks a complete name. What does not begin with a digit is a name.
        while host.hasSuffix(".") { host.removeLast() }
        guard let first = host.utf8.first, (48...57).contains(first), host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var v4 = in_addr()
        guard inet_aton(host, &v4) != 0 else { return nil }
        self = .v4(UInt32(bigEndian: v4.s_addr))
    }

    /// An address from its sixteen bytes.
    /// - Precondition: there are sixteen.
    public static func v6(bytes: [UInt8]) -> NetworkAddress {
        precondition(bytes.count == 16, "an IPv6 address has 16 bytes")
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return .v6(halves[0], halves[1])
    }

    /// Whether the address is one that hosts on the public internet have. Addresses that carry an IPv4 address in them (mapped, 6to4,
    /// NAT64) are judged by that one.
    public var isPublic: Bool {
        switch self {
        case .v4(let address):
            return !Self.reservedV4.contains { address & $0.mask == $0.prefix }
        case .v6(let high, let low):
            if let embedded { return NetworkAddress.v4(embedded).isPublic }
            if high == 0 { return false }  // unspecified, loopback, and the abandoned "compatible" form
            if high >> 61 != 0b001 { return false }  // only 2000::/3 is given out: not unique-local, link-local, site-local, multicast
            let first32 = UInt32(truncatingIfNeeded: high >> 32)
            let isSpecial = first32 & 0xFFFF_FE00 == 0x2001_0000  // 2001::/23: Teredo, benchmarks, ORCHID
            let isDocumentation = first32 == 0x2001_0DB8 || first32 & 0xFFFF_F000 == 0x3FFF_0000
            _ = low
            return !isSpecial && !isDocumentation
        }
    }

    /// Whether the address has a meaning on one link only: 169.254.0.0/16, fe80::/10, and the metadata address fd00:ec2::254.
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let address): return address & 0xFFFF_0000 == 0xA9FE_0000
        case .v6(let high, let low):
            if let embedded { return NetworkAddress.v4(embedded).isLinkLocal }
            return high >> 54 == 0x3FA || high == 0xFD00_0EC2_0000_0000 && low == 0x254
        }
    }

    /// The IPv4 address that an IPv6 address stands for, if it is of a kind that does.
    private var embedded: UInt32? {
        guard case .v6(let high, let low) = self else { return nil }
        if high == 0, low >> 32 == 0xFFFF { return UInt32(truncatingIfNeeded: low) }  // ::ffff:a.b.c.d
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return UInt32(truncatingIfNeeded: low) }  // 64:ff9b::a.b.c.d
        if high >> 48 == 0x2002 { return UInt32(truncatingIfNeeded: high >> 16) }  // 2002:ab:cd::
        return nil
    }

    private static let reservedV4: [(prefix: UInt32, mask: UInt32)] = [
        range(0, 0, 0, 0, length: 8),  // this network
        range(10, 0, 0, 0, length: 8),
        range(100, 64, 0, 0, length: 10),  // carrier-grade translation
        range(127, 0, 0, 0, length: 8),
        range(169, 254, 0, 0, length: 16),  // link-local, metadata services
        range(172, 16, 0, 0, length: 12),
        range(192, 0, 0, 0, length: 24),
        range(192, 0, 2, 0, length: 24),  // documentation
        range(192, 88, 99, 0, length: 24),  // 6to4 relays
        range(192, 168, 0, 0, length: 16),
        range(198, 18, 0, 0, length: 15),  // benchmarks
        range(198, 51, 100, 0, length: 24),
        range(203, 0, 113, 0, length: 24),
        range(224, 0, 0, 0, length: 4),  // multicast
        range(240, 0, 0, 0, length: 4),  // reserved, broadcast
    ]

    private static func range(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, length: UInt32) -> (prefix: UInt32, mask: UInt32) {
        (a << 24 | b << 16 | c << 8 | d, ~UInt32(0) << (32 - length))
    }

    /// The address in the usual notation.
    public var description: String {
        switch self {
        case .v4(let address):
            return [24, 16, 8, 0].map { "\(address >> UInt32($0) & 0xFF)" }.joined(separator: ".")
        case .v6(let high, let low):
            var bytes = in6_addr()
            withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: high.bigEndian, as: UInt64.self) }
            withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self) }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
