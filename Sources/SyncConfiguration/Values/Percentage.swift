/// A share written as a percentage, `"10%"`.
public struct Percentage: Sendable, Hashable, CustomStringConvertible {
    /// The share from 0 to 1.
    public let fraction: Double

    /// A share of 0 to 100 percent.
    public init(percent: Double) {
        self.fraction = percent / 100
    }

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
