/// A number of bytes as the configuration writes it: a whole number and one binary unit, `"512B"`, `"64KiB"`, `"16MiB"`.
public struct ByteCount: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of bytes, never negative.
    public let bytes: Int

    private init(_ bytes: Int) {
        self.bytes = bytes
    }

    public static let zero = ByteCount(0)

    public static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    /// The canonical spelling: the largest unit that divides the count.
    public var description: String {
        if bytes == 0 { return "0B" }
        if bytes % (1 << 30) == 0 { return "\(bytes >> 30)GiB" }
        if bytes % (1 << 20) == 0 { return "\(bytes >> 20)MiB" }
        if bytes % (1 << 10) == 0 { return "\(bytes >> 10)KiB" }
        return "\(bytes)B"
    }

    /// Reads `"16MiB"`; `nil` when the text is anything but a whole number followed by `B`, `KiB`, `MiB` or `GiB`, or too large.
    public init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let count = Int(digits), let unit = Self.units[String(text[digits.endIndex...])] else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self.init(product)
    }

    static let units: [String: Int] = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]

    public static func < (left: ByteCount, right: ByteCount) -> Bool {
        left.bytes < right.bytes
    }
}
