/// A number of bytes as the configuration writes it: a whole number and one binary unit, `"512B"`, `"64KiB"`, `"16MiB"`.
public struct ByteCount: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of bytes, never negative.
    public let bytes: Int

    private init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// No bytes, `0B`.
    public static let zero = ByteCount(0)

    /// A whole number of bytes. `count` must not be negative; it is not checked.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }
    /// Multiples of 1024 bytes. What overflows is not noticed.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    /// Multiples of 1024² bytes. What overflows is not noticed.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    /// Multiples of 1024³ bytes. What overflows is not noticed.
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

    /// Compares the number of bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool {
        left.bytes < right.bytes
    }
}

/// The slowest response to accept: `"256B/s over 30s"`. A body that arrives more slowly, averaged over the span, is abandoned.
public struct MinimumSpeed: Sendable, Hashable, CustomStringConvertible {
    /// Bytes per second, at least one.
    public var perSecond: ByteCount
    /// The span the average is taken over.
    public var span: TimeSpan

    /// An average of so many bytes per second. Both must be greater than zero; it is not checked.
    public init(perSecond: ByteCount, over span: TimeSpan) {
        self.perSecond = perSecond
        self.span = span
    }

    /// The speed as the configuration writes it: `256B/s over 30s`.
    public var description: String { "\(perSecond)/s over \(span)" }

    /// Reads `"256B/s over 30s"`.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[1] == "over", words[0].hasSuffix("/s"),
            let perSecond = ByteCount(String(words[0].dropLast(2))), perSecond > .zero,
            let span = TimeSpan(String(words[2])), span > .zero
        else { return nil }
        self.init(perSecond: perSecond, over: span)
    }
}

/// A share written as a percentage, `"10%"`.
public struct Percentage: Sendable, Hashable, CustomStringConvertible {
    /// The share from 0 to 1.
    public let fraction: Double

    /// A share of 0 to 100 percent.
    public init(percent: Double) {
        self.fraction = percent / 100
    }

    /// In percent, to three decimals: `10%`, `2.5%`.
    public var description: String {
        let percent = (fraction * 100_000).rounded() / 1000
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }

    /// Reads `"10%"` or `"2.5%"`, from 0 to 100.
    public init?(_ text: String) {
        guard text.hasSuffix("%"), text.dropLast().allSatisfy({ ($0.isASCII && $0.isNumber) || $0 == "." }),
            let percent = Double(text.dropLast()), (0...100).contains(percent)
        else { return nil }
        self.init(percent: percent)
    }
}
